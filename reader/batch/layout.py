"""The offsets of a batch's arrays in a slot of the ring, and the number of slots (pure)."""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

_PAGE = 4096  # alignment of slots
_ALIGNMENT = 64  # of each array

Bytes = NDArray[Any]  # uint8


@dataclass(frozen=True)
class ArraySpec:
    name: str
    dtype: str
    shape: tuple[int, ...] = ()

    @property
    def row_bytes(self) -> int:
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


class BatchArrays(dict[str, NDArray[Any]]):
    def part(self, start: int, stop: int) -> "BatchArrays":
        return BatchArrays({name: array[start:stop] for name, array in self.items()})

    def copy(self) -> "BatchArrays":
        return BatchArrays({name: array.copy() for name, array in self.items()})


@dataclass(frozen=True)
class BatchLayout:
    rows: int
    specs: tuple[ArraySpec, ...]

    @cached_property
    def slot_bytes(self) -> int:
        size = self._offsets[-1]
        return size + -size % _PAGE

    @cached_property
    def _offsets(self) -> list[int]:
        sizes = (self.rows * spec.row_bytes for spec in self.specs)
        return [*accumulate((size + -size % _ALIGNMENT for size in sizes), initial=0)]

    def arrays(self, slot: Bytes) -> BatchArrays:
        found = BatchArrays()
        for spec, offset in zip(self.specs, self._offsets, strict=False):
            memory = slot[offset : offset + self.rows * spec.row_bytes]
            found[spec.name] = memory.view(spec.dtype).reshape(self.rows, *spec.shape)
        return found


_AHEAD_BYTES = 64 << 20  # small batches are decoded further ahead, up to this much memory
_MAX_AHEAD = 16
_MAX_CHUNK = 32
_MAX_GATHERED = 4096
_LENT = 2  # batches that the consumer may hold


def chunk_size(batch_size: int, workers: int, is_gathered: bool) -> int:
    """Return the samples in a task: a part of a batch for each worker, more if gathered."""
    if is_gathered:
        return min(_MAX_GATHERED, batch_size)
    return min(_MAX_CHUNK, -(-batch_size // workers))


def depth_of(layout: BatchLayout, in_hand: int) -> int:
    """Return the batches to decode ahead: enough for two chunks for every worker."""
    for_workers = 1 + -(-2 * in_hand // layout.rows)
    return max(2, for_workers, min(_MAX_AHEAD, _AHEAD_BYTES // layout.slot_bytes))


def slots_of(depth: int) -> int:
    return depth + _LENT
