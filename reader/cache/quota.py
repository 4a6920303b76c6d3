"""The disk space of a cache: its limit, the datasets in use, and their removal.

::

    CACHE_DIR/
      account              the number of used bytes; locked while it changes
      FINGERPRINT/         one dataset, see `reader.cache.mirror`
        lease              locked by every process that fetches into the folder, while it lives

Guarantees: space is allocated before bytes are fetched (fallocate), so the limit is exact, and a
full disk is found before anything is written. The account is never less than the used space; the
next process corrects an excess that a killed one leaves. Only folders with a lease are removed.

Assumptions: the file system is local and supports holes (ext4, xfs, btrfs, tmpfs).
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
    " (to share another user's cache, make its parent a folder of a common group with the setgid "
    "bit, and have all users set umask 002)"
)
_LOCKED_SECONDS = 60.0  # after which the process that holds a lock is probably stopped
_MOMENT = 0.001  # seconds between two tries
_FOLDER = re.compile(r"[0-9a-f]{32}")
_KEEP_SIZE = 0x01  # fallocate(2)
_PUNCH_HOLE = _KEEP_SIZE | 0x02
_UNIT = 512  # bytes of st_blocks


class Full(StoreError):
    """The cache is full, and nothing can be evicted."""


class DiskQuota:
    """The cache in `root`; `margin` bytes of its `limit` are for the file system's metadata."""

    def __init__(self, root: Path, limit: int | None) -> None:
        self.root = root
        self.margin = 0
        try:
            root.mkdir(parents=True, exist_ok=True)
            self._account = os.open(root / _ACCOUNT, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
            if not self.taken:  # otherwise it was checked before, and may have no room for it
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
            own = 2 * BLOCK  # the account and its folder
            self._write(sum(map(_taken, self._folders())) + own)

    def lease(self, name: str) -> tuple[Path, int]:
        folder = self.root / name
        while True:
            folder.mkdir(exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                lease = os.open(folder / LEASE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
                fcntl.flock(lease, fcntl.LOCK_SH)
                if os.fstat(lease).st_nlink:  # otherwise it was evicted between the two calls
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

        `make_room` evicts about the given bytes of this process's and returns the freed bytes; it
        is called if evicting unused datasets is not enough.
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
                    f"by current readers. Give at least cache_limit={self.limit + missing}, or a "
                    "smaller batch_size= or BlockShuffle."
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
                    f"{self.root} has no room for {need:,} more bytes: {why}. Free disk space, or "
                    "give another cache_dir= or a smaller cache_limit=."
                ) from error
            finally:
                self._write(self.taken - need + sum(map(_blocks, files)) - before)

    def release(self, file: int, start: int, stop: int) -> int:
        """Free a range's whole blocks, within `reserve`; return the bytes."""
        before = _blocks(file)
        start, stop = start + -start % BLOCK, stop - stop % BLOCK
        if start < stop:
            _allocate(file, _PUNCH_HOLE, start, stop - start)
        given = before - _blocks(file)
        self._write(self.taken - given)
        return given

    def larger(self, than: Path | None = None) -> list[Path]:
        """Return folders of larger datasets than `than`, the largest first; all for None."""
        taken = {folder: _taken(folder) for folder in self._folders()}
        least = 0 if than is None else taken.get(than, 0)
        found = [folder for folder in taken if folder != than and taken[folder] > least]
        return sorted(found, key=taken.__getitem__, reverse=True)

    def _evict_others(self, need: int) -> int:
        """Remove unused datasets, the least recently opened one first."""
        given = 0
        for folder in sorted(self._folders(), key=_opened):
            if given >= need:
                break
            with contextlib.suppress(OSError):
                lease = os.open(folder / LEASE, os.O_RDWR | os.O_CLOEXEC)
                try:
                    fcntl.flock(lease, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    taken = _taken(folder)
                    os.unlink(folder / LEASE)  # first: a process that waits for it starts again
                    shutil.rmtree(folder, ignore_errors=True)
                    self._write(self.taken - taken)
                    given += taken
                finally:
                    os.close(lease)
        return given

    def _folders(self) -> list[Path]:
        found = [path for path in self.root.iterdir() if _FOLDER.fullmatch(path.name)]
        # A link leads out of the cache.
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
                f"The file system of {self.root} does not support holes in files, which a cache "
                "with a limit needs. Give a cache_dir= on a local disk."
            )


@contextlib.contextmanager
def locked(file: int, path: Path) -> Iterator[None]:
    until = time.monotonic() + _LOCKED_SECONDS
    while True:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            break
        if time.monotonic() > until:
            raise StoreError(
                f"{path} is locked by another process with this cache, perhaps a stopped one. To "
                f"find it, run `fuser {path}`."
            )
        time.sleep(_MOMENT)
    try:
        yield
    finally:
        fcntl.flock(file, fcntl.LOCK_UN)


def _blocks(file: int) -> int:
    return os.fstat(file).st_blocks * _UNIT


def _taken(folder: str | os.PathLike[str]) -> int:
    taken = 0
    with contextlib.suppress(FileNotFoundError):
        taken += os.lstat(folder).st_blocks * _UNIT
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    taken += _taken(entry.path)
                else:
                    with contextlib.suppress(FileNotFoundError):
                        taken += entry.stat(follow_symlinks=False).st_blocks * _UNIT
    return taken


def _opened(folder: Path) -> float:
    with contextlib.suppress(OSError):
        return (folder / LEASE).stat().st_mtime
    return 0.0


_libc = ctypes.CDLL(None, use_errno=True)


def _allocate(file: int, mode: int, start: int, size: int) -> None:
    call = _libc.fallocate
    call.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)
    if call(file, mode, start, size):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
