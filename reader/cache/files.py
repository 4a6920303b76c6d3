"""The indexes and presence maps of all shards in a dataset's folder in the cache.

::

    cached.indexes    the indexes in the order of dataset.json, with holes for other splits
    cached.rows       one byte for each index, then one for each sample, see `presence`

Two files for all shards: to create two for each would take seconds for thousands of shards.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import compress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reader.cache.presence import PresenceMap
from reader.errors import ReaderError
from reader.format import FormatError, Index, Manifest, ShardEntry
from reader.format.checksum import checksum_of
from reader.format.index_file import IndexFile

INDEXES = "cached.indexes"
ROWS = "cached.rows"
_ALIGNMENT = 8  # of an index, whose columns are aligned to their types


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
        sizes: bytes of both files.
    """

    folder: Path
    shards: Sequence[ShardEntry]
    classes: int
    numbers: NDArray[np.int64]
    indexes: IndexFile
    rows: NDArray[np.int64]
    sizes: tuple[int, int]

    @classmethod
    def of(cls, folder: Path, manifest: Manifest, split: str | None = None) -> "CachedFiles":
        every = manifest.shards
        own = [split in (None, shard.split) for shard in every]
        indexes = np.cumsum([0, *(s.index_bytes + -s.index_bytes % _ALIGNMENT for s in every)])
        rows = np.cumsum([len(every), *(shard.samples for shard in every)])
        numbers = np.flatnonzero(own)
        shards, sizes = tuple(compress(every, own)), (int(indexes[-1]), int(rows[-1]))
        file = IndexFile(folder / INDEXES, indexes[numbers].tolist())
        return cls(folder, shards, len(manifest.classes), numbers, file, rows[numbers], sizes)

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
