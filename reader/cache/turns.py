"""Which process fetches samples into a folder of the cache: one at a time, for all of its readers.

::

    FINGERPRINT/
      turn      locked by the process that fetches samples into the folder, while it lives
      socket    where it listens

Each reader has a fetching process of its own. The first one takes the turn, and the others hand the
connections of their readers over to it. When it ends, these connections break, the readers connect
to their own processes again, and one of these takes the turn.

Guarantees: nobody waits without an end, since a process that has the turn listens, or has ended.
"""

import asyncio
import contextlib
import fcntl
import os
import socket
import struct
import time

from reader.cache.fetcher import Fetcher
from reader.cache.files import CachedFiles
from reader.cache.messages import Join, send
from reader.cache.mirror import Mirror
from reader.cache.opening import Place
from reader.cache.own_files import open_own
from reader.cache.quota import DiskQuota
from reader.cache.sockets import connected, listening
from reader.store.client import Store

_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid
_PATIENCE = 30.0  # seconds
_MOMENT = 0.01


class Turns:
    """The connections of one reader: served here, or handed over to who has the turn."""

    def __init__(self, store: Store, quota: DiskQuota, place: Place, join: Join) -> None:
        self._store, self._quota, self._place, self._join = store, quota, place, join
        self._fetcher: Fetcher | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._take()

    def listen(self, listener: socket.socket) -> None:
        listener.setblocking(False)
        asyncio.get_running_loop().add_reader(listener, self._accept, listener)

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            connection, _ = listener.accept()
            if not _is_own(connection):
                connection.close()
                return
            task = asyncio.get_running_loop().create_task(self._connect(connection))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _connect(self, connection: socket.socket) -> None:
        until = time.monotonic() + _PATIENCE
        while (fetcher := self._take()) is None and time.monotonic() < until:
            with contextlib.suppress(OSError), connected(self._place.folder) as theirs:
                send(theirs, self._join)
                socket.send_fds(connection, [b"\0"], [theirs.fileno()])
                break
            await asyncio.sleep(_MOMENT)  # its process has just begun, or just ended
        if fetcher is None:
            connection.close()
            return
        with contextlib.suppress(OSError):  # it has left
            connection.send(b"\0")
        fetcher.add(connection, self._join)

    def _take(self) -> Fetcher | None:
        """Take the turn if nobody has it; return the fetcher if this process has it."""
        if self._fetcher is None:
            folder = self._place.folder
            self._turn = open_own(folder / "turn")
            try:
                fcntl.flock(self._turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
                self._quota.count()  # also what a killed process has freed
                mirror = Mirror(CachedFiles.of(folder, self._place.manifest), self._quota)
                fetcher = Fetcher(self._store, self._quota, mirror)
                fetcher.listen(listening(folder))
            except BaseException as error:
                os.close(self._turn)
                if isinstance(error, BlockingIOError):
                    return None
                raise
            self._fetcher = fetcher
        return self._fetcher


def _is_own(connection: socket.socket) -> bool:
    raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return _CREDENTIALS.unpack(raw)[1] == os.geteuid()
