"""Which process fetches samples into a folder of the cache: one at a time, for all of its readers.

::

    FINGERPRINT/
      turn      locked by the process that fetches samples into the folder, while it lives
      socket    where it listens
      waiting   locked by it, and by those that wait for their turn

Each reader has a fetching process of its own. The first one takes the turn, and the others wait
for it. When it ends, the connections of its readers break, and they
connect to the one that takes over.
"""

import contextlib
import fcntl
import os
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from reader.cache.messages import GetCounts, Join, MakeRoom, Present, receive, send
from reader.cache.own_files import open_own, shared
from reader.cache.quota import DiskQuota

_TURN, _SOCKET, _WAITING = "turn", "socket", "waiting"
_CONNECTIONS = 4096
_SECONDS = 1.0  # after which the process has to show that it is not stopped
_ANSWER_SECONDS = 30.0  # for requests that need no network
_TURN_SECONDS = 30.0  # for another process to take over
_MOMENT = 0.01  # seconds between two tries


class Turn:
    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = open_own(folder / _TURN)
        self._waiting = shared(folder / _WAITING)

    def take(self, how: int = fcntl.LOCK_EX) -> socket.socket:
        """Wait for the turn, and listen; with LOCK_NB, raise BlockingIOError at once."""
        fcntl.flock(self._file, how)
        (self._folder / _SOCKET).unlink(missing_ok=True)
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with _address(self._folder) as address:
            listener.bind(address)
        listener.listen(_CONNECTIONS)
        return listener


def joined(folder: Path, message: Join | MakeRoom | GetCounts) -> socket.socket:
    """Connect to the process that fetches into a folder, and send it the first message.

    Raises:
        OSError: there is none.
    """
    until = time.monotonic() + _TURN_SECONDS
    while True:
        try:
            return _connected(folder, message)
        except OSError:
            if not is_fetched(folder) or time.monotonic() > until:
                raise
        time.sleep(_MOMENT)  # its process has just begun, or just ended


def ask_for_room(quota: DiskQuota, own: Path, need: int) -> bool:
    """Ask the processes of other datasets for room in the cache; return whether one made enough.

    Another process may be faster to take it; then ask again.
    """
    most = quota.taken + quota.free - need
    for folder in quota.others(own):
        if quota.taken <= most:
            break
        with contextlib.suppress(OSError, EOFError), joined(folder, MakeRoom(most)) as other:
            if isinstance(_answer(folder, other), Present):
                return True
    return quota.taken <= most


def _answer(folder: Path, connection: socket.socket) -> Any:
    """Wait for an answer as long as the process is not stopped."""
    while True:
        try:
            return receive(connection)
        except TimeoutError:
            with joined(folder, GetCounts()) as another:
                another.settimeout(_ANSWER_SECONDS)
                receive(another)


def is_fetched(folder: Path) -> bool:
    """Whether a process is alive that fetches into the folder, or waits for its turn."""
    with contextlib.suppress(FileNotFoundError):
        waiting = open_own(folder / _WAITING, os.O_RDONLY)
        try:
            fcntl.flock(waiting, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(waiting)
    return False


def _connected(folder: Path, message: Join | MakeRoom | GetCounts) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        connection.settimeout(_SECONDS)
        with _address(folder) as address:
            connection.connect(address)
        send(connection, message)
    except BaseException:
        connection.close()
        raise
    return connection


@contextlib.contextmanager
def _address(folder: Path) -> Iterator[str]:
    # An address has at most 107 bytes, a path may have more.
    opened = os.open(folder, os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{opened}/{_SOCKET}"
    finally:
        os.close(opened)
