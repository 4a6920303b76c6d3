"""The socket of the process that fetches into a folder of the cache, see `turns`."""

import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path

from reader.cache.messages import MakeRoom, receive, send
from reader.cache.quota import DiskQuota

_NAME = "socket"
_CONNECTIONS = 4096
_SECONDS = 1.0


def listening(folder: Path) -> socket.socket:
    """Listen in a folder; only who has its turn may."""
    (folder / _NAME).unlink(missing_ok=True)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with _address(folder) as address:
        listener.bind(address)
    listener.listen(_CONNECTIONS)
    return listener


def connected(folder: Path) -> socket.socket:
    """Connect to the process that fetches into a folder; raise OSError if there is none."""
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    try:
        connection.settimeout(_SECONDS)
        with _address(folder) as address:
            connection.connect(address)
    except BaseException:
        connection.close()
        raise
    return connection


def ask_for_room(quota: DiskQuota, own: Path, need: int) -> None:
    """Ask the processes of other datasets for room in the cache, until there is enough."""
    for folder in quota.others(own):
        if quota.free >= need:
            return
        with contextlib.suppress(OSError, EOFError), connected(folder) as connection:
            send(connection, MakeRoom(need))
            receive(connection)


@contextlib.contextmanager
def _address(folder: Path) -> Iterator[str]:
    # An address has at most 107 bytes, a path may have more.
    opened = os.open(folder, os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{opened}/{_NAME}"
    finally:
        os.close(opened)
