"""Folders of image files: class folders by torchvision's ImageFolder rules, or one flat folder.

The sorted names of the top folders are the classes, nested folders below a class belong to it, and
samples come in ImageFolder's order. Unlike there, a file counts by its content and not by its
extension, so every file is either packed or named.
"""

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from packer.errors import BadImage, UnusableInput
from packer.keys import clashing, escape
from packer.sources import LeftOut, SourceSample

MAX_FILE = 1 << 30  # a larger file is no image, and would be read whole to find out

_LITTER = {".DS_Store", "Thumbs.db", "ehthumbs.db", "desktop.ini", ".directory"}
_LOOP = "it is a symbolic link back to a folder that holds it (a loop)"

_Identity = tuple[int, int]


@dataclass(frozen=True)
class FolderSource:
    """A folder of class folders, or a folder of images without labels (`classes` is empty)."""

    root: Path
    classes: tuple[str, ...]

    @classmethod
    def open(cls, root: Path) -> "FolderSource":
        """Tell class folders from a flat folder.

        Raises:
            UnusableInput: it is no readable folder.
        """
        try:
            above = _with_parents(root)
            with os.scandir(root) as entries:
                classes = [
                    entry.name
                    for entry in entries
                    if _is_folder(entry) and _identity(entry) not in above
                ]
        except OSError as error:
            raise UnusableInput(
                f"{root} is not a folder that can be read: {error.strerror}."
            ) from error
        return cls(root, tuple(sorted(classes)))

    def scan(self) -> Iterator[SourceSample | LeftOut]:
        """Walk the folder in ImageFolder's order.

        Raises:
            UnusableInput: a class folder holds no file, or the folder cannot be listed.
        """
        for entry in sorted(set(os.listdir(self.root)).difference(self.classes)):
            if os.path.isdir(self.root / entry):
                yield LeftOut(entry, _LOOP)
            elif self.classes:
                yield _left_out(entry, "it lies beside the class folders and belongs to no class")
        if not self.classes:
            yield from self._files("", label=-1)
        empty = []
        for label, name in enumerate(self.classes):
            found = False
            for record in self._class(name, label):
                found = found or isinstance(record, SourceSample)
                yield record
            if not found:
                empty.append(name)
        if empty:
            raise UnusableInput(
                f"{self.root}: class folders without images: {', '.join(map(_printable, empty))}. "
                "Remove them, or put images into them."
            )

    def read(self, sample: SourceSample) -> bytes:
        """The file's bytes, if it still is the file that was scanned."""
        try:
            with open(self.root / sample.name, "rb", buffering=0) as file:
                data = file.read()
                mtime_ns = os.fstat(file.fileno()).st_mtime_ns
        except OSError as error:
            raise BadImage(f"it cannot be read: {error.strerror}") from error
        if len(data) != sample.size or mtime_ns != sample.mtime_ns:
            raise BadImage("it changed while it was being packed")
        return data

    def _class(self, name: str, label: int) -> Iterator[SourceSample | LeftOut]:
        folders: list[str] = []
        for folder in self._folders(name, _with_parents(self.root)):
            if isinstance(folder, LeftOut):
                yield folder
            else:
                folders.append(folder)
        for path in sorted(folders):
            yield from self._files(path, label)

    def _folders(self, path: str, above: frozenset[_Identity]) -> Iterator[str | LeftOut]:
        """`path` and all folders below it; a link back to a folder above is a loop."""
        try:
            identity = _identity(self.root / path)
            if identity in above:
                yield LeftOut(path, _LOOP)
                return
            with os.scandir(self.root / path) as entries:
                below = sorted(entry.name for entry in entries if _is_folder(entry))
        except OSError as error:
            yield LeftOut(path, f"the folder cannot be read: {error.strerror}")
            return
        yield path
        for name in below:
            yield from self._folders(f"{path}/{name}", above | {identity})

    def _files(self, folder: str, label: int) -> Iterator[SourceSample | LeftOut]:
        prefix = f"{folder}/" if folder else ""
        with os.scandir(self.root / folder) as entries:
            names = sorted(entry.name for entry in entries if not _is_folder(entry))
        whole = clashing(names)
        for name in names:
            path = prefix + name
            try:
                status = os.stat(self.root / path)
            except OSError as error:
                broken = os.path.islink(self.root / path)
                what = "it is a symbolic link that leads nowhere" if broken else "it cannot be read"
                yield LeftOut(path, f"{what}: {error.strerror}")
                continue
            if not stat.S_ISREG(status.st_mode):
                yield LeftOut(path, "it is not a regular file")
            elif name in _LITTER:
                yield _left_out(path, "")
            elif status.st_size == 0:
                yield LeftOut(path, "it is empty")
            elif status.st_size > MAX_FILE:
                yield LeftOut(path, f"it has {status.st_size} bytes; {MAX_FILE} are the most")
            else:
                key = escape(path if name in whole else os.path.splitext(path)[0])
                yield SourceSample(path, key, label, status.st_size, status.st_mtime_ns)


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False  # a link to itself; the file's own stat names the reason


def _identity(path: "str | os.PathLike[str]") -> _Identity:
    status = os.stat(path)
    return status.st_dev, status.st_ino


def _with_parents(folder: Path) -> frozenset[_Identity]:
    resolved = folder.resolve()
    return frozenset(map(_identity, (resolved, *resolved.parents)))


def _left_out(path: str, reason: str) -> LeftOut:
    if os.path.basename(path) in _LITTER:
        return LeftOut(path, "it belongs to the operating system", ignored=True)
    return LeftOut(path, reason)


def _printable(name: str) -> str:
    return os.fsencode(name).decode("utf-8", "backslashreplace")
