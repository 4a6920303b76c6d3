"""The space of a cache: how much of the disk it takes, who uses what, and what has to go.

::

    CACHE_DIR/
      account              how many bytes are taken; locked while that changes
      FINGERPRINT/         one dataset, as `reader.cache.mirror` lays it out
        lease              locked by every process that fetches into the folder, while it lives

Guarantees: space is taken from the disk before bytes come (fallocate), so the limit is a limit and
a full disk is found before anything is written. The account never says less than is taken; what a
killed process leaves too much in it is put right by the next one. Only folders with a lease are
removed. The file system is local and can make holes (ext4, xfs, btrfs, tmpfs).
"""

import contextlib
import ctypes
import errno
import fcntl
import os
import re
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from reader.errors import StoreError

BLOCK = 4096  # bytes that a file system gives or takes at a time

LEASE = "lease"

_ACCOUNT = "account"
_ANOTHER = (
    " (where it is another user's, it can be shared by a group: of all that write to it, with "
    "umask 002, below a folder of that group with the setgid bit)"
)
_LOCKED_SECONDS = 60.0  # in which whoever has locked a file is done, unless it is stopped
_MOMENT = 0.001  # seconds between two looks
_FOLDER = re.compile(r"[0-9a-f]{32}")
_KEEP_SIZE = 0x01  # fallocate(2)
_PUNCH_HOLE = _KEEP_SIZE | 0x02
_UNIT = 512  # bytes of st_blocks


class Full(StoreError):
    """There is no room in the cache, and nothing that may go for what was to come."""


class DiskQuota:
    """The cache in `root`; `margin` bytes of its `limit` are for the file system's notes."""

    def __init__(self, root: Path, limit: int | None) -> None:
        self.root = root
        self.margin = 0
        try:
            root.mkdir(parents=True, exist_ok=True)
            self._account = os.open(root / _ACCOUNT, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            if not self.taken:  # else it was found out before, and there may be no room to try
                self._check_holes()
            self.count()
            self.limit = limit or (shutil.disk_usage(root).free + self.taken) // 2
        except OSError as error:
            whose = _ANOTHER if error.errno == errno.EACCES else ""
            raise StoreError(
                f"{root} cannot hold the cache: {error.strerror}{whose}. Give another cache_dir=."
            ) from error

    @property
    def taken(self) -> int:
        return int.from_bytes(os.pread(self._account, 8, 0), "little")

    def count(self) -> None:
        with self._locked():
            own = 2 * BLOCK  # the account, and the folder that it lies in
            self._write(sum(map(_taken, self._folders())) + own)

    def lease(self, name: str) -> tuple[Path, int]:
        folder = self.root / name
        while True:
            folder.mkdir(exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                lease = os.open(folder / LEASE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
                fcntl.flock(lease, fcntl.LOCK_SH)
                if os.fstat(lease).st_nlink:  # else it was evicted between the two calls
                    os.utime(lease)
                    return folder, lease
                os.close(lease)

    def reserve(
        self, file: int, start: int, stop: int, make_room: Callable[[int], int] | None = None
    ) -> None:
        """Reserve space for a range of a file, see `reserve_all`."""
        self.reserve_all([(file, start, stop)], make_room)

    def reserve_all(
        self, ranges: list[tuple[int, int, int]], make_room: Callable[[int], int] | None = None
    ) -> None:
        """Reserve space for ranges (file, start, stop), of whole blocks.

        `make_room` evicts about so many bytes of this process's and returns how many; it is called
        if evicting datasets that nobody uses is not enough.
        """
        blocks = [(file, start // BLOCK, -(-stop // BLOCK)) for file, start, stop in ranges]
        files = {file for file, _, _ in ranges}
        with self._locked():
            need = sum(stop - start for _, start, stop in blocks) * BLOCK
            missing = self.taken + need - (self.limit - self.margin)
            if missing > 0:
                missing -= self._evict_others(missing)
            if missing > 0 and make_room is not None:
                missing -= make_room(missing)
            if missing > 0:
                raise Full(
                    f"{self.root} is full: all {self.limit:,} bytes of its cache_limit are in use "
                    f"by those who read now. Give at least cache_limit={self.limit + missing}, or "
                    "read less at a time."
                )
            before = sum(map(_blocks, files))
            self._write(self.taken + need)  # first, so that it is never too little
            try:
                for file, start, stop in blocks:
                    _allocate(file, _KEEP_SIZE, start * BLOCK, (stop - start) * BLOCK)
            except OSError as error:
                full = error.errno in (errno.ENOSPC, errno.EDQUOT)
                why = "the disk is full" if full else error.strerror
                raise StoreError(
                    f"{self.root} cannot take {need:,} bytes more: {why}. Make room, or give "
                    "another cache_dir= or a smaller cache_limit=."
                ) from error
            finally:
                self._write(self.taken - need + sum(map(_blocks, files)) - before)

    def release(self, file: int, start: int, stop: int) -> int:
        """Give a range's whole blocks back to the disk, within `reserve`; return the bytes."""
        before = _blocks(file)
        start, stop = start + -start % BLOCK, stop - stop % BLOCK
        if start < stop:
            _allocate(file, _PUNCH_HOLE, start, stop - start)
        given = before - _blocks(file)
        self._write(self.taken - given)
        return given

    def larger(self, than: Path | None = None) -> list[Path]:
        """Folders of datasets that take more than that of one, the largest first; None: all."""
        taken = {folder: _taken(folder) for folder in self._folders()}
        least = 0 if than is None else taken.get(than, 0)
        found = [folder for folder in taken if folder != than and taken[folder] > least]
        return sorted(found, key=taken.__getitem__, reverse=True)

    def _evict_others(self, need: int) -> int:
        """Remove datasets that nobody uses, the one first that was opened longest ago."""
        given = 0
        for folder in sorted(self._folders(), key=_opened):
            if given >= need:
                break
            with contextlib.suppress(OSError):
                lease = os.open(folder / LEASE, os.O_RDWR | os.O_CLOEXEC)
                try:
                    fcntl.flock(lease, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    taken = _taken(folder)
                    os.unlink(folder / LEASE)  # first: who waits for it makes the folder anew
                    shutil.rmtree(folder, ignore_errors=True)
                    self._write(self.taken - taken)
                    given += taken
                finally:
                    os.close(lease)
        return given

    def _folders(self) -> list[Path]:
        found = [path for path in self.root.iterdir() if _FOLDER.fullmatch(path.name)]
        # What a link leads to lies elsewhere.
        return [path for path in found if (path / LEASE).exists() and not path.is_symlink()]

    def _locked(self) -> contextlib.AbstractContextManager[None]:
        return locked(self._account, self.root / _ACCOUNT)

    def _write(self, taken: int) -> None:
        os.pwrite(self._account, max(taken, 0).to_bytes(8, "little"), 0)

    def _check_holes(self) -> None:
        with tempfile.TemporaryFile(dir=self.root) as file:
            file.truncate(16 * BLOCK)
            try:
                _allocate(file.fileno(), _KEEP_SIZE, 0, 16 * BLOCK)
                _allocate(file.fileno(), _PUNCH_HOLE, 0, 16 * BLOCK)
                is_able = _blocks(file.fileno()) < 16 * BLOCK
            except OSError as error:
                if error.errno == errno.ENOSPC:
                    raise
                is_able = False
        if not is_able:
            raise StoreError(
                f"The file system of {self.root} cannot make holes in files, so a cache there "
                "could not be kept within a limit: give cache_dir= on a local disk."
            )


@contextlib.contextmanager
def locked(file: int, path: Path) -> Iterator[None]:
    """Keep a file for this process alone meanwhile."""
    until = time.monotonic() + _LOCKED_SECONDS
    while True:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        if time.monotonic() > until:
            raise StoreError(
                f"{path} is kept locked by another process that reads with this cache. Is it "
                f"stopped? `fuser {path}` says which these are."
            )
        time.sleep(_MOMENT)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def _blocks(file: int) -> int:
    return os.fstat(file).st_blocks * _UNIT


def _taken(folder: Path) -> int:
    taken = 0
    for path in (folder, *folder.rglob("*")):
        with contextlib.suppress(FileNotFoundError):
            taken += path.lstat().st_blocks * _UNIT
    return taken


def _opened(folder: Path) -> float:
    with contextlib.suppress(OSError):
        return (folder / LEASE).stat().st_mtime
    return 0.0


_libc = ctypes.CDLL(None, use_errno=True)


def _allocate(file: int, mode: int, start: int, size: int) -> None:
    """Call fallocate(2), which Python lacks."""
    call = _libc.fallocate
    call.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
    if call(file, mode, start, size):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
