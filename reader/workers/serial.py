"""Run the tasks in this process, when their batch is requested.

Guarantees: a task runs the same code as in a worker, with the same results. It starts no process or
thread and leaves no global of this process changed. An interrupted task runs again. One thread at a
time uses it.
"""

import time
from collections import deque
from collections.abc import Sequence, Set

from reader.batch.ring import RingMemory
from reader.fields.seeding import kept_generators
from reader.workers.messages import Done, Failed, Setup, Task
from reader.workers.progress import WorkerSlot
from reader.workers.worker import Worker


class SerialPool:
    size = starting = restarts = 0

    def __init__(self, setup: Setup, memory: RingMemory) -> None:
        self._worker = Worker(setup, memory, WorkerSlot(memoryview(bytearray(16)).cast("q")))
        self._tasks: deque[Task] = deque()
        self._worked = 0.0  # seconds, since the last `worker_seconds_since`

    def worker_seconds_since(self, moment: float) -> float:
        """Return the seconds of tasks since the last call, which was at `moment`."""
        worked, self._worked = self._worked, 0.0
        return worked

    def bind(self, cores: Set[int]) -> None:
        """Do nothing: this process keeps its cores."""

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
