"""A tar in the cache of a store, and its rows in the transit window; reads wait for their rows.

Guarantees: a read returns the packed bytes: the row was present before and after the read, so it
was not evicted in between (see `reader.cache.presence`).
"""

import time
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.cache.client import Damaged, Fetching
from reader.cache.files import CachedFiles
from reader.cache.presence import MOVED
from reader.cache.quota import BLOCK
from reader.dataset.tar_bytes import Copy, Numbers, TarBytes
from reader.errors import SampleError, StoreError


class CachedBytes(TarBytes):
    """The tar of the `number`-th shard, whose reads wait until `fetching` has its rows."""

    def __init__(
        self, *tar: Any, files: CachedFiles, fetching: Fetching | None, number: int
    ) -> None:
        """Open the tar with the arguments of `TarBytes`; without `fetching`, rows cannot come."""
        self._rows = files.presence(number)
        self._files = files
        self._fetching = fetching
        self._number = number
        super().__init__(*tar)

    @property
    def _is_there(self) -> bool:
        """Whether the tar is whole, or has to be; it is created when its first row is fetched."""
        if self._fetching is None:
            return bool(self._rows.present().any())
        return self._has_size

    @property
    def _has_size(self) -> bool:
        try:
            return self.path.stat().st_size == self._whole
        except OSError:
            return False

    def _opened(self) -> int:
        if self._fetching is not None and not self._has_size:  # it was truncated, or removed
            self._fetching.want(self._number, np.zeros(0, np.int64))  # creates it
        return super()._opened()

    @property
    def where(self) -> str:
        return (
            super().where if self._fetching is None else f"{self._fetching.url}/{self._entry.file}"
        )

    def read_ahead(self, row: int, offset: int, size: int) -> None:
        """Read bytes of a row ahead from disk, or the whole row from the store."""
        generation = self._rows.generation(row)
        if generation and not generation & MOVED:
            super().read_ahead(row, offset, size)
        elif not generation and self._fetching is not None:
            self._fetching.hint(self._number, np.array([row]))

    @cached_property
    def _places(self) -> NDArray[np.int32]:
        return self._files.places(self._number)

    def copy(self, rows: NDArray[np.int64] | slice, begin: int, end: int, copy: Copy) -> None:
        """Copy as `TarBytes` does; repeat if a row was evicted in between."""
        numbers = np.arange(len(self._index))[rows]
        while True:
            while not (before := self._rows.generations(numbers)).all():
                self._wait(numbers[before == 0])
            if (moved := (before & MOVED) > 0).any():
                places = self._places[numbers[moved]].astype(np.int64) * BLOCK
                copy(self._files.window.mapping, np.flatnonzero(moved), places)
                if not moved.all():
                    in_tar = partial(_of_some, copy, np.flatnonzero(~moved))
                    super().copy(rows, begin, end, in_tar)
            else:
                super().copy(rows, begin, end, copy)
            if (self._rows.generations(numbers) == before).all():
                return

    def read(self, row: int, offset: int, size: int) -> memoryview:
        while True:
            while not (before := self._rows.generation(row)):
                self._wait(np.array([row]))
            if before & MOVED:
                at = int(self._places[row]) * BLOCK + offset
                memory = self._read(self._files.window.file, row, at, size)
            else:
                memory = super().read(row, offset, size)
            if self._rows.generation(row) == before:
                return memory

    def _wait(self, rows: NDArray[np.int64]) -> None:
        first = int(rows[0])
        if self._fetching is None:
            raise self.error(
                first,
                "it is not in this cache. To fetch missing samples, open the dataset by its URL",
            )
        began = time.perf_counter_ns()
        try:
            self._fetching.want(self._number, rows)
        except Damaged as error:
            raise SampleError(str(error)) from None
        except StoreError as error:
            key = self._index.key(first)
            raise StoreError(f"At sample {key!r} of {self._entry.file}: {error}") from None
        finally:
            self._buffer.waited += time.perf_counter_ns() - began


def _of_some(copy: Copy, which: Numbers, tar: Any, _: Numbers | None, moved: Numbers | int) -> None:
    copy(tar, which, moved)
