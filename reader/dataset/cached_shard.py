"""A shard in the cache of a store: its reads first wait for what they read.

Purpose: all that reads a shard reads one of these as well, and a shard of a folder pays nothing.

Guarantees: what is given is what was packed: the row was there before the read and still is after
it, so nothing was evicted meanwhile (see `reader.cache.presence`).
"""

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.cache.client import Damaged, Fetching
from reader.cache.presence import PresenceMap
from reader.dataset.shard import Shard
from reader.errors import SampleError, StoreError


class CachedShard(Shard):
    """Reads members by row, for one thread, as soon as they are there."""

    def __init__(
        self,
        *arguments: Any,
        rows: PresenceMap,
        fetching: Fetching | None,
        number: int,
        **options: Any,
    ) -> None:
        """Open the tar.

        Args:
            *arguments: as of `Shard`.
            rows: its map.
            fetching: what brings rows; None where there is nobody who does.
            number: of the shard, for `fetching`.
            **options: as of `Shard`.
        """
        super().__init__(*arguments, **options)
        self._rows = rows
        self._fetching = fetching
        self._number_there = number

    def read_ahead(self, row: int, start: int, stop: int) -> None:
        """Ask the system for a range of the bytes of the row's image, or the store for all."""
        if self._rows.generation(row):
            super().read_ahead(row, start, stop)
        elif self._fetching is not None:
            self._fetching.hint(self._number_there, np.array([row]))

    def generations(self, rows: NDArray[np.int64] | slice) -> NDArray[np.uint8]:
        """See `Shard.generations`; waits until all are there."""
        numbers = np.arange(self.index.columns["offset"].size)[rows]
        while not (found := self._rows.generations(numbers)).all():
            self._wait(numbers[found == 0])
        return found

    def is_still(
        self, rows: NDArray[np.int64] | slice, generations: NDArray[np.uint8] | None
    ) -> bool:
        """See `Shard.is_still`."""
        numbers = np.arange(self.index.columns["offset"].size)[rows]
        return bool((self._rows.generations(numbers) == generations).all())

    def error(self, row: int, reason: str) -> SampleError:
        """The error that names this sample, where it comes from."""
        if self._fetching is None:
            return super().error(row, reason)
        offset = int(self.index.columns["offset"][row])
        return SampleError(
            f"{self._fetching.url}/{self.entry.file}: sample {self.index.key(row)!r} at byte "
            f"{offset}: {reason}."
        )

    def _pread(self, row: int, offset: int, size: int) -> memoryview:
        while True:
            while not (generation := self._rows.generation(row)):
                self._wait(np.array([row]))
            memory = super()._pread(row, offset, size)
            if self._rows.generation(row) == generation:
                return memory

    def _wait(self, rows: NDArray[np.int64]) -> None:
        """Have rows brought."""
        first = int(rows[0])
        if self._fetching is None:
            raise self.error(
                first,
                "it has not been fetched into this cache. Open the dataset by its URL, which "
                "fetches what is missing",
            )
        began = time.perf_counter_ns()
        try:
            self._fetching.want(self._number_there, rows)
        except Damaged as error:
            raise SampleError(str(error)) from None
        except StoreError as error:
            key = self.index.key(first)
            raise StoreError(f"At sample {key!r} of {self.entry.file}: {error}") from None
        finally:
            self._buffer.waited += time.perf_counter_ns() - began
