"""Kills and stops processes at random moments, and looks for what they left behind."""

import ctypes
import gc
import os
import random
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from statistics import median
from typing import NamedTuple

import psutil
from live_workers import workers as workers

from soaking.ground import Tally, Violation

_LONGEST_DELAY = 0.1  # seconds from the moment a strike is due until it falls
_LONGEST_STOP = 0.3
_GONE_SECONDS = 20.0  # for processes to end after what they belong to
_WARM_UP = 0.25  # of the rounds
_FEWEST = 24  # rounds after that; fewer say nothing
_GROWTH_BYTES, _GROWTH_SHARE = 8 << 20, 0.03  # what an allocator does not give back


@contextmanager
def disturbed(rng: random.Random, tally: Tally) -> Iterator[Callable[[], None]]:
    """While the body runs, a worker that it starts is now and then killed, or stopped for a moment.

    Yields a function that makes one more strike due. The body calls it as it gets on, so that the
    rate of kills follows the speed of the machine, and even a slow one gets on between two kills.
    """
    due, is_over = threading.Semaphore(1), threading.Event()
    own, spared = random.Random(rng.random()), set(workers())

    def strike() -> None:
        while due.acquire() and not is_over.wait(own.uniform(0, _LONGEST_DELAY)):
            choice, is_kill, stop = own.random(), own.random() < 0.9, own.uniform(0, _LONGEST_STOP)
            found = [worker for worker in workers() if worker not in spared]
            victim = found[int(choice * len(found))] if found else None
            with suppress(psutil.NoSuchProcess):
                if victim and is_kill:
                    victim.kill()
                    tally["kills"] += 1
                elif victim:
                    victim.suspend()
                    tally["stops"] += 1
                    is_over.wait(stop)
                    victim.resume()

    thread = threading.Thread(target=strike, name="disturbing")
    thread.start()
    try:
        yield due.release
    finally:
        is_over.set()
        due.release()
        thread.join()


def expect_gone(processes: list[psutil.Process], what: str) -> None:
    """Wait for processes to end by themselves."""
    names = []
    for one in psutil.wait_procs(processes, _GONE_SECONDS)[1]:
        with suppress(psutil.NoSuchProcess):
            if one.status() != psutil.STATUS_ZOMBIE:  # which an orphan is until init looks
                names.append(f"{one.pid} ({' '.join(one.cmdline())[:200]})")
                one.kill()
    if names:
        raise Violation(f"{what} left behind: {', '.join(names)}")


class Held(NamedTuple):
    """What is held between two rounds: memory, and how many of what is open or alive."""

    parent_bytes: int  # resident, of this process
    worker_bytes: int  # of a worker that lives all the time, what it shares with nobody
    descriptors: int
    worker_descriptors: int
    threads: int
    processes: int
    files: int  # temporary ones
    named_memory: int  # names in /dev/shm that this process has mapped

    @classmethod
    def now(cls, worker: psutil.Process) -> "Held":
        """Return it after garbage was collected and the allocator gave back what is free."""
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
            sum(mapped.path.startswith("/dev/shm/") for mapped in this.memory_maps()),
        )


def summary(history: Sequence[Held]) -> str:
    """Return what was held after the warm-up, in the first and in the last third."""
    both = tuple(_thirds(history))
    parent, worker, descriptors = (
        " -> ".join(f"{held[name] / unit:.0f}" for held in both)
        for name, unit in (("parent_bytes", 1e6), ("worker_bytes", 1e6), ("descriptors", 1))
    )
    return f"parent RSS {parent} MB, worker {worker} MB, descriptors {descriptors}"


def expect_flat(history: Sequence[Held]) -> None:
    """Compare the medians of the first and the last third of the rounds after the warm-up.

    Counts must not grow at all. Memory may by 8 MiB or 3 %, whichever is more.
    """
    if len(history) * (1 - _WARM_UP) < _FEWEST:
        return
    first, last = _thirds(history)
    for name, before in first.items():
        is_memory = name.endswith("_bytes")
        if last[name] > before + is_memory * max(_GROWTH_BYTES, _GROWTH_SHARE * before):
            text = f"{name} grew from {before:,} to {last[name]:,} over {len(history)} rounds"
            raise Violation(text)


def _thirds(history: Sequence[Held]) -> Iterator[dict[str, float]]:
    warm = history[int(len(history) * _WARM_UP) :]
    size = -(-len(warm) // 3)
    for part in (warm[:size], warm[-size:]):
        yield dict(zip(Held._fields, map(median, zip(*part, strict=True)), strict=True))
