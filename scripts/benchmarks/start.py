"""From a loader's constructor to its first batch, and the memory of all its processes.

    scripts/bench.py start --images DIR [--shards SHARDS] [--workers N] [--rounds 9]

A process that has imported what it needs makes a loader, reads two epochs, closes it and makes a
second one. Memory is what the process and its workers have, pages that they share counted once
(PSS): in the middle of an epoch, with all batches decoded that are decoded ahead; and after the
last one. PSS does not include what a DataLoader has decoded ahead: it is in files of shared memory
that no process has mapped yet. "with shared memory" includes them.
"""

import argparse
import contextlib
import gc
import os
import time
from pathlib import Path
from typing import Any

import reader
from benchmarks.peers import Build, Task
from benchmarks.read import BASELINE, PEERS, TASK, ours, task_of
from benchmarks.runner import Candidate, Figures, family

OPTIONS = TASK
_MIDDLE = 5  # batches into an epoch
_SETTLED = 1.0  # seconds in which the workers have done what they can


def candidates(given: argparse.Namespace, work: Path) -> list[Candidate]:
    task = task_of(given, work)
    builds = {"shardfeed": ours} | {n: PEERS[n].build for n in (BASELINE, "DataLoader, Pillow")}
    return [Candidate(name, measure, (build, task)) for name, build in builds.items()]


def measure(build: Build, task: Task) -> Figures:
    import cv2  # noqa: F401  # what a DataLoader's workers inherit
    import simplejpeg  # noqa: F401
    from PIL import Image  # noqa: F401

    before = memory()[0]
    loader, first = first_batch(build, task)
    middle = (0.0, 0.0)
    for _ in range(2):
        for number, _batch in enumerate(loader):
            if number == _MIDDLE:
                time.sleep(_SETTLED)
                middle = memory()
    del _batch
    gc.collect()
    time.sleep(_SETTLED)
    after = memory()
    if isinstance(loader, reader.Loader):
        loader.close()
    del loader
    gc.collect()
    _, second = first_batch(build, task)
    seconds = {"first loader s": first, "second loader s": second, "PSS MB before": before}
    memories = {"in an epoch": middle[0], "with shared memory": middle[1], "after it": after[0]}
    return seconds | memories


def first_batch(build: Build, task: Task) -> tuple[Any, float]:
    began = time.perf_counter()
    loader = build(task)
    next(iter(loader))
    return loader, time.perf_counter() - began


def memory() -> tuple[float, float]:
    """Return the MB of this process and its workers: PSS, and with memory that none has mapped."""
    pids, pss, mapped = [process.pid for process in family()], 0.0, 0.0
    for pid in pids:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
        sizes = {line.split(":")[0]: int(line.split()[1]) * 1.024e-3 for line in lines}
        pss, mapped = pss + sizes["Pss"], mapped + sizes["Pss_Shmem"]
    return pss, pss - mapped + max(mapped, shared(pids))


def shared(pids: list[int]) -> float:
    """Return the MB of the shared memory that these processes hold by a descriptor."""
    found: dict[tuple[int, int], float] = {}
    for descriptor in (one for pid in pids for one in Path(f"/proc/{pid}/fd").iterdir()):
        with contextlib.suppress(OSError):  # it is closed
            if os.readlink(descriptor).startswith(("/dev/shm/", "/memfd:")):
                seen = descriptor.stat()
                found[seen.st_dev, seen.st_ino] = seen.st_blocks * 512 / 1e6
    return sum(found.values())
