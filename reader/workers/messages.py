"""The protocol between parent and workers; `reader.workers.worker` describes its states.

A message is a pickle. It comes by an anonymous socket (`Setup`: by an anonymous file) from a
process of the same user that inherited it, so its content is trusted. A message that a death cuts
off ends the connection; an unexpected one is a `WorkerError` on the side that reads it.
"""

import pickle
import select
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from multiprocessing.connection import Connection
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from reader.dataset.dataset import Dataset
from reader.errors import ReaderError, WorkerError
from reader.fields.columns import BatchSchema
from reader.fields.decoded_cache import DecodedImages
from reader.fields.field import Recipe
from reader.monitoring.counters import Spent
from reader.workers.carried import Carried

MAX_TASK_BYTES = 1 << 16
_UNREADABLE = "A message between the loader and a worker cannot be read; make a new reader.Loader"

Message = TypeVar("Message")


@dataclass(frozen=True)
class Setup:
    """Parent to worker, as the first message: everything that does not change."""

    dataset: Dataset
    recipe: Recipe
    slots: int
    schema: BatchSchema
    on_error: str = "raise"
    decoded: DecodedImages | None = None


@dataclass(frozen=True)
class Task:
    number: int
    slot: int
    row: int  # of its first sample in the slot
    epoch: int  # epoch, position and seed determine augmentations
    position: int  # of its first sample
    samples: NDArray[np.int64]  # sample numbers of consecutive rows
    valid: int  # number of rows that are not padding
    # The next samples of the order, to substitute for unreadable ones.
    spare: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    stride: int = 1  # from one sample's position to the next one's
    drawn: int = 0  # rows of the slot, the first ones, whose images are not left to a GPU

    @property
    def positions(self) -> NDArray[np.int64]:
        return self.position + self.stride * np.arange(len(self.samples))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the arrays as bytes; NumPy's own pickling takes three times as long."""
        numbers = self.number, self.slot, self.row, self.epoch, self.position
        samples, spare = self.samples.tobytes(), self.spare.tobytes()
        return _task, (numbers, samples, self.valid, spare, self.stride, self.drawn)


def _task(
    numbers: tuple[int, int, int, int, int], samples: bytes, valid: int, spare: bytes, *rest: int
) -> Task:
    chosen, others = np.frombuffer(samples, np.int64), np.frombuffer(spare, np.int64)
    return Task(*numbers, chosen, valid, others, *rest)


class Signal(Enum):
    GO = "parent to worker: take tasks"
    RETIRE = "parent to worker: finish the current task and end"
    READY = "worker to parent: the set-up is done"
    RETIRED = "worker to parent, as the last message: no task is running or will be taken"


@dataclass(frozen=True)
class Sync:
    """Parent to worker, which answers with it between two tasks."""

    number: int


@dataclass(frozen=True)
class Done:
    """Worker to parent: a task's rows are written."""

    number: int
    spent: Spent
    bad: tuple[tuple[int, str], ...] = ()  # (sample number, reason) of unreadable ones; "": dropped
    loose: tuple[tuple[Any, ...], ...] = ()  # values of each row that are not in arrays


@dataclass(frozen=True)
class Failed:
    """Worker to parent: a task, or (number -1) the set-up, ended in an error."""

    number: int
    text: str  # a sentence for an unreadable sample, a traceback otherwise
    kind: type[ReaderError]  # the error to raise
    error: Exception | None = None  # the user's exception, raised instead if it can be sent

    def __reduce__(self) -> tuple[Any, ...]:
        carried = None if self.error is None else Carried.of(self.error)
        return _failed, (self.number, self.text, self.kind, carried)


def _failed(number: int, text: str, kind: type[ReaderError], carried: Carried | None) -> Failed:
    error = None if carried is None else carried.unpack()
    return Failed(number, text, kind, error if isinstance(error, Exception) else None)


def with_news(connections: Sequence[Connection], timeout: float | None) -> list[Connection]:
    """Return the connections with a message or at their end, after up to `timeout` seconds."""
    # `multiprocessing.connection.wait` would make a selector in each call.
    news = select.poll()
    for connection in connections:
        news.register(connection, select.POLLIN)
    found = {number for number, _ in news.poll(None if timeout is None else timeout * 1000)}
    return [connection for connection in connections if connection.fileno() in found]


def receive(connection: Connection, kinds: tuple[type[Message], ...]) -> Message:
    try:
        content = connection.recv_bytes()
    except (MemoryError, OverflowError) as error:  # by its length
        raise WorkerError(f"{_UNREADABLE} ({error!r}).") from error
    return parse(content, kinds)


def parse(
    content: bytes | memoryview,
    kinds: tuple[type[Message], ...],
    buffers: Sequence[memoryview] = (),
) -> Message:
    try:
        message = pickle.loads(content, buffers=buffers)
    except Exception as error:  # a damaged pickle may raise anything
        raise WorkerError(f"{_UNREADABLE} ({error!r}).") from error
    if not isinstance(message, kinds):
        raise WorkerError(f"{_UNREADABLE} (unexpected message {message!r:.200}).")
    return message
