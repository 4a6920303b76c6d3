#!/usr/bin/env python3
"""From a loader's constructor to its first batch, and the memory of all its processes.

    scripts/bench_first_batch.py SHARDS --images DIR [--workers N] [--rounds N]

SHARDS is DIR packed. In each round this reader and torch's DataLoader take turns, each in a process
of its own that has imported what it needs: it makes a loader, reads two epochs, closes it and makes
a second one. Memory is what the process and its workers have, pages that they share counted once
(PSS): in the middle of an epoch, a batch in hand and all others decoded that are decoded ahead; and
after the last one. PSS does not see what a DataLoader has decoded ahead: it lies in files of shared
memory that no process has mapped yet. "in all" has them too. Printed are medians over the rounds.
"""

import argparse
import contextlib
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import psutil
from peers import Task, data_loader

import reader

_MIDDLE = 5  # batches into an epoch
_SETTLED = 1.0  # seconds in which the workers have done what they can


def ours(task: Task) -> reader.Loader:
    """This reader."""
    return reader.Loader(
        task.shards,
        batch_size=task.batch_size,
        transforms=[reader.RandomResizedCrop(224), reader.RandomHorizontalFlip()],
        shuffle=True,
        workers=task.workers,
    )


CANDIDATES: dict[str, Callable[[Task], Iterable[Any]]] = {
    "shardfeed": ours,
    "torch DataLoader, simplejpeg + cv2": data_loader.with_simplejpeg,
    "torch DataLoader, Pillow": data_loader.with_pillow,
}


def memory() -> dict[str, float]:
    """MB of this process, of its workers, of both, and with shared memory that none has mapped."""
    me = psutil.Process()
    family = [me.pid, *(child.pid for child in me.children(recursive=True))]
    found = [resident(pid) for pid in family]
    pss, mapped = (sum(column) for column in zip(*found, strict=True))
    whole = pss - mapped + max(mapped, shared(family))
    return {"own": found[0][0], "workers": pss - found[0][0], "all": pss, "in all": whole}


def resident(pid: int) -> tuple[float, float]:
    """MB of a process by its share of each page, and those of them that are shared memory."""
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()[1:]
    sizes = {line.split(":")[0]: int(line.split()[1]) / 1e3 * 1.024 for line in lines}
    return sizes["Pss"], sizes["Pss_Shmem"]


def shared(family: list[int]) -> float:
    """MB of the shared memory that these processes hold by a descriptor."""
    found: dict[tuple[int, int], float] = {}
    for descriptor in (one for pid in family for one in Path(f"/proc/{pid}/fd").iterdir()):
        with contextlib.suppress(OSError):  # it is closed
            if os.readlink(descriptor).startswith(("/dev/shm/", "/memfd:")):
                seen = descriptor.stat()
                found[seen.st_dev, seen.st_ino] = seen.st_blocks * 512 / 1e6
    return sum(found.values())


def first_batch(build: Callable[[Task], Iterable[Any]], task: Task) -> tuple[Any, float]:
    """A loader, and the seconds until it had a batch."""
    began = time.perf_counter()
    loader = build(task)
    next(iter(loader))
    return loader, time.perf_counter() - began


def one(name: str, task: Task) -> dict[str, Any]:
    """One round of one candidate, in this process."""
    build = CANDIDATES[name]
    if name != "shardfeed":  # what its workers inherit
        import cv2  # noqa: F401
        import simplejpeg  # noqa: F401
        from PIL import Image  # noqa: F401
    before = memory()["own"]
    loader, first = first_batch(build, task)
    middle: dict[str, float] = {}
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
        seen = loader.statistics()
        middle["ring"] = seen.slots * seen.slot_bytes / 1e6
        loader.close()
    del loader
    gc.collect()
    _, second = first_batch(build, task)
    return {"first": first, "second": second, "before": before, "middle": middle, "after": after}


def line(name: str, rounds: list[dict[str, Any]]) -> str:
    """The medians of a candidate."""

    def median(*path: str) -> float:
        found = []
        for values in rounds:
            at: Any = values
            for key in path:
                at = at.get(key, 0.0)
            found.append(at)
        return statistics.median(found)

    return (
        f"{name:36}{median('first'):9.3f}{median('second'):9.3f}{median('before'):9.0f}"
        + "".join(
            f"{median(when, what):9.0f}"
            for when in ("middle", "after")
            for what in ("own", "workers", "all", "in all")
        )
        + f"{median('middle', 'ring'):9.0f}"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("shards", type=Path)
    parser.add_argument("--images", type=Path, required=True, help="the folder SHARDS was made of")
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", choices=CANDIDATES)
    parser.add_argument("--one", choices=CANDIDATES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    task = Task(
        arguments.shards,
        arguments.images,
        arguments.images,
        "random",
        arguments.batch_size,
        arguments.workers,
    )
    if arguments.one:
        print(json.dumps(one(arguments.one, task)))
        return
    names = [arguments.only] if arguments.only else list(CANDIDATES)
    measured: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for _ in range(arguments.rounds):
        for name, found in measured.items():
            done = subprocess.run(
                [sys.executable, *sys.argv, "--one", name], stdout=subprocess.PIPE, check=True
            )
            found.append(json.loads(done.stdout))
    print(
        f"{len(reader.Dataset(task.shards))} images, random crop 224, batches of "
        f"{task.batch_size}, {task.workers} workers, medians of {arguments.rounds} rounds"
    )
    print(f"{'':36}{'first batch, s':>18}{'PSS MB:':>9}{'in an epoch':>36}{'after it':>36}")
    heads = ("loader 1", "loader 2", "before", *("own", "workers", "all", "in all") * 2, "ring")
    print(" " * 36 + "".join(f"{head:>9}" for head in heads))
    for name, found in measured.items():
        print(line(name, found))


if __name__ == "__main__":
    main()
