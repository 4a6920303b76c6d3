"""What this process and a worker hold between two rounds, and whether it stays the same."""

import ctypes
import gc
import os
import tempfile
import threading
from collections.abc import Sequence
from dataclasses import dataclass, fields
from statistics import median

import psutil

from soaking.disturb import named_memory
from soaking.tally import Violation

_WARM_UP = 0.25  # of the rounds
_FEWEST = 24  # rounds after that; fewer say nothing
_GROWTH_BYTES = 8 << 20
_GROWTH_SHARE = 0.03


@dataclass(frozen=True)
class Held:
    """What is held between two rounds.

    Attributes:
        parent_bytes, worker_bytes: resident memory of this process; of a worker that lives all the
            time, what it shares with nobody.
        descriptors, worker_descriptors, threads, processes: open or alive.
        files: temporary ones.
        named_memory: names in /dev/shm that this process has mapped.
    """

    parent_bytes: int
    worker_bytes: int
    descriptors: int
    worker_descriptors: int
    threads: int
    processes: int
    files: int
    named_memory: int

    @classmethod
    def now(cls, worker: psutil.Process) -> "Held":
        """What is held after garbage was collected and the allocator gave back what is free."""
        gc.collect()
        if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):  # glibc's
            trim(0)
        this = psutil.Process()
        return cls(
            this.memory_info().rss,
            worker.memory_full_info().uss,
            this.num_fds(),
            worker.num_fds(),
            threading.active_count(),
            len(this.children(recursive=True)),
            len(os.listdir(tempfile.gettempdir())),
            len(named_memory(this)),
        )


def summary(history: Sequence[Held]) -> str:
    """What was held after the warm-up, in the first and in the last third."""
    first, last = _thirds(history)
    return (
        f"parent RSS {first['parent_bytes'] / 1e6:.0f} -> {last['parent_bytes'] / 1e6:.0f} MB, "
        f"worker {first['worker_bytes'] / 1e6:.0f} -> {last['worker_bytes'] / 1e6:.0f} MB, "
        f"descriptors {first['descriptors']:.0f} -> {last['descriptors']:.0f}"
    )


def expect_flat(history: Sequence[Held]) -> None:
    """Compare the medians of the first and the last third of the rounds after the warm-up.

    Counts must not grow at all. Memory may by 8 MiB or 3 %, whichever is more: what an allocator
    does not give back.

    Raises:
        Violation: something grew.
    """
    if len(history) * (1 - _WARM_UP) < _FEWEST:
        return
    first, last = _thirds(history)
    for name, before in first.items():
        most = before
        if name.endswith("_bytes"):
            most += max(_GROWTH_BYTES, _GROWTH_SHARE * before)
        if last[name] > most:
            raise Violation(
                f"{name} grew from {before:,} to {last[name]:,} over {len(history)} rounds"
            )


def _thirds(history: Sequence[Held]) -> tuple[dict[str, float], dict[str, float]]:
    warm = history[int(len(history) * _WARM_UP) :]
    size = -(-len(warm) // 3)
    parts = (warm[:size], warm[-size:])
    first, last = (
        {field.name: median(getattr(held, field.name) for held in part) for field in fields(Held)}
        for part in parts
    )
    return first, last
