"""The protocol of parent and workers: messages cut short, out of place, or none at all.

Trusted is what a message says: it is a pickle between processes of one user
(`reader.workers.messages`), so its bytes are not changed here. An input picks the side that
listens, and what it hears: a pair of bytes for each message, which one, and where it is cut.
Whoever listens ends or refuses, and never waits for more; the parent has every task end once at the
most.
"""

import contextlib
import math
import os
import pickle
import socket
import struct
from collections.abc import Callable, Iterator
from functools import cache
from multiprocessing.connection import Connection
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np

from reader import Dataset, SampleError, WorkerError
from reader.fields.columns import BatchSchema
from reader.fields.field import Recipe
from reader.workers import pool
from reader.workers.messages import Done, Failed, Setup, Signal, Spent, Sync, Task
from reader.workers.worker import serve
from targets.making import dataset

_TASKS = [Task(number, 0, 0, 0, 0, np.arange(3), 3) for number in range(4)]
_SPENT = Spent(1.0, 1.0, 0.0, 0.0, 9, 0, 0, 0.0)
_DONE = [Done(number, _SPENT) for number in (0, 1, 2, 3, 4, -1)]
_FAILED = [
    *(Failed(0, "it is damaged", SampleError), Failed(1, "Traceback", WorkerError)),
    Failed(-1, "", WorkerError),
]
_ODD = [None, 7, "Done", [1], {}, ValueError("x"), Done, (Done, 1)]
_OBJECTS = [*Signal, Sync(0), Sync(1)]
_OBJECTS += [*_DONE, *_FAILED, *_TASKS, *_ODD]
_GARBAGE = [b"", b"\0", b"\x80\5garbage", b"." * 5, pickle.dumps(_DONE[0])[:-1]]
_LENGTHS = [0, 1, -1, -2, 2**31 - 1, 2**20]  # where other bytes than a message's follow


@cache
def _said() -> list[bytes]:
    """All that can be said by a connection, each with its length before it."""
    contents = [*map(pickle.dumps, _OBJECTS), *_GARBAGE]
    framed = [struct.pack("!i", len(content)) + content for content in contents]
    return framed + [struct.pack("!i", length) + b"\xff" * 8 for length in _LENGTHS]


def seeds() -> Iterator[bytes]:
    """To a worker that takes tasks and retires; to a parent whose tasks all end."""
    number = {repr(item): position for position, item in enumerate(_OBJECTS)}
    to_worker = [Signal.GO, Sync(1), _TASKS[0], _TASKS[1], Sync(1), Signal.RETIRE]
    to_parent = [Signal.READY, _DONE[0], _FAILED[1], Sync(0), _DONE[2], _DONE[3], Signal.RETIRED]
    for side, messages in enumerate((to_worker, to_parent)):
        yield bytes([side, *(byte for item in messages for byte in (number[repr(item)], 0))])


def one(data: bytes) -> None:
    """Let a worker or a parent hear something."""
    if not data:
        return
    heard = [_cut(*data[at : at + 2]) for at in range(1, len(data) - 1, 2)]
    (_as_parent if data[0] % 2 else _as_worker)(heard[:32])


def _cut(which: int, where: int) -> bytes:
    content = _said()[which % len(_said())]
    return content[: len(content) * where // 256] if where else content


def _as_worker(heard: list[bytes]) -> None:
    ours, theirs = socket.socketpair()
    tasks, tasks_theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    done: list[Task] = []

    class Stub:
        def run(self, task: Task) -> Done:
            done.append(task)
            return _DONE[0]

    with ours, tasks, tasks_theirs, Connection(theirs.detach()) as control:
        ours.sendall(b"".join(heard))
        ours.shutdown(socket.SHUT_WR)
        for content in heard:
            tasks.send(content[4:])
        with contextlib.suppress(EOFError, OSError, WorkerError):  # as `main` takes them
            serve(control, tasks_theirs, Stub())
    assert all(isinstance(task, Task) for task in done)
    assert len(done) <= len(heard)


def _as_parent(heard: list[bytes]) -> None:
    says = iter([b"".join(heard)])
    ended: list[Done | Failed] = []
    with patch.object(pool, "WorkerProcess", lambda *_: _Process(next(says, None))):
        parent = pool.Pool(1, _setup(), 0)
        try:
            parent.submit(_TASKS)
            for _ in range(len(heard) + 2):
                ended += parent.poll(0)
        except WorkerError:
            pass
        finally:
            parent.close()
    numbers = [message.number for message in ended]
    assert set(numbers) <= {task.number for task in _TASKS}
    assert len(set(numbers)) == len(numbers)


@cache
def _setup() -> Setup:
    return Setup(
        Dataset(dataset("messages", quality=90)), Recipe(), 1, BatchSchema.of_images(4, (8, 8))
    )


class _Process:
    """A worker that says something and dies; or, where that is None, is ready and silent."""

    process = SimpleNamespace(pid=os.getpid())
    place = 0

    def __init__(self, says: bytes | None) -> None:
        ours, self._theirs = socket.socketpair()
        self.control = Connection(ours.detach())
        self.ready_at = math.inf
        self.is_ready = self.is_going = self.is_resting = False
        self.is_retiring = self.is_retired = False
        if says is None:
            Connection(os.dup(self._theirs.fileno())).send(Signal.READY)
        else:
            self._theirs.sendall(says)
            self._theirs.close()

    def go(self) -> None:
        self.is_going = True

    def stop(self) -> int:
        self.control.close()
        self._theirs.close()
        return 0

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_: None  # what it is told
