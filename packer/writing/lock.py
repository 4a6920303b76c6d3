"""The lock on a destination: one packer holds all of it, or several hold it for parts of a run.

The lock lies on the journal (`flock`, which a network file system passes on): exclusive for who
begins, mends or commits a run and removes what others have left, shared for parts at work.
"""

import fcntl
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from packer.errors import UnusableInput
from packer.planning.part import Part
from reader.format import mistaken

# What lies in a destination while it is packed, beside shards:
JOURNAL = mistaken.JOURNAL
KEPT_SCAN = ".packing.scan"
STALE = ".packing.rescan"  # says that the kept scan is not to be used any more
_PART = ".packing.part-"  # the files that parts hold while they are at work

ALL, SHARED = fcntl.LOCK_EX, fcntl.LOCK_SH


@contextmanager
def opened(path: Path, mode: int = 0o666) -> Iterator[Any]:
    """The file at `path` in a destination, to be locked; it is made if it is not there.

    Raises:
        UnusableInput: nothing can be written there.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, mode)
    except OSError as error:
        raise UnusableInput(f"{path.parent} cannot be written to: {error.strerror}.") from error
    with open(path, "rb+", buffering=0, opener=lambda *_: descriptor) as file:
        yield file


def take(file: Any, how: int) -> bool:
    """Lock what was `opened`, in place of a lock held before.

    Returns:
        Whether nobody is in the way; else no lock is held.

    Raises:
        UnusableInput: it cannot be locked.
    """
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
def only(folder: Path, part: Part) -> Iterator[None]:
    """Hold one part of the run in `folder`, so that nobody else writes it meanwhile.

    Raises:
        UnusableInput: another process does.
    """
    path = _file(folder, part)
    with opened(path) as file:
        if not take(file, ALL) or not is_there(file):
            raise UnusableInput(f"{folder}: {_holder(path)} is at work there already.")
        try:
            file.truncate(0)
            file.write(f"part {part} (process {os.getpid()} on {platform.node()})".encode())
            yield
        finally:
            path.unlink(missing_ok=True)


def busy(folder: Path, besides: Part | None = None) -> UnusableInput:
    """The error for a destination that others are at work in, `besides` this part."""
    own = None if besides is None else _file(folder, besides)
    others = [path for path in sorted(part_files(folder)) if path != own]
    parts = [_holder(path) for path in others if _is_held(path)]
    if not parts:
        return UnusableInput(f"{folder}: another packer is at work there.")
    more = f" and {len(parts) - 3} more" if len(parts) > 3 else ""
    return UnusableInput(
        f"{folder}: {', '.join(parts[:3])}{more} {'is' if len(parts) == 1 else 'are'} at work "
        "there. Wait for the end, and pack again."
    )


def part_files(folder: Path) -> Iterator[Path]:
    """What parts that were killed have left."""
    return folder.glob(f"{_PART}*")


def _file(folder: Path, part: Part) -> Path:
    return folder / f"{_PART}{part.number}-of-{part.count}"


def _holder(path: Path) -> str:
    """Who has said to hold a part."""
    number = path.name.removeprefix(_PART).replace("-of-", "/")
    said = path.read_text("utf-8", "replace") if path.exists() else ""
    return said[:200] if said.startswith("part ") else f"part {number}"


def _is_held(path: Path) -> bool:
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
