"""The queue from which all workers take tasks.

Guarantees: at most one worker has a task, and tasks that no worker has taken can be taken back. It
never blocks: tasks that do not fit into the system's queue wait in a backlog. One thread puts tasks
in and takes them back; workers may take one at any time.
"""

import errno
import pickle
import socket
from collections import deque
from collections.abc import Iterable

from reader.workers.messages import MAX_TASK_BYTES, Task


class TaskQueue:
    """A datagram socket, whose `outlet` workers inherit, and a backlog."""

    def __init__(self) -> None:
        self._inlet, self.outlet = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._backlog: deque[Task] = deque()

    def put(self, tasks: Iterable[Task]) -> None:
        self._backlog.extend(tasks)
        self.flush()

    def flush(self) -> None:
        while self._backlog:
            try:
                self._inlet.send(pickle.dumps(self._backlog[0]), socket.MSG_DONTWAIT)
            except (BlockingIOError, InterruptedError):
                return  # full
            except OSError as error:
                if error.errno != errno.ENOBUFS:  # full, on macOS
                    raise
                return
            self._backlog.popleft()

    def take_back(self) -> set[int]:
        taken: list[Task] = []
        while True:
            try:
                taken.append(pickle.loads(self.outlet.recv(MAX_TASK_BYTES, socket.MSG_DONTWAIT)))
            except BlockingIOError:
                break
        self._backlog.extendleft(reversed(taken))
        return {task.number for task in self._backlog}

    def cancel(self, numbers: set[int]) -> set[int]:
        taken = self.take_back() & numbers
        self._backlog = deque(task for task in self._backlog if task.number not in taken)
        self.flush()
        return taken

    def put_first(self, tasks: Iterable[Task]) -> None:
        self._backlog.extendleft(reversed(list(tasks)))

    def close(self) -> None:
        self._inlet.close()
        self.outlet.close()
