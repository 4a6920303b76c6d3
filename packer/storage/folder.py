"""A folder by the verbs that stores have, too, and locks on its files.

A lock is advisory (`flock`, which a network file system passes on).
"""

import errno
import fcntl
import os
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from packer.errors import UnusableInput

ALL, SHARED = fcntl.LOCK_EX, fcntl.LOCK_SH


class Folder:
    """A folder of this machine, which may not be there yet, as `store.Store` is one in a store."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)

    def list(self, folders: Iterable[str]) -> Collection[str]:
        """Return the names of the files in these folders; "" is the top."""
        found = []
        for folder in folders:
            inside = self.path / folder
            names = os.listdir(inside) if inside.is_dir() else ()
            found += [f"{folder}/{name}" if folder else name for name in names]
        return [name for name in found if (self.path / name).exists()]

    def read(self, name: str) -> bytes | None:
        with suppress(FileNotFoundError):
            return (self.path / name).read_bytes()
        return None

    def remove(self, name: str) -> None:
        (self.path / name).unlink(missing_ok=True)


@contextmanager
def open_lock(path: Path, mode: int = 0o666) -> Iterator[Any]:
    """Open the file at `path` to be locked, but not through a link; it is made if it is missing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, mode)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise UnusableInput(
                f"{path} is a symbolic link, and what it points to is not changed. Remove the link."
            ) from error
        raise UnusableInput(f"{path.parent} cannot be written to: {error.strerror}.") from error
    with open(path, "rb+", buffering=0, opener=lambda *_: descriptor) as file:
        yield file


def try_lock(file: Any, how: int) -> bool:
    """Lock an open file, in place of a lock held before; return False if others are in the way."""
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise UnusableInput(f"{file.name} cannot be locked: {error.strerror}.") from error
    return True


def still_exists(file: Any) -> bool:
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file.fileno()), os.stat(file.name))
    return False


@contextmanager
def wait_for_lock(path: Path, wait: Callable[[], None], mode: int = 0o666) -> Iterator[Any]:
    """Lock the file at `path`; `wait` is called if another process has the lock."""
    while True:
        with open_lock(path, mode) as file:
            if not try_lock(file, ALL):
                wait()
                fcntl.flock(file, fcntl.LOCK_EX)
            if still_exists(file):
                yield file
                return
