"""What every container gives: entries with named fields, whose long bytes stay where they are."""

import codecs
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from packer.errors import BadImage, Damaged
from packer.files.hashed_file import read_span
from packer.images.probe import extension_of
from packer.samples.records import Skipped

HEAD = 32  # bytes of a blob that identify an image
_WINDOW = 1 << 14  # bytes that are read at a time
_INLINE = 1 << 16  # bytes of a text at most


class Blob(NamedTuple):
    """Bytes of a field that are not read by the scan.

    Attributes:
        place: see `samples.places`; with a shape at its end, they are pixels of uint8.
    """

    place: Sequence[Any]
    size: int
    head: bytes = b""  # the first ones

    @property
    def extension(self) -> str:
        """The extension that a file of an encoded image would have; "" for other bytes."""
        try:
            return extension_of(self.head, "")
        except BadImage:
            return ""

    @property
    def is_image(self) -> bool:
        """Whether it is an encoded image, or pixels."""
        return isinstance(self.place[-1], list) or bool(self.extension)


class Text(str):
    """A short text, which may yet be bytes of something else that only look like one."""

    blob: Blob


class Entry(NamedTuple):
    """One record of a container.

    Attributes:
        where: the file and the number or the key, for a person.
        name: its own key, or file and number, without an extension.
        fields: texts, numbers, lists, and `Blob`s.
        block: see `Sample`.
    """

    where: str
    name: str
    fields: Mapping[str, Any]
    mtime_ns: int
    block: int = -1


class Window:
    """A file that is read in small parts, most of which follow each other; a context manager."""

    def __init__(self, folder: Path, file: str) -> None:
        self.file = file  # its path, relative to the folder of the container
        self._descriptor = os.open(folder / file, os.O_RDONLY)
        status = os.fstat(self._descriptor)
        self.size, self.mtime_ns = status.st_size, status.st_mtime_ns
        self._begin, self._data = 0, b""

    def __enter__(self) -> "Window":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def read(self, offset: int, size: int) -> bytes:
        """Return these bytes; raise Damaged where the file ends before."""
        if offset < 0 or size < 0 or offset + size > self.size:
            raise Damaged("the file ends before it does")
        first = offset - self._begin
        if first < 0 or first + size > len(self._data):
            self._data = read_span(self._descriptor, offset, max(size, _WINDOW))
            self._begin, first = offset, 0
        return self._data[first : first + size]

    def blob(self, offset: int, size: int) -> Blob:
        """Return bytes that stay where they are."""
        return Blob([self.file, offset, size], size, self.read(offset, min(size, HEAD)))

    def value(self, offset: int, size: int) -> "Text | Blob":
        """Return a short text in UTF-8, or bytes that stay where they are."""
        blob = self.blob(offset, size)
        if size > _INLINE or text_of(blob.head, is_cut=size > HEAD) is None:
            return blob
        if (text := text_of(self.read(offset, size))) is None:
            return blob
        found = Text(text)
        found.blob = blob
        return found


def text_of(data: bytes, *, is_cut: bool = False) -> str | None:
    """Return the text in UTF-8 that bytes are, None for others; `is_cut`: more bytes follow."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(data, not is_cut)
    except UnicodeDecodeError:
        return None
    return None if any(sign < " " and sign not in "\t\n\r" for sign in text) else text


@dataclass(frozen=True)
class Container(ABC):
    """The files of one format in a folder."""

    folder: Path
    files: tuple[str, ...]  # that hold entries, sorted, relative to the folder

    keyed = False  # whether the names of its entries are their own keys

    @property
    def aside(self) -> Mapping[str, str]:
        """Files that describe these -> why nothing is taken from them as samples."""
        return {}

    @property
    def classes(self) -> Mapping[str, Sequence[str]]:
        """The names of the numbers in a field that holds labels."""
        return {}

    def absent(self) -> Iterator[Skipped]:
        """Yield the files that should be among these, and are missing."""
        return iter(())

    @abstractmethod
    def entries(self, file: str) -> Iterator[Entry | Skipped]:
        """Yield what a file holds, in a fixed order."""


def numbered(file: str, number: int) -> str:
    """Return the name of an entry that has no key of its own."""
    return f"{stem_of(file)}/{number:08d}"


def stem_of(file: str) -> str:
    """Return a file's path without extensions and without the number of parts."""
    folder, _, name = file.rpartition("/")
    stem = re.sub(r"\.(tfrecords?|tfrec|mds|bin|rec|beton|mdb|lmdb|h5|hdf5?)\b", "", name)
    return f"{folder}/{stem}" if folder else stem
