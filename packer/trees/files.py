"""Files of this disk: their sizes and first bytes, and why one cannot be packed."""

import errno
import os
import stat
from pathlib import Path

from packer.errors import BadImage, Damaged, naming
from packer.files.snapshot import cannot_be_read
from packer.trees.likeness import BEGINNING
from packer.trees.walk import tells_of_file

NO_FILE = f"it cannot be read: {os.strerror(errno.ENOENT)}"


def begin(root: Path, path: str, size: int = BEGINNING) -> bytes:
    """The first bytes of a file; so many tell whether it is an image."""
    measure(root, path)
    return _begin(root / path, size)


def measure(root: Path, path: str) -> tuple[int, int]:
    """A file's bytes and when it was written (ns)."""
    try:
        status = os.stat(f"{root}/{path}")
    except OSError as error:
        if not tells_of_file(error):
            raise
        if os.path.islink(root / path):
            raise Damaged(f"it is a symbolic link that leads nowhere: {error.strerror}") from error
        raise Damaged(cannot_be_read(error)) from error
    if not stat.S_ISREG(status.st_mode):
        raise Damaged("it is not a regular file")
    return status.st_size, status.st_mtime_ns


def _begin(path: Path, size: int) -> bytes:
    """The first `size` bytes of a file."""
    try:
        with naming(path), open(path, "rb") as file:
            return file.read(size)
    except OSError as error:
        if not tells_of_file(error):
            raise
        raise BadImage(cannot_be_read(error)) from error
