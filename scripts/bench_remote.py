#!/usr/bin/env python3
"""Reading from a store that answers late, beside the same shards on the disk.

    scripts/bench_remote.py --images DIR [--latency 0 50 100] [--workers N] [--rounds N] [--quick]
    scripts/bench_remote.py --images DIR --peers

DIR's photographs, repeated under other names up to --count, are packed, and served by nginx, whose
echo module lets each request wait first. In each of the interleaved rounds every candidate reads in
a process of its own, with a cache of its own: from the warm disk; an epoch with nothing in the
cache, then one with all of it there; epochs with a cache that holds half. --peers: the same of
other loaders that read from stores, from the same server. --quick: one round, at the longest
latency alone.

Printed are medians over the rounds. Images/s count from an epoch's first batch to its last, "of
local" is their ratio within a round. "waited": of the workers' time, what they waited for the
store, which is what latency costs, whatever else runs on the machine. Requests and bytes are the
server's. It takes its own share of the processor, as the process does that fetches: with one worker
for every core, they take it from the workers.
"""

import argparse
import gc
import json
import multiprocessing
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import psutil
import slow_store
from peers import PEERS, Stored, Task, is_installed, pipeline

import reader

_SHARD_SIZE = "20MB"
_BLOCKS = 4  # shards of a window: half of the data has room for two
_PEERS = ("LitData", "MosaicML", "webdataset")


@dataclass(frozen=True)
class Run:
    """What one process does.

    Attributes:
        latency: in milliseconds; None for the disk.
        share: of the data that the cache may hold; None for all.
        epochs: the name of each, or None for one that is not told of.
        peer: whose loader; None for ours.
    """

    name: str
    latency: int | None
    epochs: tuple[str | None, ...]
    is_block: bool = False
    share: float | None = None
    peer: str | None = None


@dataclass(frozen=True)
class Measured:
    """One epoch; processor time in milliseconds an image, of the loader's processes and others."""

    name: str
    images_per_second: float
    first_batch: float
    waited: float
    cpu: float
    fetcher_cpu: float
    server_cpu: float
    fetcher_mb: float
    requests: int
    mb: float


def runs(latencies: Iterable[int], peers: Iterable[str]) -> list[Run]:
    """A round."""
    found = [Run("local", None, (None, "local disk"))]
    for latency in latencies:
        at = f"{latency} ms"
        for is_block in (False, True):
            name = f"{at}, {'BlockShuffle' if is_block else 'global shuffle'}"
            whole = f"{name}, cold", f"{name}, full cache"
            found.append(Run(name, latency, whole, is_block))
            half = None, f"{name}, half cache"
            found.append(Run(name, latency, half, is_block, share=0.5))
        for peer in peers:
            whole = f"{at}, {peer}, cold", f"{at}, {peer}, second epoch"
            found.append(Run(peer, latency, whole, peer=peer))
            half = None, f"{at}, {peer}, half cache"
            found.append(Run(peer, latency, half, share=0.5, peer=peer))
    return found


def ours(run: Run, task: Task) -> reader.Loader:
    """This reader."""
    data: reader.Dataset | Path = task.shards
    if task.stored is not None:
        place = f"{task.stored.endpoint}/{task.stored.bucket}/shards"
        limit = task.stored.limit
        data = reader.Dataset(place, cache_dir=task.stored.cache, cache_limit=limit)
    return reader.Loader(
        data,
        batch_size=task.batch_size,
        transforms=[reader.RandomResizedCrop(224), reader.RandomHorizontalFlip()],
        shuffle=reader.BlockShuffle(_BLOCKS) if run.is_block else True,
        workers=task.workers,
    )


def read(run: Run, task: Task, store: slow_store.SlowStore, results: Any) -> None:
    """Do a run, in a process of its own, and put what was measured into `results`."""
    multiprocessing.set_start_method("fork", force=True)  # for torch's workers, as in a script
    began, before, served = time.perf_counter(), store.cpu_seconds(), store.served()
    loader: Any = ours(run, task) if run.peer is None else PEERS[run.peer].build(task)
    fetching = loader.dataset.fetching if run.peer is None else None
    fetcher = None if fetching is None else psutil.Process(fetching.pid)
    fetched, waiting, found = 0.0, (0.0, 0.0), []
    for name in run.epochs:
        asked = time.perf_counter() if found else began  # the first epoch begins with the loader
        count, own, first = 0, 0.0, 0.0
        for images, *_ in loader:
            if not count:
                own, first, size = cpu_seconds(fetcher), time.perf_counter(), len(images)
            count += len(images)
        rate = (count - size) / (time.perf_counter() - first)
        own = (cpu_seconds(fetcher) - own) / (count - size) * 1e3
        waited, mb = 0.0, 0.0
        if run.peer is None:
            seen = loader.statistics()
            waited = (seen.waiting - waiting[0]) / max(seen.worker_seconds - waiting[1], 1e-9)
            waiting = seen.waiting, seen.worker_seconds
        fetched_before, served_before, server_before = fetched, served, before
        if fetcher is not None:
            fetched, mb = sum(fetcher.cpu_times()[:2]), most_memory(fetcher.pid)
        served, before = store.served(), store.cpu_seconds()
        grown = served.since(served_before)
        of_others = (fetched - fetched_before, before - server_before)
        others = [seconds / count * 1e3 for seconds in of_others]
        measured = Measured(
            name or "", rate, first - asked, waited, own, *others, mb, grown.requests,
            grown.bytes / 1e6,
        )  # fmt: skip
        found.append(measured)
    results.send([one for one in found if one.name])
    if run.peer is None:
        loader.close()


def cpu_seconds(fetcher: psutil.Process | None) -> float:
    """Processor time of this process and all that it started, but for the one that fetches."""
    me = psutil.Process()
    family = (p for p in (me, *me.children(recursive=True)) if p != fetcher)
    return sum(sum(process.cpu_times()[:2]) for process in family)


def most_memory(pid: int) -> float:
    """The most MB that a process has had."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmHWM")).split()[1]) / 1e3


def in_process(run: Run, task: Task, store: slow_store.SlowStore) -> list[Measured]:
    """Do a run in a process of its own, which leaves nothing behind."""
    context = multiprocessing.get_context("spawn")
    results, theirs = context.Pipe(duplex=False)
    process = context.Process(target=read, args=(run, task, store, theirs))
    process.start()
    theirs.close()
    try:
        found: list[Measured] = results.recv()
    except EOFError:
        print(f"{run.name}: failed, see above", file=sys.stderr)
        found = []
    process.join()
    return found


def measure(
    rounds: int, runs: list[Run], task: Task, store: slow_store.SlowStore, size: int
) -> dict[str, list[tuple[float, Measured]]]:
    """Each epoch's rounds, with its ratio to the disk's in the same round."""
    found: dict[str, list[tuple[float, Measured]]] = {}
    for _ in range(rounds):
        local = float("nan")
        for run in runs:
            cache = task.cache / "cached"
            stored = None
            if run.latency is not None:
                limit = None if run.share is None else int(size * run.share)
                endpoint = store.endpoints[run.latency]
                stored = Stored(endpoint, slow_store.BUCKET, cache, limit)
            of_run = Task(**{**vars(task), "stored": stored})
            for one in in_process(run, of_run, store):
                local = one.images_per_second if stored is None else local
                found.setdefault(one.name, []).append((one.images_per_second / local, one))
            shutil.rmtree(cache, ignore_errors=True)
            gc.collect()
    return found


def table(found: dict[str, list[tuple[float, Measured]]]) -> str:
    """The medians, as a table of Markdown."""
    lines = [
        "| | images/s | of local | waited | first batch s | CPU ms an image | of fetching |"
        " of the server | fetching MB | requests | MB |",
        "|---|" + "---:|" * 10,
    ]
    for name, rounds in found.items():
        ratio = statistics.median(ratio for ratio, _ in rounds)
        of: Callable[[str], float] = lambda what: statistics.median(  # noqa: E731
            getattr(one, what)
            for _, one in rounds  # noqa: B023
        )
        lines.append(
            f"| {name} | {of('images_per_second'):,.0f} | {ratio:.2f} | {of('waited'):.0%} "
            f"| {of('first_batch'):.2f} | {of('cpu'):.2f} | {of('fetcher_cpu'):.2f} "
            f"| {of('server_cpu'):.2f} | {of('fetcher_mb'):.0f} | {of('requests'):,.0f} "
            f"| {of('mb'):,.0f} |"
        )
    return "\n".join(lines)


def repeated(images: Path, count: int, out: Path) -> None:
    """Link the photographs of class folders under other names, until there are so many."""
    paths = [Path(path) for path, _ in pipeline.labelled(images)]
    for number in range(count):
        path = paths[number % len(paths)]
        copy = out / path.relative_to(images).with_name(f"{number // len(paths)}-{path.name}")
        copy.parent.mkdir(parents=True, exist_ok=True)
        os.link(path, copy) if path.stat().st_dev == out.stat().st_dev else shutil.copy(path, copy)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--images", type=Path, required=True, help="class folders, or splits of them"
    )
    parser.add_argument("--shards", type=Path, help="the same packed, with shards of 20MB")
    parser.add_argument("--count", type=int, default=4000, help="to which they are repeated")
    parser.add_argument("--latency", type=int, nargs="+", default=[0, 50, 100], help="in ms")
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if reason := slow_store.missing():
        print(f"left out: {reason}")
        return
    if arguments.quick:
        arguments.rounds, arguments.latency = 1, [max(arguments.latency)]
    with tempfile.TemporaryDirectory() as folder:
        bench(arguments, Path(folder))


def bench(arguments: argparse.Namespace, work: Path) -> None:
    """Pack, serve, measure and print."""
    images, stored = work / "images", work / "stored"
    shards = stored / slow_store.BUCKET / "shards"
    shards.parent.mkdir(parents=True)
    images.mkdir()
    work.chmod(0o755)  # for the server
    repeated(arguments.images, arguments.count, images)
    if arguments.shards is None:
        command = [sys.executable, "-m", "packer", "pack", str(images), str(shards), "--quiet"]
        subprocess.run([*command, "--shard-size", _SHARD_SIZE], check=True)
    else:
        shards.symlink_to(arguments.shards.absolute())
    batch, workers = arguments.batch_size, arguments.workers
    task = Task(shards, images, stored / slow_store.BUCKET, "random", batch, workers)
    peers = []
    for name, peer in PEERS.items():
        if arguments.peers and name.startswith(_PEERS):
            if not is_installed(peer.package):
                print(f"{name}: left out, {peer.package} is not installed", file=sys.stderr)
                continue
            if peer.prepare is not None:
                peer.prepare(task)
            peers.append(name)
    size = sum(path.stat().st_size for path in shards.rglob("*.*"))
    with slow_store.serving(stored, work, arguments.latency) as store:
        all_runs = runs(arguments.latency, peers)
        found = measure(arguments.rounds, all_runs, task, store, size)
    if arguments.json:
        print(json.dumps({name: [asdict(one) for _, one in rs] for name, rs in found.items()}))
        return
    print(
        f"{arguments.count} images of {size / 1e6:.0f} MB, batch {batch}, workers {workers}, "
        f"{os.cpu_count()} cores, medians of {arguments.rounds} rounds\n\n{table(found)}"
    )


if __name__ == "__main__":
    main()
