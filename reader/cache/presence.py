"""The presence map of a shard: one byte for each sample in its tar, in a file that all map.

The file has the maps of all shards, see `files`.

Guarantees, without a lock: bytes are in the tar before their row is marked, and the mark is removed
before the bytes. Each time a row is filled, its byte changes (among 64), so a reader that sees the
same byte before and after a read has read valid bytes. Samples that were in the cache when the
machine crashed are checked before they count as present (`unverified`).

To fill or clear rows, a process claims them by a lock of the system on their bytes of the map,
which ends with the process.
"""

import contextlib
import fcntl
import mmap
import os
import struct
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reader.format.files import map_part

_THERE = 1
_UNVERIFIED = 128
_STATE = _UNVERIFIED | _THERE
_LOCK = struct.Struct("hhqqi4x")  # struct flock (fcntl(2)): type, whence, start, length, pid


class PresenceMap:
    """The map of `count` rows from a byte of the file on; its `values` are uint8."""

    def __init__(
        self, path: Path, count: int, start: int = 0, *, is_writable: bool = False
    ) -> None:
        self._start = start
        flags = os.O_RDWR if is_writable else os.O_RDONLY
        self._file = os.open(path, flags | os.O_CLOEXEC)
        try:
            access = mmap.ACCESS_WRITE if is_writable else mmap.ACCESS_READ
            self._map = map_part(self._file, start, count, access)
            self.values: NDArray[np.uint8] = np.frombuffer(self._map, np.uint8)
        finally:
            if not is_writable:  # claims need the file
                os.close(self._file)
                self._file = -1

    def __del__(self) -> None:
        if getattr(self, "_file", -1) >= 0:
            os.close(self._file)

    def generation(self, row: int) -> int:
        """Return the row's byte while it is present, otherwise 0."""
        value = self._map[row]
        return value if value & _STATE == _THERE else 0

    def generations(self, rows: NDArray[np.int64]) -> NDArray[np.uint8]:
        found = self.values[rows]
        return np.where(found & _STATE == _THERE, found, 0).astype(np.uint8)

    def present(self, first: int = 0, stop: int | None = None) -> NDArray[np.bool_]:
        return (self.values[first:stop] & _STATE) == _THERE

    def holds(self, first: int, stop: int) -> bool:
        """Whether the tar has bytes of one of these rows, verified or not."""
        return bool((self.values[first:stop] & _THERE).any())

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

    def claim(self, first: int, stop: int) -> bool:
        return self._lock(fcntl.F_WRLCK, first, stop)

    def release(self, first: int, stop: int) -> None:
        with contextlib.suppress(OSError):
            self._lock(fcntl.F_UNLCK, first, stop)

    def _lock(self, kind: int, first: int, stop: int) -> bool:
        wanted = _LOCK.pack(kind, os.SEEK_SET, self._start + first, stop - first, 0)
        try:
            fcntl.fcntl(self._file, fcntl.F_OFD_SETLK, wanted)
        except (BlockingIOError, PermissionError):
            return False
        return True
