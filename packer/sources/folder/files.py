"""A sample of several files: an image, and the members that lie in files of their own."""

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path

from packer.errors import BadImage, Damaged, naming
from packer.files.snapshot import cannot_be_read
from packer.keys import escape
from packer.sources.archive.compressed import UNPACKED, is_unpacked
from packer.sources.folder.likeness import BEGINNING
from packer.sources.folder.walk import not_an_image, tells_of_file
from packer.sources.labels import MAX_TEXT, class_of_file
from packer.sources.records import Skipped, SourceSample

NO_FILE = f"it cannot be read: {os.strerror(errno.ENOENT)}"


def sample_of_files(
    root: Path,
    image: str,
    members: Mapping[str, str],
    *,
    label: int,
    split: str,
    keep_extension: bool = False,
) -> Iterator[SourceSample | Skipped]:
    """The sample of `image`, which is meant to be one, and those of its files that are not packed.

    Args:
        root: what the paths are relative to.
        image: the image's path.
        members: extension -> path of each further member.
        label: class number; -1: the member ``cls`` tells, if there is one.
        split: of the sample.
        keep_extension: make it part of the key, which else is the path without it.
    """
    try:
        size, mtime_ns = measure_image(root, image)
    except BadImage as error:
        yield Skipped.of(image, error)
        for path in members.values():
            yield Skipped(path, f"it belongs to {image!r}, which is rejected", damaged=True)
        return
    found = {}
    for ext, path in members.items():
        try:
            member_size, member_time = measure(root, path)
            if ext == "cls":
                label = class_of_file(label, member_size, partial(_begin, root / path, MAX_TEXT))
                continue
        except BadImage as error:
            yield Skipped.of(path, error)
            continue
        found[ext] = path
        size += member_size
        mtime_ns = max(mtime_ns, member_time)
    stem = os.path.splitext(image)[0]
    derived = all(path == f"{stem}.{ext}" for ext, path in found.items())
    yield SourceSample(
        name=image,
        key=escape(image if keep_extension else stem),
        label=label,
        size=size,
        mtime_ns=mtime_ns,
        members=tuple(found),
        split=split,
        places=() if derived else (None, *found.values()),
    )


def ignored(root: Path, path: str) -> Skipped | None:
    """What to report of a file that is not meant to be an image; None for one that is.

    Raises:
        OSError: the disk fails.
    """
    if is_unpacked(f"{root}/{path}"):
        return Skipped(path, UNPACKED, ignored=True)
    return not_an_image(path, partial(begin, root, path))


def begin(root: Path, path: str, size: int = BEGINNING) -> bytes:
    """The first bytes of a file; so many tell whether it is an image.

    Raises:
        BadImage: it cannot be read, or is not a regular file.
        OSError: the disk fails.
    """
    measure(root, path)
    return _begin(root / path, size)


def measure(root: Path, path: str) -> tuple[int, int]:
    """A file's bytes and when it was written (ns).

    Raises:
        BadImage: it is not a file that could be packed.
        OSError: the disk fails.
    """
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


def measure_image(root: Path, path: str) -> tuple[int, int]:
    """The same of an image, which has bytes."""
    size, mtime_ns = measure(root, path)
    if not size:
        raise Damaged("it is empty")
    return size, mtime_ns


def _begin(path: Path, size: int) -> bytes:
    """The first `size` bytes of a file.

    Raises:
        BadImage: it cannot be read.
        OSError: the disk fails.
    """
    try:
        with naming(path), open(path, "rb") as file:
            return file.read(size)
    except OSError as error:
        if not tells_of_file(error):
            raise
        raise BadImage(cannot_be_read(error)) from error
