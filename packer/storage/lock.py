"""Advisory locks on files (`flock`, which a network file system passes on)."""

import fcntl
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from packer.errors import UnusableInput

ALL, SHARED = fcntl.LOCK_EX, fcntl.LOCK_SH


@contextmanager
def opened(path: Path, mode: int = 0o666) -> Iterator[Any]:
    """Open the file at `path` in a destination, to be locked; it is made if it is not there."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, mode)
    except OSError as error:
        raise UnusableInput(f"{path.parent} cannot be written to: {error.strerror}.") from error
    with open(path, "rb+", buffering=0, opener=lambda *_: descriptor) as file:
        yield file


def take(file: Any, how: int) -> bool:
    """Lock what was `opened`, in place of a lock held before; False: others are in the way."""
    try:
        fcntl.flock(file, how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        raise UnusableInput(f"{file.name} cannot be locked: {error.strerror}.") from error
    return True


def is_there(file: Any) -> bool:
    """Whether what was `opened` has not been removed meanwhile."""
    with suppress(FileNotFoundError):
        return os.path.samestat(os.fstat(file.fileno()), os.stat(file.name))
    return False


@contextmanager
def waiting(path: Path, wait: Callable[[], None], mode: int = 0o666) -> Iterator[Any]:
    """Hold the file at `path` alone; `wait` is called where somebody else has it now."""
    while True:
        with opened(path, mode) as file:
            if not take(file, ALL):
                wait()
                fcntl.flock(file, fcntl.LOCK_EX)
            if is_there(file):
                yield file
                return
