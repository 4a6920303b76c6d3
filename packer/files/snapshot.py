"""Files of a source that must not change while it is packed: the check, and its messages."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from packer.errors import BadImage, PackingFailed, Unreadable, UnusableInput
from packer.files import hashed_file
from packer.words import option

CHANGED = "it changed while it was being packed"  # a sample's own file, which costs that sample


def changed(path: Path) -> PackingFailed:
    """Return the error for a file in which places mean nothing any more."""
    return PackingFailed(
        f"{path} changed while it was being packed. Pack again, with ",
        option("overwrite", True),
        " to begin again.",
    )


def lost(path: Path, error: OSError) -> PackingFailed:
    """Return the error for a file that is not there any more."""
    return PackingFailed(
        f"{path} can no longer be read: {error.strerror}. Restore it, and run the same command "
        "again to continue."
    )


@contextmanager
def unchanged(path: Path, mtime_ns: int, *, at_most: bool = False) -> Iterator[int]:
    """Yield a descriptor of the file at `path`; raise where it is gone or was written since.

    `at_most`: it may be older than `mtime_ns`.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise lost(path, error) from error
    try:
        written = os.fstat(descriptor).st_mtime_ns
        if written > mtime_ns or (written < mtime_ns and not at_most):
            raise changed(path)
        yield descriptor
    except OSError as error:
        raise Unreadable(f"{path.name} cannot be read: {error.strerror}") from error
    finally:
        os.close(descriptor)


def read_span(descriptor: int, offset: int, size: int) -> bytes:
    """Return `size` bytes from `offset` on; raise `BadImage` where the file ends before."""
    data = hashed_file.read_span(descriptor, offset, size)
    if len(data) < size:
        raise BadImage("its archive ends before it does")
    return data


def read_file(path: str | Path, size: int) -> tuple[bytes, int]:
    """Return a file's bytes, more than `size` if it has grown, and its mtime; sparing calls."""
    try:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            data = os.read(descriptor, size + 1)
            status = os.fstat(descriptor)
            while len(data) < status.st_size and (more := os.read(descriptor, size)):
                data += more  # some network file systems give less than is asked for
        finally:
            os.close(descriptor)
    except OSError as error:
        raise Unreadable(cannot_be_read(error)) from error
    return data, status.st_mtime_ns


def cannot_be_read(error: OSError) -> str:
    return f"it cannot be read: {error.strerror}"


@dataclass(frozen=True)
class Watched:
    """A file of tables or annotations, as it was when it was opened."""

    path: Path  # for a person; of a file in an archive: the archive's path, then its own
    size: int
    mtime_ns: int
    local: Path  # where it can be read

    @classmethod
    def of(cls, path: Path, local: Path | None = None) -> "Watched":
        """Return the current file at `path`, or the one that was unpacked from it to `local`."""
        local = local or path
        try:
            with local.open("rb") as file:
                status = os.fstat(file.fileno())
        except OSError as error:
            raise UnusableInput(f"{path} cannot be read: {error.strerror}.") from error
        return cls(path, status.st_size, status.st_mtime_ns, local)

    def open(self) -> BinaryIO:
        return self.local.open("rb")

    def check(self) -> None:
        """Raise where the file is not what it was: places in it mean nothing any more."""
        try:
            status = os.stat(self.local)
        except OSError as error:
            raise lost(self.path, error) from error
        if (status.st_size, status.st_mtime_ns) != (self.size, self.mtime_ns):
            raise changed(self.path)

    def read(self, *spans: tuple[int, int]) -> list[bytes]:
        """Return the bytes at each (offset, size); raise where the file is not what it was."""
        self.check()
        try:
            with self.local.open("rb", buffering=0) as file:
                return [hashed_file.read_span(file.fileno(), *span) for span in spans]
        except OSError as error:
            raise lost(self.path, error) from error
