"""The parent's side of the workers: start, watch, replace, resize, stop.

Guarantees: every task passed to `submit` ends in exactly one `Done` or `Failed` from `poll`, or
`poll` raises. When a worker dies, the parent empties the queue and waits until the other workers
are idle before it assigns the lost tasks again, so no task runs twice at once. If workers cannot
start, or a task kills each worker that takes it, `poll` raises a `WorkerError`. A wait without
progress is reported, and ends after a `timeout` (see `reader.monitoring.stalls`).

Assumptions: one thread at a time uses it, in the process that made it.
"""

import contextlib
import signal
import time
from collections.abc import Sequence, Set
from itertools import count
from multiprocessing.connection import Connection

from reader.errors import WorkerError
from reader.monitoring.stalls import StallDetector, WorkerState
from reader.processes.child import let_go_in_forks
from reader.workers import setup_file
from reader.workers.messages import Done, Failed, Setup, Signal, Sync, Task, receive, with_news
from reader.workers.process import WorkerProcess, cause_of, remedy_for, start_failure
from reader.workers.progress import ProgressBoard
from reader.workers.queue import TaskQueue

_ANSWERS = (Done, Failed, Signal, Sync)
_MAX_DEATHS_A_TASK = 10  # in addition to those of workers without the task
_NAMED = 64  # samples in an error
_MAX_DEATHS_IN_ALL = 50  # with one task
_START_SECONDS = 6.0  # while workers die and none is ready
_KILLING_SECONDS = 60.0  # the same, while something kills workers that could start before


class Pool:
    def __init__(self, workers: int, setup: Setup, memory: int, timeout: float = 0.0) -> None:
        self._dataset = setup.dataset
        self._watch = StallDetector(setup.dataset, timeout)
        self._memory = memory
        with contextlib.ExitStack() as undone:
            self._setup = undone.enter_context(setup_file.write(setup))
            self._board = undone.enter_context(contextlib.closing(ProgressBoard.create()))
            self._queue = TaskQueue()
            undone.pop_all()
        self._outstanding: dict[int, Task] = {}  # submitted and not ended
        self._deaths: dict[int, list[int]] = {}  # by task: `restarts` at each death with it
        self._failing_since: float | None = None  # first death since a worker was ready
        self._was_ready = False  # whether any worker was ever ready
        self._syncs = 0  # the number of the newest Sync
        self._cores: Set[int] = frozenset()  # empty: any
        self.restarts = 0
        let_go_in_forks(self)
        self._processes: list[WorkerProcess] = []
        try:
            for _ in range(workers):
                self._processes.append(self._start())
                self._processes[-1].go()  # tasks may be queued before the first `poll`
        except BaseException:
            self.close()
            raise

    @property
    def size(self) -> int:
        """Number of worker processes, without retiring ones."""
        return len(self._staying())

    @property
    def starting(self) -> int:
        return sum(not process.is_ready for process in self._staying())

    def worker_seconds_since(self, moment: float) -> float:
        """Add up the seconds of ready workers since a time of `time.perf_counter`."""
        now = time.perf_counter()
        return sum(max(now - max(moment, process.ready_at), 0.0) for process in self._staying())

    @property
    def is_settled(self) -> bool:
        return len(self._processes) == self.size and not self.starting

    def resize(self, workers: int) -> None:
        for process in self._staying()[workers:]:
            process.is_retiring = True
            process.send(Signal.RETIRE)
        for _ in range(workers - self.size):
            self._processes.append(self._start())

    def bind(self, cores: Set[int]) -> None:
        self._cores = cores
        for process in self._processes:
            process.bind(cores)

    def submit(self, tasks: Sequence[Task]) -> None:
        for task in tasks:
            self._outstanding[task.number] = task
        self._queue.put(tasks)

    def cancel(self, numbers: set[int]) -> set[int]:
        taken = self._queue.cancel(numbers)
        for number in taken:
            del self._outstanding[number]
        return taken

    def poll(self, timeout: float | None) -> list[Done | Failed]:
        """Return the ended tasks, after a wait of up to `timeout` seconds (None: no limit)."""
        self._queue.flush()
        ended: list[Done | Failed] = []
        died = self._receive(timeout, ended)
        if died:
            self._recover(died, ended)
        self._queue.flush()
        return ended

    def close(self) -> None:
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.stop()
        self._processes = []
        self._close_own()

    def let_go(self) -> None:
        for process in self._processes:
            process.let_go()
        self._close_own()

    def _close_own(self) -> None:
        self._setup.close()
        self._board.close()
        self._queue.close()

    def _staying(self) -> list[WorkerProcess]:
        return [process for process in self._processes if not process.is_retiring]

    def _start(self) -> WorkerProcess:
        taken = {process.place for process in self._processes}
        place = next(number for number in count() if number not in taken)
        self._board.slot(place).end()
        return WorkerProcess(
            self._setup.fileno(), self._queue.outlet, self._memory, self._board.descriptor, place
        )

    def _receive(self, timeout: float | None, ended: list[Done | Failed]) -> list[WorkerProcess]:
        died = []
        by_control = {process.control: process for process in self._processes}
        for control in self._wait(list(by_control), timeout):
            process = by_control[control]
            try:
                while with_news([process.control], 0):
                    self._handle(process, receive(process.control, _ANSWERS), ended)
            except (EOFError, OSError):
                if process.is_retired:
                    self._processes.remove(process)
                    process.stop()
                else:
                    died.append(process)
        return died

    def _wait(self, controls: list[Connection], timeout: float | None) -> list[Connection]:
        """Return the connections with news after up to `timeout` seconds; None detects stalls."""
        if timeout is not None:
            return with_news(controls, timeout)
        while not (ready := with_news(controls, self._watch.tick)):
            self._watch.look(
                [
                    WorkerState(p.pid, p.is_ready, *self._board.slot(p.place).read())
                    for p in self._processes
                ]
            )
        return ready

    def _handle(self, process: WorkerProcess, message: object, ended: list[Done | Failed]) -> None:
        if isinstance(message, Failed) and message.number < 0:
            what = "failed" if process.is_ready else "could not be set up"
            raise WorkerError(f"A worker {what}:\n{message.text}")
        if isinstance(message, (Done, Failed)):
            if self._outstanding.pop(message.number, None) is None:
                raise WorkerError(f"A worker finished an unknown task: {message!r:.200}.")
            self._deaths.pop(message.number, None)
            ended.append(message)
        elif message is Signal.READY:
            process.is_ready = self._was_ready = True
            process.ready_at = time.perf_counter()
            process.bind(self._cores)
            self._failing_since = None
            if not process.is_going:
                process.go()
        elif isinstance(message, Sync):
            process.is_resting = message.number == self._syncs
        elif message is Signal.RETIRED:
            process.is_retired = process.is_resting = True

    def _recover(self, died: list[WorkerProcess], ended: list[Done | Failed]) -> None:
        codes = []
        fatal: dict[int, tuple[int, int]] = {}  # exit status and sample, by task
        size = self.size
        while died:
            for process in died:
                self._processes.remove(process)
                codes.append(process.stop())
                note = self._board.slot(process.place).read()
                fatal[note.task] = codes[-1], note.sample
                if not process.is_ready and self._failing_since is None:
                    self._failing_since = time.monotonic()
                self.restarts += not process.is_retiring
            waiting = self._queue.take_back()
            self._syncs += 1
            for process in self._processes:
                # Workers that have not begun hold no task.
                process.is_resting = process.is_retired or not process.is_going
                if process.is_going:
                    process.send(Sync(self._syncs))
            died = []
            while not died and not all(process.is_resting for process in self._processes):
                died = self._receive(None, ended)
        lost = [task for number, task in self._outstanding.items() if number not in waiting]
        for task in lost:
            deaths = self._deaths.setdefault(task.number, [])
            deaths.append(self.restarts)
            others = deaths[-1] - deaths[0] - (len(deaths) - 1)
            if len(deaths) > min(_MAX_DEATHS_A_TASK + others, _MAX_DEATHS_IN_ALL):
                numbers = ", ".join(map(str, task.samples[:_NAMED].tolist()))
                more = f" and {len(task.samples) - _NAMED} more" * (len(task.samples) > _NAMED)
                code, sample = fatal.get(task.number, (codes[-1], int(task.samples[0])))
                # Looking up the key in a broken mapping would end this process too.
                name = self._dataset.describe(sample, with_key=code != -signal.SIGBUS)
                raise WorkerError(
                    f"Workers die ({cause_of(code)}) each time they decode one of the samples "
                    f"{numbers}{more}, the last time at {name}. {remedy_for(code)}"
                )
        self._queue.put_first(lost)
        is_killing = self._was_ready and codes[-1] in (-signal.SIGKILL, -signal.SIGTERM)
        patience = _KILLING_SECONDS if is_killing else _START_SECONDS
        since = self._failing_since
        if since is not None and time.monotonic() - since > patience:
            raise WorkerError(
                f"Workers die before they are ready ({cause_of(codes[-1])}).{start_failure()}"
            )
        self.resize(size)


def failure(failed: Failed) -> Exception:
    return failed.error or failed.kind(failed.text)
