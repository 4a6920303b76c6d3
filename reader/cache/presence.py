"""The presence map of a shard: one byte for each sample in its tar, in a file that all map.

The file has the maps of all shards, see `files`.

Guarantees, without a lock: bytes are in the tar before their row is marked, and the mark is removed
before the bytes. Each time a row is filled, its byte changes (among 64), so a reader that sees the
same byte before and after a read has read valid bytes. Samples that were in the cache when the
machine crashed are checked before they count as present (`unverified`).

Only the process that fetches into the folder fills and clears rows, see `turns`.
"""

import mmap
import os
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reader.cache.own_files import open_own
from reader.format.files import map_part

_THERE = 1
_UNVERIFIED = 128
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
        return (self.values[first:stop] & _THERE).astype(bool)

    def absent(self, first: int, stop: int) -> list[int]:
        """Return the rows that are missing: as a list, which is faster than arrays for a few."""
        values = self._map[first:stop]
        return [row for row, value in enumerate(values, first) if value & _STATE != _THERE]

    def unverified(self, first: int, stop: int) -> list[int]:
        """Return the rows whose bytes have to be checked first."""
        values = self._map[first:stop]
        return [row for row, value in enumerate(values, first) if value & _STATE == _STATE]

    def fill(self, row: int) -> None:
        self._map[row] = (self._map[row] & ~_UNVERIFIED) | _THERE

    def clear(self, row: int) -> None:
        """Mark a row as missing, before its bytes are removed, or because they are damaged."""
        value = self._map[row] & ~_UNVERIFIED
        if value & _THERE:
            self._map[row] = (value + 1) % _UNVERIFIED

    def clear_all(self) -> None:
        for row in np.flatnonzero(self.values & _THERE).tolist():
            self.clear(row)

    def invalidate(self) -> None:
        found = self.present()
        self.values[found] |= _UNVERIFIED
