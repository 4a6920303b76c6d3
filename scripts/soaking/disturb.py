"""Kills and stops processes at random moments, and looks for those that were left behind."""

import random
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil

from soaking.tally import Tally, Violation

_LONGEST_DELAY = 0.1  # seconds from the moment a strike is due until it falls
_LONGEST_STOP = 0.3
_GONE_SECONDS = 20.0  # for processes to end after what they belong to


@contextmanager
def disturbed(
    seed: float, victims: Callable[[], list[psutil.Process]], tally: Tally
) -> Iterator[Callable[[], None]]:
    """While the body runs, one of `victims` is now and then killed, or stopped for a moment.

    Yields a function that makes one more strike due. The body calls it as it gets on, so that the
    rate of kills follows the speed of the machine, and even a slow one gets on between two kills.
    """
    due = threading.Semaphore(1)
    is_over = threading.Event()

    def strike() -> None:
        rng = random.Random(seed)
        while True:
            due.acquire()
            if is_over.wait(rng.uniform(0, _LONGEST_DELAY)):
                return
            choice, is_kill, stop = rng.random(), rng.random() < 0.9, rng.uniform(0, _LONGEST_STOP)
            found = victims()
            if not found:
                continue
            victim = found[int(choice * len(found))]
            with suppress(psutil.NoSuchProcess):
                if is_kill:
                    victim.kill()
                    tally.kills += 1
                else:
                    victim.suspend()
                    tally.stops += 1
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


def workers(parent: psutil.Process | None = None) -> list[psutil.Process]:
    """The reader's workers of `parent`, this process by default."""
    found = []
    for child in (parent or psutil.Process()).children():
        with suppress(psutil.NoSuchProcess):  # a zombie has no command line
            if "reader.workers.worker" in child.cmdline():
                found += child.children()
    return found


def named_memory(process: psutil.Process) -> set[Path]:
    """What it has mapped of /dev/shm."""
    try:
        places = {mapped.path for mapped in process.memory_maps()}
    except (psutil.Error, OSError):
        return set()  # it has just ended
    return {Path(place) for place in places if place.startswith("/dev/shm/")}


def expect_gone(processes: list[psutil.Process], memory: set[Path], what: str) -> None:
    """Wait for processes to end by themselves, and for what they shared to be removed.

    Raises:
        Violation: something is still there after a while; processes are killed.
    """
    _, alive = psutil.wait_procs(processes, _GONE_SECONDS)
    # An orphan that has ended is a zombie until init looks.
    left = [one for one in alive if one.is_running() and one.status() != psutil.STATUS_ZOMBIE]
    names = []
    for one in left:
        with suppress(psutil.NoSuchProcess):
            names.append(f"{one.pid} ({' '.join(one.cmdline())[:200]})")
            one.kill()
    end = time.monotonic() + _GONE_SECONDS
    while any(path.exists() for path in memory) and time.monotonic() < end:
        time.sleep(0.01)
    names += sorted(str(path) for path in memory if path.exists())
    if names:
        raise Violation(f"{what} left behind: {', '.join(names)}")


def pause(rng: random.Random, longest: float, until: Callable[[], bool]) -> None:
    """Wait for a random time up to `longest` seconds, or until there is nothing to wait for."""
    end = time.monotonic() + rng.uniform(0, longest)
    while time.monotonic() < end and not until():
        time.sleep(0.005)
