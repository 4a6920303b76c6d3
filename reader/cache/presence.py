"""The presence map of a shard: one byte for each sample in the cache, in a file that all map.

The file has the maps of all shards, see `files`. A row is in its shard's tar, or `MOVED` into the
transit window.

Guarantees, without a lock: bytes are in their file before the row is marked, and the mark is
removed before they are overwritten. Each time a row is filled, its byte changes (among 32), so a
reader that sees the same byte before and after a read has read valid bytes. Samples that were in
the cache when the machine crashed are checked before they count as present (`unverified`).

Only the process that fetches into the folder fills and clears rows, see `turns`.
"""

import mmap
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reader.cache.own_files import open_own
from reader.format.files import map_part

MOVED = 64
_THERE = 1
_UNVERIFIED = 128
_COUNT = MOVED - 1  # of fillings, and the last bit: whether it is there
_STATE = _UNVERIFIED | _THERE


class PresenceMap:
    """A map of rows; its `values` are uint8."""

    def __init__(self, memory: memoryview) -> None:
        self._map = memory
        self.values: NDArray[np.uint8] = np.frombuffer(memory, np.uint8)

    @classmethod
    def open(
        cls, path: Path, count: int, start: int = 0, *, is_writable: bool = False
    ) -> "PresenceMap":
        """Map `count` rows from a byte of the file on."""
        file = open_own(path, os.O_RDWR if is_writable else os.O_RDONLY)
        try:
            access = mmap.ACCESS_WRITE if is_writable else mmap.ACCESS_READ
            return cls(map_part(file, start, count, access))
        finally:
            os.close(file)

    def part(self, start: int, count: int) -> "PresenceMap":
        return PresenceMap(self._map[start : start + count])

    def generation(self, row: int) -> int:
        """Return the row's byte while it is present, otherwise 0."""
        value = self._map[row]
        return value if value & _STATE == _THERE else 0

    def generations(self, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        found = self.values[rows]
        return np.where(found & _STATE == _THERE, found, 0).astype(np.uint8)

    def present(self, first: int = 0, stop: int | None = None) -> NDArray[np.bool_]:
        return (self.values[first:stop] & _STATE) == _THERE

    def held(self, first: int = 0, stop: int | None = None) -> NDArray[np.bool_]:
        """Return whether the tar has bytes of each of these rows, verified or not."""
        return (self.values[first:stop] & (_THERE | MOVED)) == _THERE

    def absent(self, first: int, stop: int) -> list[int]:
        """Return the rows that are missing: as a list, which is faster than arrays for a few."""
        values = self._map[first:stop]
        return [row for row, value in enumerate(values, first) if value & _STATE != _THERE]

    def unverified(self, first: int, stop: int) -> list[int]:
        """Return the rows whose bytes have to be checked first."""
        values = self._map[first:stop]
        return [row for row, value in enumerate(values, first) if value & _STATE == _STATE]

    def fill(self, row: int, *, is_moved: bool = False) -> None:
        self._map[row] = (self._map[row] & _COUNT) | _THERE | (MOVED * is_moved)

    def clear(self, row: int) -> None:
        """Mark a row as missing, before its bytes are removed, or because they are damaged."""
        value = self._map[row] & _COUNT
        if value & _THERE:
            self._map[row] = (value + 1) & _COUNT

    def clear_all(self, kind: int = _THERE) -> None:
        """Mark all rows of a kind as missing."""
        found = (self.values & kind) > 0
        self.values[found] = ((self.values[found] & _COUNT | _THERE) + 1) & _COUNT

    def invalidate(self) -> None:
        found = self.present()
        self.values[found] |= _UNVERIFIED
