"""Writes a file so that it is there as a whole, or as it was before."""

import os
import platform
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from packer.errors import cannot_write

_TEMPORARY = re.compile(r"\.(.+)\.tmp-[\w-]+", re.DOTALL)


def temporary(path: Path) -> Path:
    """Return a name beside `path` to write it under, which no process of any machine chooses.

    Open it with "x": nothing that is there, whatever it is, is written to.
    """
    return path.with_name(temporary_name(path.name))


def temporary_name(name: str) -> str:
    host = re.sub(r"[^A-Za-z0-9-]", "-", platform.node())[:16]
    return f".{name}.tmp-{host}-{os.getpid()}-{secrets.token_hex(4)}"


def name_of_temporary(name: str) -> str:
    """Return the name that a temporary file was made for; "" for another file."""
    match = _TEMPORARY.fullmatch(name)
    return match[1] if match else ""


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Yield a new file, whose content is at `path` when the block ends without an error."""
    unfinished = temporary(path)
    try:
        with open(unfinished, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(unfinished, path)
        sync_folder(path.parent)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


def write_file(path: Path, content: bytes) -> None:
    with replacing(path) as file:
        file.write(content)


def remove_leavings(folders: Iterable[Path], written: Callable[[str], object]) -> None:
    """Remove what killed writers of the files with these names have left in the folders."""
    for folder in folders:
        with suppress(OSError):  # they are in nobody's way
            for name in os.listdir(folder):
                made_for = name_of_temporary(name)
                if made_for and written(made_for):
                    (folder / name).unlink(missing_ok=True)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all of `data`, also where the system takes less at a time, as a nearly full disk."""
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def sync_folder(folder: Path) -> None:
    """Make the names in `folder` survive a power cut."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
