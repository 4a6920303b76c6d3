"""The protocol of a fetching process; whole messages, by a socket of this machine.

A message is a pickle of numbers, arrays, messages and orders; other classes are not loaded. Who may
connect may also write to the cache. A message larger than a packet is sent as an anonymous file.
"""

import io
import os
import pickle
import socket
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reader.batch.ring import unnamed_file
from reader.store.limits import Requests

_PACKET = 1 << 16
_ROOMS = "reader.order.", "reader.cache.messages.", "reader.store.limits."  # classes are data
_OTHERS = {("builtins", "range"), ("reader", "BlockShuffle"), ("reader", "AspectBuckets")}
_OTHERS |= {("numpy.", name) for name in ("scalar", "_reconstruct", "_frombuffer")}
_OTHERS |= {("numpy", "ndarray"), ("numpy", "dtype")}


@dataclass(frozen=True)
class Setup:
    """The first message to a fetching process: its dataset, store and cache."""

    url: str
    split: str | None
    options: dict[str, Any]  # of the store, with credentials
    provider: bytes | None  # of credentials, see `reader.store.credentials`
    cache_dir: str
    limit: int | None  # bytes of the cache; None for half of the free space


class Progress(NamedTuple):
    """Fetching process to its parent: number of fetched indexes."""

    done: int
    total: int


class Opened(NamedTuple):
    folder: str
    limit: int  # bytes of the cache


class Join(NamedTuple):
    """The first message of a reader: its others are of this split's shards."""

    split: str | None
    limit: int  # bytes of the cache; the smallest one holds for all


class MakeRoom(NamedTuple):
    """Another dataset's fetching process needs room: at most so many bytes of the cache in use.

    The answer is `Present`, or `Unavailable` if more are in use when all that can go has gone.
    """

    taken: int


class Request(NamedTuple):
    """A client waits for rows; the answer is a `Present` or an `Unavailable`."""

    shard: int
    rows: NDArray[np.int64]


class Hint(NamedTuple):
    """A client will need rows soon; there is no answer."""

    shard: int
    rows: NDArray[np.int64]
    number: int = -1  # of a schedule whose order is the user's, and the step that reads them
    step: int = 0


class Begin(NamedTuple):
    """A client begins a schedule, see `reader.cache.schedule`; answered like a `Request`."""

    number: int  # of the schedule, among those of this client
    ahead: Any  # an `AccessPattern`
    depth: int  # steps that are decoded at once
    steps: int = 0  # that have been read


class StepsTaken(NamedTuple):
    """The first `steps` steps of a schedule have been read."""

    number: int
    steps: int


class Drop(NamedTuple):
    """A schedule has ended, or was cancelled."""

    number: int


class GetCounts(NamedTuple):
    """A client requests `Counts`."""


class Present(NamedTuple):
    """The requested rows are present, or were a moment ago."""


class Unavailable(NamedTuple):
    """The requested rows cannot be fetched; `is_sample`: because the sample is damaged."""

    text: str
    is_sample: bool


class Counts(NamedTuple):
    """Counts of a fetching process; `hits`: scheduled samples that were already in the cache."""

    pid: int = 0
    store: Requests = Requests()
    fetched: int = 0
    hits: int = 0


def send(connection: socket.socket, message: tuple[Any, ...]) -> None:
    content = pickle.dumps(message)
    if len(content) <= _PACKET:
        connection.send(content)
        return
    descriptor = unnamed_file(len(content))
    try:
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(content)
        socket.send_fds(connection, [b"\0"], [descriptor])
    finally:
        os.close(descriptor)


def receive(connection: socket.socket) -> Any:
    content, descriptors, _, _ = socket.recv_fds(connection, _PACKET, 1)
    if descriptors:
        with os.fdopen(descriptors[0], "rb") as file:
            file.seek(0)
            content = file.read()
    if not content:
        raise EOFError
    return _Known(io.BytesIO(content)).load()


class _Known(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        is_ours = f"{module}.".startswith(_ROOMS)
        if is_ours or (module, name) in _OTHERS or (module[:6], name) in _OTHERS:
            found = super().find_class(module, name)
            if not is_ours or (isinstance(found, type) and found.__module__ == module):
                return found
        raise pickle.UnpicklingError(f"{module}.{name} is not part of a message")
