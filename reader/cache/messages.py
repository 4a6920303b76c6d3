"""The protocol of a fetching process; whole messages, by a socket of this machine.

A message is a pickle, from a process of the same user (SO_PEERCRED); connections of other users are
closed. A message larger than a packet is sent as an anonymous file.
"""

import os
import pickle
import socket
import struct
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reader.batch.ring import unnamed_file
from reader.store.limits import Requests

_PACKET = 1 << 16
_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid


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


class Request(NamedTuple):
    """A client waits for rows; the answer is a `Present` or an `Unavailable`."""

    shard: int
    rows: NDArray[np.int64]


class Hint(NamedTuple):
    """A client will need rows soon; there is no answer."""

    shard: int
    rows: NDArray[np.int64]


class Begin(NamedTuple):
    """A client begins a schedule, see `reader.cache.schedule`; answered like a `Request`."""

    number: int  # of the schedule, among those of this client
    ahead: Any  # an `AccessPattern`
    depth: int  # steps that are decoded at once


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
    return pickle.loads(content)


def is_own(connection: socket.socket) -> bool:
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return _CREDENTIALS.unpack(raw)[1] == os.geteuid()
