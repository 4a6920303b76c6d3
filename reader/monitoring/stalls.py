"""Notices that no worker gets on, and says what each of them has in its hands.

Guarantees: each stall is reported once. Time is counted in ticks in which this process waited and
ran: one that was stopped itself (Ctrl-Z), or slept with its machine, reports nothing when it goes
on. Files that may hang are looked at by a thread that need not come back.

Assumptions: a worker that gets on has another sample in its hands within `PATIENCE` seconds.
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
    "T": "is stopped (`kill -CONT {pid}` lets it go on)",
    "t": "is held by a debugger",
    "D": "waits for a disk or a network file system",
    "R": "computes",
    "S": "waits for something (a network, a lock, another process)",
}


class WorkerState(NamedTuple):
    """A worker, with the numbers of the task and of the sample in its hands; -1 for none."""

    pid: int
    is_ready: bool
    task: int
    sample: int


class StallDetector:
    """Counts the time, in ticks of seconds, in which nothing changes in the workers' states."""

    def __init__(self, dataset: Dataset, timeout: float) -> None:
        self.tick = min(TICK, timeout or TICK)
        self._dataset = dataset
        self._timeout = timeout
        self._clock = 0.0  # seconds waited in vain
        self._since: dict[WorkerState, float] = {}  # by this clock
        self._reported: dict[WorkerState, float] = {}

    def look(self, states: Sequence[WorkerState]) -> None:
        """Take note that there was no news for a tick, and of what the workers hold now."""
        self._clock += self.tick
        self._since = {state: self._since.get(state, self._clock) for state in states}
        quiet = self._clock - max(self._since.values(), default=self._clock)
        is_starting = not all(state.is_ready for state in states)
        limit = max(self._timeout, PATIENCE) if is_starting else self._timeout
        if self._timeout and quiet >= limit:
            raise WorkerError(
                f"No batch came for {quiet:.0f} seconds, longer than timeout={self._timeout:g} "
                f"allows: {self._report()}."
            )
        if quiet >= PATIENCE and self._since != self._reported:
            self._reported = self._since
            warn(
                f"The loader has waited {quiet:.0f} seconds for its workers: {self._report()}. "
                "It goes on waiting; with timeout= it would raise an error.",
                RuntimeWarning,
            )

    def _report(self) -> str:
        busy = [state for state in self._since if state.task >= 0]
        shown = sorted(busy or self._since, key=self._since.__getitem__)
        said = [self._of_worker(state) for state in shown[:_NAMED]]
        if len(shown) > _NAMED:
            said.append(f"{len(shown) - _NAMED} more are like that")
        return "; ".join(said)

    def _of_worker(self, state: WorkerState) -> str:
        doing = _STATES.get(_state(state.pid), "is there").format(pid=state.pid)
        seconds = self._clock - self._since[state]
        if not state.is_ready:
            what = "has not yet started"
        elif state.task < 0:
            what = "takes no sample"
        else:
            what = f"has {named_in_time(self._dataset, state.sample)}"
        return f"worker {state.pid} {doing} and {what} for {seconds:.0f} seconds"


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""


def within(seconds: float, call: Callable[[], T], otherwise: Callable[[], T]) -> T:
    """Return what `call` gives, or what `otherwise` gives if its thread takes longer."""
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
    """What a sample is called; without its key if the disk does not give it soon."""
    without_key = partial(dataset.describe, number, with_key=False)
    return within(_KEY_SECONDS, partial(dataset.describe, number), without_key)
