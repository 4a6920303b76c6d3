"""Reading from a store that answers late, beside the same shards on the disk.

    scripts/bench.py store --images DIR [--latency 0 50 100] [--workers N] [--peers] [--quick]

DIR's photographs, repeated under other names up to --count, are packed, and served by nginx, whose
echo module lets each request wait first. Each candidate has a cache of its own and reads an epoch
with nothing in the cache, then one with all of it there; or epochs with a cache that holds half.
--peers: other loaders that read from stores, from the same server. --quick: the longest latency
only.

Rates count from an epoch's first batch to its last. "waited %": of the workers' time, what they
waited for the store, which is what latency costs, whatever else runs on the machine. Requests and
MB are the server's.
"""

import argparse
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil

import reader
from benchmarks import material, slow_store
from benchmarks.peers import PEERS, Stored, Task, is_installed
from benchmarks.runner import Candidate, Rows, cpu_seconds, most_memory

BASELINE = "local disk"
_BLOCKS = 4  # shards of a window: half of the data has room for two
_PEERS = ("LitData", "MosaicML", "webdataset")


@dataclass(frozen=True)
class Reading:
    """What one process does.

    Attributes:
        epochs: the name of each, or None for one that is not reported.
        peer: whose loader; None for ours.
    """

    epochs: tuple[str | None, ...]
    task: Task
    store: slow_store.SlowStore
    is_block: bool = False
    peer: str | None = None


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the case's options."""
    parser.add_argument("--images", type=Path, required=True)
    parser.add_argument("--shards", type=Path, help="the same packed, with shards of --shard-size")
    parser.add_argument("--shard-size", default="20MB", help="of what is packed")
    parser.add_argument("--count", type=int, default=4000, help="to which they are repeated")
    parser.add_argument("--latency", type=int, nargs="+", default=[0, 50, 100], help="in ms")
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--quick", action="store_true")


def candidates(given: argparse.Namespace, work: Path) -> list[Candidate]:
    """Pack and serve; return all ways to read."""
    if reason := slow_store.missing():
        raise SystemExit(f"left out: {reason}")
    images, stored = work / "images", work / "stored"
    shards = stored / slow_store.BUCKET / "shards"
    shards.parent.mkdir(parents=True)
    images.mkdir()
    work.chmod(0o755)  # for the server
    material.repeated(given.images, given.count, images)
    if given.shards is None:
        material.pack(images, shards, "--shard-size", given.shard_size)
    else:
        shards.symlink_to(given.shards.absolute())
    task = Task(shards, images, shards.parent, "random", given.batch_size, given.workers)
    peers = [name for name in PEERS if given.peers and name.startswith(_PEERS)]
    for name in peers.copy():
        if not is_installed(PEERS[name].package):
            print(f"{name}: left out, {PEERS[name].package} is not installed", file=sys.stderr)
            peers.remove(name)
        elif (prepare := PEERS[name].prepare) is not None:
            prepare(task)
    latencies = [max(given.latency)] if given.quick else given.latency
    store = slow_store.start(stored, work, latencies)
    size = sum(path.stat().st_size for path in shards.rglob("*.*"))
    print(f"{given.count} images of {size / 1e6:.0f} MB, batch {given.batch_size}")
    found = [Candidate("local", measure, (Reading((None, BASELINE), task, store),))]
    for latency in latencies:
        for name, reading in readings(latency, task, store, peers, size):
            found.append(Candidate(name, measure, (reading,)))
    return found


def readings(
    latency: int, task: Task, store: slow_store.SlowStore, peers: list[str], size: int
) -> Iterator[tuple[str, Reading]]:
    """Yield the ways to read at a latency, with a whole and with half a cache."""
    ways: dict[str, dict[str, Any]] = {
        "global shuffle": {},
        "BlockShuffle": {"is_block": True},
        **{name: {"peer": name} for name in peers},
    }
    for way, options in ways.items():
        name = f"{latency} ms, {way}"
        for limit, epochs in (
            (None, (f"{name}, cold", f"{name}, full cache")),
            (size // 2, (None, f"{name}, half cache")),
        ):
            at = Stored(store.endpoints[latency], slow_store.BUCKET, task.cache / "cached", limit)
            yield epochs[-1] or name, Reading(epochs, replace(task, stored=at), store, **options)


def ours(reading: Reading) -> reader.Loader:
    """Return this reader's loader."""
    task = reading.task
    data: reader.Dataset | Path = task.shards
    if task.stored is not None:
        url = f"{task.stored.endpoint}/{task.stored.bucket}/shards"
        limit = task.stored.limit
        data = reader.Dataset(url, cache_dir=task.stored.cache, cache_limit=limit)
    return reader.Loader(
        data,
        batch_size=task.batch_size,
        transforms=[reader.RandomResizedCrop(224), reader.RandomHorizontalFlip()],
        shuffle=reader.BlockShuffle(_BLOCKS) if reading.is_block else True,
        workers=task.workers,
    )


def measure(reading: Reading) -> Rows:
    """Return the figures of each epoch that has a name."""
    task, store, is_ours = reading.task, reading.store, reading.peer is None
    began, before, served = time.perf_counter(), store.cpu_seconds(), store.served()
    loader: Any = ours(reading) if is_ours else PEERS[reading.peer or ""].build(task)
    fetching = loader.dataset.fetching if is_ours else None
    fetcher = None if fetching is None else psutil.Process(fetching.pid)
    fetched, waiting, found = 0.0, (0.0, 0.0), {}
    for name in reading.epochs:
        count, own, first, size = 0, 0.0, 0.0, 0
        for images, *_ in loader:
            if not count:
                own, first, size = cpu_seconds(fetcher), time.perf_counter(), len(images)
            count += len(images)
        figures = {
            "images/s": (count - size) / (time.perf_counter() - first),
            "first batch s": first - began,
            "CPU ms an image": (cpu_seconds(fetcher) - own) / (count - size) * 1e3,
        }
        if is_ours:
            seen = loader.statistics()
            waited, spent = seen.waiting - waiting[0], seen.worker_seconds - waiting[1]
            figures["waited %"] = 100 * waited / max(spent, 1e-9)
            waiting = seen.waiting, seen.worker_seconds
        if fetcher is not None:
            total = sum(fetcher.cpu_times()[:2])
            figures["of fetching"] = (total - fetched) / count * 1e3
            figures["fetching MB"] = most_memory(fetcher.pid)
            fetched = total
        now, grown = store.cpu_seconds(), store.served().since(served)
        figures["of the server"] = (now - before) / count * 1e3
        figures["requests"], figures["MB"] = grown.requests, grown.bytes / 1e6
        before, served = now, store.served()
        if name is not None:
            found[name] = figures
        began = time.perf_counter()  # the first epoch begins with the loader
    if is_ours:
        loader.close()
    if task.stored is not None:
        shutil.rmtree(task.stored.cache, ignore_errors=True)
    return found
