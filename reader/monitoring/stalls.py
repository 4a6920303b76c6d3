"""Detect workers without progress, and report the sample of each.

Guarantees: each stall is reported once. Time is counted in ticks in which this process ran, so a
process that was stopped (Ctrl-Z) or suspended reports nothing when it continues. Files that may
hang are read in a separate thread.

Assumptions: a worker with progress begins another sample within `PATIENCE` seconds.
"""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

from reader.dataset.dataset import Dataset
from reader.errors import WorkerError, warn

T = TypeVar("T")

PATIENCE = 30.0  # seconds without progress before the warning
TICK = 1.0  # seconds between two looks at the workers
_NAMED = 4  # workers in one report
_KEY_SECONDS = 2.0  # to look a key up

_STATES = {
    "T": "is stopped (`kill -CONT {pid}` continues it)",
    "t": "is stopped by a debugger",
    "D": "waits for a disk or a network file system",
    "R": "is computing",
    "S": "sleeps (waits for a network, a lock or another process)",
}


class WorkerState(NamedTuple):
    """A worker, with the numbers of its current task and sample; -1 for none."""

    pid: int
    is_ready: bool
    task: int
    sample: int


class StallDetector:
    """Counts the time, in ticks of seconds, in which the workers' states do not change."""

    def __init__(self, dataset: Dataset, timeout: float) -> None:
        self.tick = min(TICK, timeout or TICK)
        self._dataset = dataset
        self._timeout = timeout
        self._clock = 0.0  # seconds without news
        self._since: dict[WorkerState, float] = {}  # in seconds of `_clock`
        self._reported: dict[WorkerState, float] = {}

    def look(self, states: Sequence[WorkerState]) -> None:
        """Count a tick without news, with the workers' current states."""
        self._clock += self.tick
        self._since = {state: self._since.get(state, self._clock) for state in states}
        quiet = self._clock - max(self._since.values(), default=self._clock)
        is_starting = not all(state.is_ready for state in states)
        limit = max(self._timeout, PATIENCE) if is_starting else self._timeout
        if self._timeout and quiet >= limit:
            raise WorkerError(
                f"No worker made progress for {quiet:.0f} seconds; timeout={self._timeout:g} "
                f"allows no more: {self._report()}."
            )
        if quiet >= PATIENCE and self._since != self._reported:
            self._reported = self._since
            warn(
                f"No worker made progress for {quiet:.0f} seconds: {self._report()}. The loader "
                "continues to wait. To get an error instead, give reader.Loader a timeout=.",
                RuntimeWarning,
            )

    def _report(self) -> str:
        busy = [state for state in self._since if state.task >= 0]
        shown = sorted(busy or self._since, key=self._since.__getitem__)
        workers = [self._of_worker(state) for state in shown[:_NAMED]]
        if len(shown) > _NAMED:
            workers.append(f"{len(shown) - _NAMED} more workers have no progress either")
        return "; ".join(workers)

    def _of_worker(self, state: WorkerState) -> str:
        doing = _STATES.get(_state(state.pid), "exists").format(pid=state.pid)
        seconds = self._clock - self._since[state]
        if not state.is_ready:
            what = "has not yet started"
        elif state.task < 0:
            what = "has no sample"
        else:
            what = f"has {named_in_time(self._dataset, state.sample)}"
        return f"worker {state.pid} {doing} and {what} for {seconds:.0f} seconds"


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


def within(seconds: float, call: Callable[[], T], otherwise: Callable[[], T]) -> T:
    """Return the result of `call`, or of `otherwise` if it takes longer than `seconds`."""
    done: Future[T] = Future()

    def run() -> None:
        try:
            done.set_result(call())
        except BaseException as error:
            done.set_exception(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    waited = 0.0
    while thread.is_alive() and waited < seconds:
        tick = min(TICK, seconds - waited)
        thread.join(tick)
        waited += tick
    return done.result() if done.done() else otherwise()


def named_in_time(dataset: Dataset, number: int) -> str:
    """Describe a sample; without its key if the disk is too slow."""
    without_key = partial(dataset.describe, number, with_key=False)
    return within(_KEY_SECONDS, partial(dataset.describe, number), without_key)
