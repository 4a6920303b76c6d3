"""Names from outside: patterns in braces, and a folder for files under names nobody has looked at.

Guarantees of `OutputFolder`: nothing outside the folder is written or followed; a file appears
whole or not at all, also after a power cut; a file that is there with other content stays, unless
`overwrite` is set, whatever its name.

Assumption: no two writers write the same name at a time.
"""

import errno
import fcntl
import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, suppress
from pathlib import Path

import numpy as np
import xxhash

from packer.errors import UnusableInput
from packer.files.atomic import name_of_temporary, temporary_name, write_all
from packer.keys import MAX_NAME, Hashes, are_among

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_BRACES = re.compile(r"\{(?:(\d+)\.\.(\d+)|([^{}]*,[^{}]*))\}")
_HASH = re.compile("[0-9a-f]{16}")  # of the name that a temporary file of `OutputFolder` is for
_MOST = 1_000_000  # names

Chunks = Callable[[], Iterable[bytes]]


def has_braces(pattern: str) -> bool:
    """Return whether `pattern` expands to several names, such as ``shard-{000..009}.tar``."""
    return _BRACES.search(pattern) is not None


def expanded(pattern: str) -> Iterator[str]:
    """Yield the names that a pattern means, in its order; itself, if it has no braces."""
    for number, name in enumerate(_expanded(pattern)):
        if number >= _MOST:
            raise UnusableInput(
                f"{pattern} expands to more than {_MOST:,} names. Use a smaller range."
            )
        yield name


def _expanded(pattern: str) -> Iterator[str]:
    match = _BRACES.search(pattern)
    if not match:
        yield pattern
        return
    first, last, listed = match.groups()
    names: Iterable[str] = (
        (str(number).zfill(len(first)) for number in range(int(first), int(last) + 1))
        if listed is None
        else listed.split(",")
    )
    for name in names:
        yield from _expanded(pattern[: match.start()] + name + pattern[match.end() :])


class Refused(Exception):
    """A file is not written; its text is the reason."""


class OutputFolder(AbstractContextManager["OutputFolder"]):
    """Create `root` if it does not exist; the folders above it are trusted."""

    def __init__(self, root: Path, overwrite: bool) -> None:
        root.mkdir(parents=True, exist_ok=True)
        self._root = os.open(root, _FOLDER)
        self._overwrite = overwrite
        self._last: tuple[tuple[bytes, ...], int] = ((), self._root)

    def __exit__(self, *_: object) -> None:
        self._leave()
        os.close(self._root)

    def write(self, name: bytes, size: int, chunks: Chunks) -> bool:
        """Write a file of `size` bytes; False if it is there already, with the same content."""
        *folders, base = parts(name)
        folder = self._enter(tuple(folders))
        if self._is_there(folder, base, size, chunks):
            return False
        # A hash, because the name itself may have all the bytes that a name can have.
        part = temporary_name(f"{xxhash.xxh3_64_intdigest(name):016x}")
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with open(os.open(part, flags, 0o666, dir_fd=folder), "wb", buffering=0) as file:
            try:
                for chunk in chunks():
                    write_all(file.fileno(), chunk)
                os.fsync(file.fileno())  # else a power cut leaves the name, and no content
                os.rename(part, base, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(OSError):
                    os.unlink(part, dir_fd=folder)
                raise
        return True

    def hold(self, folders: Iterable[bytes], hashes: Iterable[Hashes]) -> None:
        """Remove what killed writers left in `folders`, of files with these hashes of their names.

        Nothing is removed while others hold the root, as this one does until it is closed.
        """
        with suppress(OSError):  # another holds it, or its file system has no locks on folders
            fcntl.flock(self._root, fcntl.LOCK_EX | fcntl.LOCK_NB)
            ordered = np.sort(np.concatenate([np.empty(0, np.uint64), *hashes]))
            for name in folders:
                with suppress(Refused, OSError):  # nothing was written into it
                    self._remove_leavings(self._enter(_folders(name), make=False), ordered)
        with suppress(OSError):
            fcntl.flock(self._root, fcntl.LOCK_SH)

    def _remove_leavings(self, folder: int, ordered: Hashes) -> None:
        for name in os.listdir(folder):
            if (made_for := _HASH.fullmatch(name_of_temporary(name))) is not None:
                found = np.array([int(made_for[0], 16)], np.uint64)
                if are_among(found, ordered)[0]:
                    with suppress(OSError):
                        os.unlink(name, dir_fd=folder)

    def _enter(self, folders: tuple[bytes, ...], *, make: bool = True) -> int:
        """Open a folder below the root; it is made if it is missing, and no link is followed."""
        if folders == self._last[0]:
            return self._last[1]
        self._leave()
        at = os.dup(self._root)
        try:
            for name in folders:
                if make:
                    with suppress(FileExistsError):
                        os.mkdir(name, dir_fd=at)
                below = os.open(name, _FOLDER | os.O_NOFOLLOW, dir_fd=at)
                os.close(at)
                at = below
        except OSError as error:
            os.close(at)
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                raise Refused(
                    "a file or a symbolic link exists where a folder is needed"
                ) from error
            raise
        self._last = folders, at
        return at

    def _leave(self) -> None:
        if self._last[0]:
            os.close(self._last[1])
        self._last = (), self._root

    def _is_there(self, folder: int, base: bytes, size: int, chunks: Chunks) -> bool:
        """Return whether the file exists with this content; other content may be replaced."""
        try:
            status = os.stat(base, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return False
        if stat.S_ISDIR(status.st_mode):
            raise Refused("a folder of that name exists")
        if stat.S_ISREG(status.st_mode) and status.st_size == size:
            descriptor = os.open(base, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder)
            with open(descriptor, "rb") as file:
                if all(file.read(len(chunk)) == chunk for chunk in chunks()):
                    return True
        if not self._overwrite:
            raise Refused("another file of that name exists with other content")
        return False


def _folders(name: bytes) -> tuple[bytes, ...]:
    return tuple(parts(name)) if name else ()


def parts(name: bytes) -> list[bytes]:
    """Return folders and file name; raise `Refused` where there is no such file in a folder."""
    parts = name.split(b"/")
    if b"\0" in name or any(part in (b"", b".", b"..") for part in parts):
        raise Refused("its name leads outside the folder or is not a name of a file")
    if len(name) > MAX_NAME:  # else folders grow that nothing opens or removes by their path
        raise Refused(f"its name has {len(name)} bytes; {MAX_NAME} are the most")
    return parts
