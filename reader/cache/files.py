"""The indexes and presence maps of all shards in a dataset's folder in the cache.

::

    cached.indexes    the indexes in the order of dataset.json, with holes for other splits
    cached.rows       one byte for each index, then one for each sample, see `presence`
    cached.window     the transit window, see `space`
    cached.places     four bytes for each byte of cached.rows: in which block of cached.window the
                      first one of a sample's tar would be; only for samples that are in it

Few files for all shards: to create some for each would take seconds for thousands of shards.
"""

import mmap
import os
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import compress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reader.cache.presence import PresenceMap
from reader.errors import ReaderError
from reader.format import FormatError, Index, Manifest, ShardEntry
from reader.format.checksum import checksum_of
from reader.format.files import map_part, open_regular
from reader.format.index_file import IndexFile

INDEXES = "cached.indexes"
ROWS = "cached.rows"
WINDOW = "cached.window"
PLACES = "cached.places"
PLACE_BYTES = 4
_ALIGNMENT = 8  # of an index, whose columns are aligned to their types


class WindowFile:
    """The transit window, opened by a process at the first use."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> tuple[type["WindowFile"], tuple[Path]]:
        return WindowFile, (self._path,)

    @cached_property
    def file(self) -> int:
        file = open_regular(self._path)
        weakref.finalize(self, os.close, file)
        return file

    @cached_property
    def mapping(self) -> mmap.mmap:
        return mmap.mmap(self.file, 0, access=mmap.ACCESS_READ)


@dataclass(frozen=True)
class CachedFiles:
    """The indexes and presence maps of a split's shards, by the numbers of these.

    Attributes:
        folder: the folder in the cache.
        shards: the shards of the split.
        classes: number of class names.
        numbers: number of each shard in dataset.json.
        indexes: the file `INDEXES`.
        rows: start of each presence map in `ROWS`.
        sizes: bytes of both files, and of all tars.
        window: the file `WINDOW`.
    """

    folder: Path
    shards: Sequence[ShardEntry]
    classes: int
    numbers: NDArray[np.int64]
    indexes: IndexFile
    rows: NDArray[np.int64]
    sizes: tuple[int, int, int]
    window: WindowFile

    @classmethod
    def of(cls, folder: Path, manifest: Manifest, split: str | None = None) -> "CachedFiles":
        every = manifest.shards
        own = [split in (None, shard.split) for shard in every]
        indexes = np.cumsum([0, *(s.index_bytes + -s.index_bytes % _ALIGNMENT for s in every)])
        rows = np.cumsum([len(every), *(shard.samples for shard in every)])
        numbers = np.flatnonzero(own)
        shards = tuple(compress(every, own))
        sizes = int(indexes[-1]), int(rows[-1]), sum(shard.bytes for shard in every)
        file, window = IndexFile(folder / INDEXES, indexes[numbers].tolist()), folder / WINDOW
        of_all = len(manifest.classes), numbers, file, rows[numbers], sizes, WindowFile(window)
        return cls(folder, shards, *of_all)

    def index(self, number: int, *, has_images: bool | None = None) -> Index:
        """Open an index, and check it as `Index.of_shard` does."""
        shard = self.shards[number]
        with self._readable():
            return self.indexes.index(
                number, self.folder, shard, classes=self.classes, has_images=has_images
            )

    def is_packed_index(self, number: int) -> bool:
        """Whether an index is the one that was packed, so that the store has its faults."""
        shard = self.shards[number]
        try:
            with self._readable():
                return is_index(shard, self.indexes.content(number, shard.index_bytes))
        except FormatError:
            return False

    @contextmanager
    def _readable(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else error
            raise FormatError(
                f"{self.indexes.path}: the indexes cannot be read: {reason}."
            ) from error

    def presence(self, number: int) -> PresenceMap:
        """Open the presence map of a shard, for reading.

        Raises:
            ReaderError: it cannot be read.
        """
        return self._map(self.shards[number].samples, int(self.rows[number]))

    def places(self, number: int) -> NDArray[np.int32]:
        """Map the places of a shard's rows in the transit window, for reading."""
        file = open_regular(self.folder / PLACES)
        try:
            start, count = int(self.rows[number]), self.shards[number].samples
            return np.frombuffer(map_part(file, start * PLACE_BYTES, count * PLACE_BYTES), np.int32)
        finally:
            os.close(file)

    def all_rows(self) -> PresenceMap:
        """Open the file of the presence maps, for the process that fetches."""
        return self._map(self.sizes[1], is_writable=True)

    def _map(self, count: int, start: int = 0, *, is_writable: bool = False) -> PresenceMap:
        path = self.folder / ROWS
        try:
            return PresenceMap.open(path, count, start, is_writable=is_writable)
        except (OSError, ValueError) as error:
            raise ReaderError(
                f"{path}: it cannot be read: {error}. The folder is a cache: run `rm -r "
                f"{self.folder}`, and open the dataset again."
            ) from error


def is_index(shard: ShardEntry, content: bytes | memoryview) -> bool:
    return checksum_of(content) == shard.index_checksum
