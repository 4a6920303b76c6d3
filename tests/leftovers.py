"""Processes and descriptors that a test leaves behind.

A collection of garbage takes longer than most tests: there is one only where something is left.
"""

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import psutil

from reader.processes import fork_server


class Held(NamedTuple):
    processes: frozenset[int]
    descriptors: int

    @classmethod
    def now(cls) -> "Held":
        """Return what is held now, except for what is kept for the next loader."""
        this = psutil.Process()
        kept = [other for other in fork_server.living if other.is_alive()]
        processes = {child.pid for child in this.children(recursive=True)}
        processes -= {other.process for other in kept}
        return cls(frozenset(processes), this.num_fds() - 2 * len(kept))

    def is_as(self, before: "Held") -> bool:
        return self.processes <= before.processes and self.descriptors == before.descriptors


_last: Held | None = None  # after the last test that was checked


@contextmanager
def nothing_left(seconds: float = 30.0) -> Iterator[None]:
    """Raise an AssertionError for what the block leaves for more than some seconds."""
    global _last
    before = Held.now()
    if before != _last:  # garbage of tests that were not checked may hold some of it
        collect()
        before = Held.now()
    yield
    _last = Held.now()
    if _last.is_as(before):
        return
    collect()
    until = time.monotonic() + seconds
    while not (_last := Held.now()).is_as(before) and time.monotonic() < until:
        time.sleep(0.01)  # a worker that has been ended is about to be gone, with what it held
    assert _last.is_as(before), (before, _last)


def collect() -> None:
    """Collect all garbage; what is alive now, later collections do not look at."""
    gc.collect()
    gc.freeze()
