"""No workers: the tasks are done in this very process, when their batch is waited for.

Guarantees: a task is done by the code that a worker runs, with the same results. No process or
thread is started, no global of the process is left changed. A task that an interrupt cuts short is
done anew. Used by one thread at a time.
"""

import time
from collections import deque
from collections.abc import Sequence, Set

from reader.batch.ring import RingMemory
from reader.samples.seeding import kept_generators
from reader.workers.messages import Done, Failed, Setup, Task
from reader.workers.progress import WorkerSlot
from reader.workers.worker import Worker


class SerialPool:
    size = starting = restarts = 0

    def __init__(self, setup: Setup, memory: RingMemory) -> None:
        self._worker = Worker(setup, memory, WorkerSlot(memoryview(bytearray(16)).cast("q")))
        self._tasks: deque[Task] = deque()
        self._worked = 0.0  # seconds, since they were asked for

    def worker_seconds_since(self, moment: float) -> float:
        """Seconds that went into tasks since the last call, at `moment`."""
        worked, self._worked = self._worked, 0.0
        return worked

    def bind(self, cores: Set[int]) -> None:
        """Leave this process where it runs."""

    def submit(self, tasks: Sequence[Task]) -> None:
        self._tasks.extend(tasks)

    def cancel(self, numbers: set[int]) -> set[int]:
        taken = numbers & {task.number for task in self._tasks}
        self._tasks = deque(task for task in self._tasks if task.number not in taken)
        return taken

    def poll(self, timeout: float | None) -> list[Done | Failed]:
        if timeout == 0:
            return []
        with kept_generators():
            began = time.perf_counter()
            try:
                ended = self._worker.run(self._tasks[0])
            finally:
                self._worked += time.perf_counter() - began
        self._tasks.popleft()
        return [ended]

    def close(self) -> None:
        self._tasks.clear()
