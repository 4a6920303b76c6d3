"""Shards held in memory: one copy for all processes of a user on a machine (``cache="ram"``).

Purpose: read from a slow disk once a machine, not once a rank and epoch.

Guarantees: the memory has no name and belongs to the processes that use it, so nothing is left
behind however they end; what is there is complete and never changes again.

Assumptions: Linux. The processes that read one data set find each other by an abstract Unix socket
(unix(7)), which is gone with its owner as well. Who binds it first is the owner: it copies the tars
into a memfd, seals it (fcntl(2), F_ADD_SEALS: from then on it cannot be written), and accepts and
closes the connections of those who wait. The others learn the owner's process from the socket
(SO_PEERCRED) and open its memfd by /proc. No thread serves them. When an owner dies before it is
done, one of those who waited becomes the owner.
"""

import contextlib
import errno
import fcntl
import os
import socket
import struct
import time
import weakref
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reader.errors import ReaderError
from reader.format import ShardEntry

_PAGE = 4096
_CONNECTIONS = 4096
_PATIENCE = 5.0  # seconds for an owner to show its memory
_CREDENTIALS = struct.Struct("3i")  # pid, uid, gid


@dataclass(frozen=True)
class Holding:
    """Tars in memory, as any process of the user can open them.

    Attributes:
        path: of the file that holds them.
        starts: where in it each tar begins.
        size: its bytes.
        owned: what keeps the file, in the process that made this.
    """

    path: str
    starts: tuple[int, ...]
    size: int
    owned: object = field(default=None, repr=False, compare=False)

    def __reduce__(self) -> tuple[type["Holding"], tuple[str, tuple[int, ...], int]]:
        return Holding, (self.path, self.starts, self.size)


class _Owned:
    """A descriptor and, in the owner, the socket by which others find it."""

    def __init__(self, descriptor: int, listener: socket.socket | None = None) -> None:
        self.descriptor = descriptor
        self.close = weakref.finalize(self, _close, descriptor, listener)


def _close(descriptor: int, listener: socket.socket | None) -> None:
    os.close(descriptor)
    if listener is not None:
        listener.close()


def hold(folder: Path, shards: Sequence[ShardEntry], identity: str, limit: int | None) -> Holding:
    """The tars of `shards` in memory; copied there if no process of this user has done so.

    Args:
        folder: where they lie.
        identity: tells this data set from others.
        limit: bytes that may be taken; None for what the system has available.

    Raises:
        ReaderError: they do not fit, cannot be read, or this system has no memfd.
    """
    if not hasattr(os, "memfd_create") or not hasattr(socket, "SO_PEERCRED"):
        raise ReaderError('cache="ram" needs Linux.')
    starts, end = [], 0
    for shard in shards:
        starts.append(end)
        end += shard.bytes + -shard.bytes % _PAGE
    name = f"shardfeed-{os.getuid()}-{identity}"
    until = time.monotonic() + _PATIENCE
    while time.monotonic() < until:
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.bind("\0" + name)
        except OSError as error:
            listener.close()
            if error.errno != errno.EADDRINUSE:
                raise
            found = _others(name, end)
            if found is None:  # its owner has just begun, or is gone
                time.sleep(0.01)
                continue
            owned = _Owned(found)
        else:
            try:
                owned = _Owned(_own(name, listener, folder, shards, end, limit), listener)
            except BaseException:
                listener.close()
                raise
        path = f"/proc/{os.getpid()}/fd/{owned.descriptor}"
        return Holding(path, tuple(starts), end, owned)
    raise ReaderError(
        f"Another process holds {folder} in memory, but its memory cannot be opened: "
        "is it in another container? Use cache=None there or here."
    )


def _own(
    name: str,
    listener: socket.socket,
    folder: Path,
    shards: Sequence[ShardEntry],
    size: int,
    limit: int | None,
) -> int:
    """Copy the tars into a new memfd and let those go on who wait for it."""
    allowed = _available() if limit is None else limit
    if size > allowed:
        raise ReaderError(
            f'cache="ram" would take {size:,} bytes for the shards of {folder}; '
            f"{allowed:,} bytes are "
            + ("available." if limit is None else "allowed by cache_limit.")
        )
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        listener.listen(_CONNECTIONS)
        os.ftruncate(descriptor, size)
        for shard in shards:
            _copy(folder / shard.file, shard.bytes, descriptor)
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK)
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
        raise ReaderError(f"{path} was cut short: {left} of {size} bytes are missing. Restore it.")
    os.lseek(descriptor, -size % _PAGE, os.SEEK_CUR)


def _others(name: str, size: int) -> int | None:
    """The memfd that another process, or another loader of this one, owns; None if it is gone."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        try:
            connection.connect("\0" + name)
        except ConnectionRefusedError:
            return None
        raw = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
        pid, user, _ = _CREDENTIALS.unpack(raw)
        if user != os.getuid():
            raise ReaderError(f"The user {user} has taken the name {name!r} on this machine.")
        descriptor = _open_memory(pid, name)
        if descriptor is None:
            return None
        if not fcntl.fcntl(descriptor, fcntl.F_GET_SEALS) & fcntl.F_SEAL_WRITE:
            # Connected before it looked: so the owner, once done, closes this connection.
            with contextlib.suppress(ConnectionResetError):
                connection.recv(1)
    is_whole = fcntl.fcntl(descriptor, fcntl.F_GET_SEALS) & fcntl.F_SEAL_WRITE
    if is_whole and os.fstat(descriptor).st_size == size:
        return descriptor
    os.close(descriptor)
    return None


def _open_memory(pid: int, name: str) -> int | None:
    """Another process's memfd of that name."""
    folder = f"/proc/{pid}/fd"
    try:
        for entry in os.listdir(folder):
            path = f"{folder}/{entry}"
            if os.readlink(path).startswith(f"/memfd:{name} "):
                return os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None  # it has ended
    return None


def _available() -> int:
    """Bytes of memory that the system, and the control group, have to give."""
    with open("/proc/meminfo") as file:
        fields = dict(line.split(":") for line in file)
    available = int(fields["MemAvailable"].split()[0]) * 1024
    try:
        most = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        used = Path("/sys/fs/cgroup/memory.current").read_text()
    except OSError:
        return available
    return available if most == "max" else min(available, int(most) - int(used))
