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
import itertools
import shutil
import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import psutil

import reader
from benchmarks import material, slow_store
from benchmarks.peers import Build, Stored, Task
from benchmarks.read import ours, prepared, task_of
from benchmarks.runner import Candidates, Figures, cpu_seconds
from benchmarks.slow_store import SlowStore

BASELINE = "local disk"
OPTIONS = {"images": ..., "shards": None, "shard-size": "20MB", "count": 4000, "batch-size": 256}
OPTIONS |= {"latency": [0, 50, 100], "workers": 1, "peers": False}
OPTIONS |= {"blocks": [0, 4], "shares": [0.5], "epochs": 2}
_PEERS = ("LitData", "MosaicML", "webdataset")
Names = tuple[str | None, ...]


def candidates(given: argparse.Namespace, work: Path) -> Candidates:
    if reason := slow_store.missing():
        raise SystemExit(f"left out: {reason}")
    images, bucket = work / "images", work / "stored" / slow_store.BUCKET
    bucket.mkdir(parents=True)
    work.chmod(0o755)  # for the server
    material.repeated(given.images, given.count, images)
    task = task_of(images, bucket, given)
    if given.shards is not None:
        (bucket / "shards").symlink_to(given.shards.absolute())
    ways: dict[str, Build] = {}
    for n in given.blocks:
        name = f"BlockShuffle({n})" if n else "global shuffle"
        ways[name] = partial(ours, shuffle=reader.BlockShuffle(n) if n else True)
    ways |= {name: peer.build for name, peer in prepared(task, *(_PEERS if given.peers else ()))}
    store = slow_store.start(bucket.parent, work, given.latency)
    size = sum(path.stat().st_size for path in task.shards.rglob("*.*"))
    print(f"{given.count} images of {size / 1e6:.0f} MB, batch {given.batch_size}")
    found = {"local": partial(measure, (None, BASELINE), task, store, ours)}
    for latency, (way, build) in itertools.product(given.latency, ways.items()):
        name = f"{latency} ms, {way}"
        caches: dict[int | None, Names] = {None: (f"{name}, cold", f"{name}, full cache")}
        for share in given.shares:
            later = (f"{name}, {share:g} of a cache, epoch {n}" for n in range(2, given.epochs + 1))
            caches[int(size * share)] = (None, *later)
        for limit, epochs in caches.items():
            at = Stored(store.endpoints[latency], slow_store.BUCKET, work / "cached", limit)
            act = partial(measure, epochs, replace(task, stored=at), store, build)
            found[epochs[-1] or name] = act
    return found


def measure(epochs: Names, task: Task, store: SlowStore, build: Build) -> dict[str, Figures]:
    """Read epochs; those with names are reported."""
    began, served = time.perf_counter(), store.served()
    loader: Any = build(task)
    is_ours = isinstance(loader, reader.Loader)
    fetching = loader.dataset.fetching if is_ours else None
    fetcher = fetching and psutil.Process(fetching.pid)
    fetched, waiting, found = 0.0, (0.0, 0.0), {}
    for name in epochs:
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
        before, served = served, store.served()
        figures["requests"], figures["MB"] = served[0] - before[0], (served[1] - before[1]) / 1e6
        if name is not None:
            found[name] = figures
        began = time.perf_counter()  # the first epoch begins with the loader
    if is_ours:
        loader.close()
    if task.stored is not None:
        shutil.rmtree(task.stored.cache, ignore_errors=True)
    return found
