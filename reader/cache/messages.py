"""What is said to a fetching process, and by it; whole messages, by a socket of this machine.

A message is a pickle, from a process of the same user, as the system tells (SO_PEERCRED); other
users are hung up on. What is larger than a packet goes by a file without a name.
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
    """Which dataset, from where and to where; the first that a fetching process hears."""

    url: str
    split: str | None
    options: dict[str, Any]  # of the store, with its credentials
    provider: bytes | None  # of credentials, see `reader.store.credentials`
    cache_dir: str
    limit: int | None  # bytes of the cache; None for half of what is free


class Coming(NamedTuple):
    """Fetching process to its parent: so many of the indexes are there."""

    done: int
    total: int


class Opened(NamedTuple):
    folder: str


class Want(NamedTuple):
    """A client waits for these rows; the answer is a `Here` or a `Lost`."""

    shard: int
    rows: NDArray[np.int64]


class Hint(NamedTuple):
    """A client will want these rows soon; there is no answer."""

    shard: int
    rows: NDArray[np.int64]


class Begin(NamedTuple):
    """A client begins to read by a plan, see `reader.cache.schedule`; there is no answer."""

    number: int  # of the plan among those of this client
    ahead: Any  # an `AccessPattern`
    depth: int  # steps that are under way at a time


class Took(NamedTuple):
    """The first `steps` steps of a plan have been read."""

    number: int
    steps: int


class Drop(NamedTuple):
    """A plan is given up, or at its end."""

    number: int


class Tell(NamedTuple):
    """A client asks for `Counts`."""


class Here(NamedTuple):
    """The wanted rows are there, or were a moment ago."""


class Lost(NamedTuple):
    """They will not come; `is_sample`: it is the sample that is damaged."""

    text: str
    is_sample: bool


class Counts(NamedTuple):
    """What a process did; `hits`: samples that were in the cache when their turn came."""

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
