"""One tar or zip on the disk: the entries in it, and their bytes."""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from packer.files.snapshot import read_span, unchanged
from packer.samples.records import Skipped
from packer.samples.zip_entries import (
    copy_zip_entry,
    read_zip_beginning,
    read_zip_entry,
    zip_entries,
)
from packer.sources.trees.compressed import beginning
from packer.sources.trees.tar_reader import members

_CHUNK = 1 << 20

Numbers = tuple[int, int, int, int]  # offset, size, packed bytes or -1, crc32
Entry = tuple[str, Numbers]  # a file's path in the archive


class ArchiveFile(NamedTuple):
    """An archive, or a file beside archives, which is the only one in itself."""

    file: str  # relative to the root of its tree; "": it is the root
    path: Path
    zipped: bool
    mtime_ns: int

    @classmethod
    def of(cls, root: Path, file: str) -> "ArchiveFile":
        """Return the archive that has this name."""
        path = root / file
        zipped = path.is_file() and beginning(path).startswith(b"PK")
        return cls(file, path, zipped, os.stat(path).st_mtime_ns)

    @property
    def unpack(self) -> str:
        """The command that makes a folder of it."""
        source = shlex.quote(str(self.path))
        if self.zipped:
            return f"python -m zipfile -e {source} FOLDER"
        return f"mkdir -p FOLDER && tar -xf {source} -C FOLDER"

    def entries(self) -> Iterator[Entry | Skipped]:
        """Yield the files in it; a tar in a tar is a folder of its name."""
        if self.zipped:
            yield from zip_entries(self.path)
            return
        for item in members(self.path):
            if isinstance(item, Skipped):
                yield item
            elif not item.name.endswith(".tar"):
                yield item.name, (item.offset, item.size, -1, 0)
            else:
                folder = item.name.removesuffix(".tar")
                for inner in members(self.path, item.offset, item.offset + item.size):
                    name = f"{folder}/{inner.name}"
                    if isinstance(inner, Skipped):
                        yield Skipped(name, inner.reason)
                    else:
                        yield name, (inner.offset, inner.size, -1, 0)

    def begin(self, numbers: Numbers, most: int) -> bytes:
        """Return the first bytes of a file in it."""
        offset, size, packed, _ = numbers
        with unchanged(self.path, self.mtime_ns) as descriptor:
            if self.zipped:
                return read_zip_beginning(descriptor, offset, size, packed, most)
            return read_span(descriptor, offset, min(size, most))

    def read(self, numbers: Numbers) -> bytes:
        """Return the bytes of a file in it."""
        with unchanged(self.path, self.mtime_ns) as descriptor:
            if self.zipped:
                return read_zip_entry(descriptor, *numbers)
            return read_span(descriptor, *numbers[:2])

    def copy(self, numbers: Numbers, to: Path) -> None:
        """Write a file in it to another one."""
        offset, size, packed, crc32 = numbers
        with unchanged(self.path, self.mtime_ns) as descriptor:
            if self.zipped:
                copy_zip_entry(descriptor, offset, size, packed, crc32, to)
                return
            with to.open("wb") as file:
                for at in range(offset, offset + size, _CHUNK):
                    file.write(read_span(descriptor, at, min(_CHUNK, offset + size - at)))
