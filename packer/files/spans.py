"""Reading parts of a file in place, as long as it is what was scanned."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from packer.errors import (
    BadImage,
    PackingFailed,
    Unreadable,
)
from packer.files import transfer


@contextmanager
def unchanged(path: Path, mtime_ns: int) -> Iterator[int]:
    """A descriptor of the file at `path`, which was last written at `mtime_ns`.

    Raises:
        PackingFailed: it is gone, or was written since.
        Unreadable: what is read from it cannot be.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError as error:
        raise PackingFailed(
            f"{path} cannot be read any more: {error.strerror}. Once it is back, run the same "
            "command again to go on."
        ) from error
    try:
        if os.fstat(descriptor).st_mtime_ns != mtime_ns:
            raise changed(path)
        yield descriptor
    except OSError as error:
        raise Unreadable(f"{path.name} cannot be read: {error.strerror}") from error
    finally:
        os.close(descriptor)


def changed(path: Path) -> PackingFailed:
    """The error for an archive in which places mean nothing any more."""
    return PackingFailed(
        f"{path} changed while it was being packed. Run the same command again, with --overwrite "
        "to begin anew."
    )


def read_span(descriptor: int, offset: int, size: int) -> bytes:
    """`size` bytes from `offset` on.

    Raises:
        BadImage: the file ends before.
        OSError: it cannot be read.
    """
    data = transfer.read_span(descriptor, offset, size)
    if len(data) < size:
        raise BadImage("its archive ends before it does")
    return data
