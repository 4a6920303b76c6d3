"""Memory shared by all processes of a user on a machine, and the shards in it (``cache="ram"``).

Guarantees: the memory has no name and belongs to the processes that use it, so nothing is left
behind. A process opens it only after it is prepared. Shards in it never change.

On Linux, processes that read one dataset find each other by an abstract Unix socket (unix(7)). The
first process to bind it is the owner: it prepares a memfd (copies the tars), seals it (fcntl(2),
F_ADD_SEALS), then accepts and closes the connections of waiting processes. They get the owner's pid
from the socket (SO_PEERCRED) and open its memfd through /proc. If an owner dies earlier, one of the
waiting processes becomes the owner.
"""

import contextlib
import errno
import fcntl
import os
import socket
import struct
import time
import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from reader.errors import ReaderError
from reader.format import ShardEntry
from reader.processes.child import let_go_in_forks
from reader.system import available_memory

_PAGE = 4096
_CONNECTIONS = 4096
_PATIENCE = 5.0  # seconds for an owner to show its memory
_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid
_PREPARED = getattr(fcntl, "F_SEAL_SHRINK", 0)  # marks prepared memory


@dataclass(frozen=True)
class Holding:
    memory: "Shared"
    starts: tuple[int, ...]  # offset of each tar
    size: int  # its bytes


class Shared:
    """An open memfd, and in its owner the socket by which others find it."""

    def __init__(self, descriptor: int, listener: socket.socket | None = None) -> None:
        self.path = f"/proc/{os.getpid()}/fd/{descriptor}"
        self._listener = listener
        self.close = weakref.finalize(self, _close, descriptor, listener)
        let_go_in_forks(self)

    def __getstate__(self) -> dict[str, str]:
        return {"path": self.path}  # workers open it

    def let_go(self) -> None:
        """Close the socket in a fork, which could outlive the owner and block its name."""
        if self._listener is not None:
            self._listener.close()


def _close(descriptor: int, listener: socket.socket | None) -> None:
    os.close(descriptor)
    if listener is not None:
        listener.close()


@dataclass(frozen=True)
class MemoryRequest:
    cache: str  # the user's `cache=`
    identity: str
    size: int  # in bytes
    contents: str  # for messages
    is_constant: bool  # whether it is read-only once it is prepared


def hold(folder: Path, shards: Sequence[ShardEntry], identity: str, limit: int | None) -> Holding:
    starts, end = [], 0
    for shard in shards:
        starts.append(end)
        end += shard.bytes + -shard.bytes % _PAGE

    def copy(descriptor: int) -> None:
        for shard in shards:
            _copy(folder / shard.file, shard.bytes, descriptor)

    wanted = MemoryRequest("ram", identity, end, f"the shards of {folder}", is_constant=True)
    return Holding(share(wanted, copy, limit), tuple(starts), end)


def share(wanted: MemoryRequest, prepare: Callable[[int], None], limit: int | None) -> Shared:
    """Return the wanted memory: another process's, or new and filled by `prepare`."""
    if not hasattr(os, "memfd_create") or not hasattr(socket, "SO_PEERCRED"):
        raise ReaderError(f'cache="{wanted.cache}" needs Linux.')
    name = f"shardfeed-{os.getuid()}-{wanted.identity}"
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.bind("\0" + name)
        except OSError as error:
            listener.close()
            if error.errno != errno.EADDRINUSE:
                raise
            found = _others(name, wanted.size)
            if found is None:  # its owner has just begun, or has ended
                time.sleep(0.01)
                continue
            return Shared(found)
        try:
            return Shared(_own(name, listener, wanted, prepare, limit), listener)
        except BaseException:
            listener.close()
            raise
    raise ReaderError(
        f"Another process has {wanted.contents} in memory, which this one cannot open, perhaps "
        "because it is in another container. Leave cache= out in one of them."
    )


def _own(
    name: str,
    listener: socket.socket,
    wanted: MemoryRequest,
    prepare: Callable[[int], None],
    limit: int | None,
) -> int:
    available = available_memory()
    allowed = available if limit is None else min(limit, available)
    if wanted.size > allowed:
        raise ReaderError(
            f'cache="{wanted.cache}" needs {wanted.size:,} bytes for {wanted.contents}; '
            f"{allowed:,} bytes are "
            + ("available." if allowed == available else "allowed by cache_limit=.")
            + " Leave cache= out, or choose fewer samples with split= or subset=."
        )
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        listener.listen(_CONNECTIONS)
        os.ftruncate(descriptor, wanted.size)
        prepare(descriptor)
        seals = _PREPARED | (fcntl.F_SEAL_WRITE if wanted.is_constant else 0)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, seals)
    except BaseException:
        os.close(descriptor)
        raise
    listener.setblocking(False)
    while True:
        try:
            listener.accept()[0].close()
        except BlockingIOError:
            return descriptor


def _copy(path: Path, size: int, descriptor: int) -> None:
    """Append the tar at `path`, of `size` bytes, at the memfd's position, in whole pages."""
    try:
        with open(path, "rb") as file:
            left = size
            while left and (done := os.sendfile(descriptor, file.fileno(), size - left, left)):
                left -= done
    except OSError as error:
        raise ReaderError(f"{path}: the shard cannot be read: {error.strerror}.") from error
    if left:
        raise ReaderError(
            f"{path} is truncated: {left} of {size} bytes are missing. Restore the file."
        )
    os.lseek(descriptor, -size % _PAGE, os.SEEK_CUR)


def _others(name: str, size: int) -> int | None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            connection.connect("\0" + name)
        except ConnectionRefusedError:
            return None
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        pid, user, _ = _CREDENTIALS.unpack(raw)
        if user != os.getuid():
            raise ReaderError(
                f"User {user} uses the socket name {name!r} on this machine. Leave cache= out."
            )
        descriptor = _open_memory(pid, name)
        if descriptor is None:
            return None
        if not fcntl.fcntl(descriptor, fcntl.F_GET_SEALS) & _PREPARED:
            # Connected before the check, so the owner closes this connection when it is done.
            with contextlib.suppress(ConnectionResetError):
                connection.recv(1)
    is_prepared = fcntl.fcntl(descriptor, fcntl.F_GET_SEALS) & _PREPARED
    if is_prepared and os.fstat(descriptor).st_size == size:
        return descriptor
    os.close(descriptor)
    return None


def _open_memory(pid: int, name: str) -> int | None:
    folder = f"/proc/{pid}/fd"
    try:
        for entry in os.listdir(folder):
            path = f"{folder}/{entry}"
            if os.readlink(path).startswith(f"/memfd:{name} "):
                return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None  # it has ended
    return None
