"""The disk space of a cache: its limit, the datasets in use, and their removal.

::

    CACHE_DIR/
      account              the number of used bytes; locked while it changes
      FINGERPRINT/         one dataset, see `reader.cache.mirror`
        lease              locked by every reader of the folder, and by those that fetch into it

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

from reader.cache.own_files import check_own, open_own, shared
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
        self._path = root / _ACCOUNT
        self._looked = 0.0  # when unused datasets were looked for
        self._is_locked = False
        try:
            root.mkdir(parents=True, exist_ok=True)
            self._account = open_own(self._path)
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
        with self.held():
            own = 2 * BLOCK  # the account and its folder
            self._write(sum(map(taken_by, self._folders())) + own)

    def lease(self, name: str) -> tuple[Path, int]:
        folder = self.root / name
        while True:
            folder.mkdir(exist_ok=True)
            with contextlib.suppress(FileNotFoundError):
                check_own(folder)
                lease = shared(folder / LEASE)
                if os.fstat(lease).st_nlink:  # otherwise it was evicted between the two calls
                    os.utime(lease)
                    return folder, lease
                os.close(lease)

    @property
    def free(self) -> int:
        return self.limit - self.margin - self.taken

    def reserve(
        self, file: int, start: int, stop: int, make_room: Callable[[int], int] | None = None
    ) -> int:
        """Reserve space for a range of a file, of whole blocks; return its bytes.

        `make_room` frees about the given bytes, and returns the freed bytes.
        """
        first, last = start // BLOCK, -(-stop // BLOCK)
        need = (last - first) * BLOCK
        with self.held():
            missing = need - self.free
            if missing > 0:
                missing -= (make_room or self.remove_unused)(missing)
            if missing > 0:
                raise self.full(missing)
            before, taken = self.blocks(file), self.taken
            self._write(taken + need)  # first, so that it is never too little
            try:
                _allocate(file, _KEEP_SIZE, first * BLOCK, need)
            except OSError as error:
                full = error.errno in (errno.ENOSPC, errno.EDQUOT)
                why = "the disk is full" if full else error.strerror
                raise StoreError(
                    f"{self.root} has no room for {need:,} more bytes: {why}. Free disk space, or "
                    "give another cache_dir= or a smaller cache_limit=."
                ) from error
            finally:
                given = self.blocks(file) - before
                if given != need:
                    self._write(taken + given)
        return given

    def full(self, missing: int) -> Full:
        return Full(
            f"{self.root} is full: all {self.limit:,} bytes of its cache_limit are in use "
            f"by current readers. Give at least cache_limit={self.limit + missing}, or a "
            "smaller batch_size= or BlockShuffle."
        )

    def release(self, file: int, start: int, stop: int) -> int:
        """Free a range's whole blocks; return the bytes."""
        if start >= stop:
            return 0
        with self.held():
            before = self.blocks(file)
            _allocate(file, _PUNCH_HOLE, start, stop - start)
            given = before - self.blocks(file)
            self._write(self.taken - given)
        return given

    def blocks(self, file: int) -> int:
        """Return the bytes of disk that a file takes."""
        return os.fstat(file).st_blocks * _UNIT

    def others(self, own: Path) -> list[Path]:
        """Return the folders of other datasets."""
        return [folder for folder in self._folders() if folder != own]

    def remove_unused(self, need: int, *, pause: float = 0.0) -> int:
        """Remove unused datasets, the least recently opened one first; return the freed bytes.

        With a `pause`, do nothing if none was found so many seconds ago.
        """
        given = 0
        if time.monotonic() < self._looked + pause:
            return given
        with self.held():
            for folder in sorted(self._folders(), key=_opened):
                if given >= need:
                    break
                with contextlib.suppress(OSError):
                    given += self._remove(folder)
        self._looked = 0.0 if given else time.monotonic()
        return given

    def _remove(self, folder: Path) -> int:
        lease = open_own(folder / LEASE, os.O_RDWR)
        try:
            fcntl.flock(lease, fcntl.LOCK_EX | fcntl.LOCK_NB)
            taken = taken_by(folder)
            os.unlink(folder / LEASE)  # first: a process that waits for it starts again
            shutil.rmtree(folder, ignore_errors=True)
            self._write(self.taken - taken)
            return taken
        finally:
            os.close(lease)

    def _folders(self) -> list[Path]:
        found = [path for path in self.root.iterdir() if _FOLDER.fullmatch(path.name)]
        # A link leads out of the cache.
        return [path for path in found if (path / LEASE).exists() and not path.is_symlink()]

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        if self._is_locked:
            yield
            return
        with locked(self._account, self._path):
            self._is_locked = True
            try:
                yield
            finally:
                self._is_locked = False

    def _write(self, taken: int) -> None:
        os.pwrite(self._account, max(taken, 0).to_bytes(8, "little"), 0)

    def _check_holes(self) -> None:
        with tempfile.TemporaryFile(dir=self.root) as file:
            file.truncate(16 * BLOCK)
            try:
                _allocate(file.fileno(), _KEEP_SIZE, 0, 16 * BLOCK)
                _allocate(file.fileno(), _PUNCH_HOLE, 0, 16 * BLOCK)
                is_able = self.blocks(file.fileno()) < 16 * BLOCK
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


def taken_by(folder: str | os.PathLike[str]) -> int:
    taken = 0
    with contextlib.suppress(FileNotFoundError):
        taken += os.lstat(folder).st_blocks * _UNIT
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    taken += taken_by(entry.path)
                else:
                    with contextlib.suppress(FileNotFoundError):
                        taken += entry.stat(follow_symlinks=False).st_blocks * _UNIT
    return taken


def _opened(folder: Path) -> float:
    with contextlib.suppress(OSError):
        return (folder / LEASE).stat().st_mtime
    return 0.0


_fallocate = ctypes.CDLL(None, use_errno=True).fallocate
_fallocate.argtypes = (ctypes.c_int, ctypes.c_int, ctypes.c_int64, ctypes.c_int64)


def _allocate(file: int, mode: int, start: int, size: int) -> None:
    if _fallocate(file, mode, start, size):
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
