"""Reading from a store that answers late, beside the same shards on the disk.

    scripts/bench.py store --images DIR [--latency 0 50 100] [--workers N] [--peers]
    scripts/bench.py store --images DIR --blocks 0 1 2 4 --shares 0.75 0.5 0.25 --epochs 5

DIR's photographs, repeated under other names up to --count, are packed, and served by nginx, whose
echo module lets each request wait first. Each candidate has a cache of its own and reads an epoch
with nothing in the cache, then one with all of it there; or, for each of --shares, epochs with a
cache of that share of the data, of which all but the first are reported. --blocks: the shards of a
BlockShuffle's window; 0 is a global shuffle. A limit that a Loader refuses leaves its candidate
out. --peers: other loaders that read from stores, from the same server.

Rates count from an epoch's first batch to its last. "waited %": of the workers' time, what they
waited for the store, which is what latency costs, whatever else runs on the machine. Requests and
MB are the server's.
"""

import argparse
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil

import reader
from benchmarks import material, slow_store
from benchmarks.peers import Build, Peer, Stored, Task
from benchmarks.read import prepared, transforms
from benchmarks.runner import Candidate, Figures, cpu_seconds

BASELINE = "local disk"
OPTIONS = {"images": ..., "shards": None, "shard-size": "20MB", "count": 4000, "batch-size": 256}
OPTIONS |= {"latency": [0, 50, 100], "workers": 1, "peers": False}
OPTIONS |= {"blocks": [0, 4], "shares": [0.5], "epochs": 2}
_PEERS = ("LitData", "MosaicML", "webdataset")


@dataclass(frozen=True)
class Reading:
    """What one process does.

    Attributes:
        epochs: the name of each, or None for one that is not reported.
        build: a peer's loader; None for ours.
    """

    epochs: tuple[str | None, ...]
    task: Task
    store: slow_store.SlowStore
    blocks: int = 0
    build: Build | None = None


def candidates(given: argparse.Namespace, work: Path) -> list[Candidate]:
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
    peers = prepared(task, *(_PEERS if given.peers else ()))
    store = slow_store.start(stored, work, given.latency)
    size = sum(path.stat().st_size for path in shards.rglob("*.*"))
    print(f"{given.count} images of {size / 1e6:.0f} MB, batch {given.batch_size}")
    found = [Candidate("local", measure, (Reading((None, BASELINE), task, store),))]
    for latency in given.latency:
        for name, reading in readings(latency, task, store, peers, size, given):
            found.append(Candidate(name, measure, (reading,)))
    return found


def readings(
    latency: int,
    task: Task,
    store: slow_store.SlowStore,
    peers: dict[str, Peer],
    size: int,
    given: argparse.Namespace,
) -> Iterator[tuple[str, Reading]]:
    """Yield the ways to read at a latency, with a whole cache and with shares of it."""
    ways: dict[str, dict[str, Any]] = {
        f"BlockShuffle({blocks})" if blocks else "global shuffle": {"blocks": blocks}
        for blocks in given.blocks
    }
    ways |= {name: {"build": peer.build} for name, peer in peers.items()}
    for way, options in ways.items():
        name = f"{latency} ms, {way}"
        caches: dict[int | None, tuple[str | None, ...]] = {
            None: (f"{name}, cold", f"{name}, full cache")
        }
        for share in given.shares:
            later = (f"{name}, {share:g} of a cache, epoch {n}" for n in range(2, given.epochs + 1))
            caches[int(size * share)] = (None, *later)
        for limit, epochs in caches.items():
            at = Stored(store.endpoints[latency], slow_store.BUCKET, task.cache / "cached", limit)
            yield epochs[-1] or name, Reading(epochs, replace(task, stored=at), store, **options)


def ours(reading: Reading) -> reader.Loader:
    task, data = reading.task, reader.Dataset(reading.task.shards)
    if task.stored is not None:
        url = f"{task.stored.endpoint}/{task.stored.bucket}/shards"
        data = reader.Dataset(url, cache_dir=task.stored.cache, cache_limit=task.stored.limit)
    return reader.Loader(
        data,
        batch_size=task.batch_size,
        transforms=transforms(task.crop),
        shuffle=reader.BlockShuffle(reading.blocks) if reading.blocks else True,
        workers=task.workers,
    )


def measure(reading: Reading) -> dict[str, Figures]:
    task, store, is_ours = reading.task, reading.store, reading.build is None
    began, served = time.perf_counter(), store.served()
    loader: Any = reading.build(task) if reading.build else ours(reading)
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
            fetched = total
        requests, sent = store.served()
        figures["requests"], figures["MB"] = requests - served[0], (sent - served[1]) / 1e6
        served = requests, sent
        if name is not None:
            found[name] = figures
        began = time.perf_counter()  # the first epoch begins with the loader
    if is_ours:
        loader.close()
    if task.stored is not None:
        shutil.rmtree(task.stored.cache, ignore_errors=True)
    return found
