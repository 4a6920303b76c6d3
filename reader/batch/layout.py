"""Where the arrays of a batch lie in a slot of the ring."""

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

_PAGE = 4096  # a slot begins on one
_ALIGNMENT = 64  # of each array

Bytes = NDArray[Any]  # uint8


@dataclass(frozen=True)
class ArraySpec:
    """An array of a batch: one value of `dtype` and `shape` a row."""

    name: str
    dtype: str
    shape: tuple[int, ...] = ()

    @property
    def row_bytes(self) -> int:
        """Bytes of one row."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


class BatchArrays(dict[str, NDArray[Any]]):
    """The arrays of a batch by name, one row a sample."""

    def part(self, start: int, stop: int) -> "BatchArrays":
        """Return the samples of some rows."""
        return BatchArrays({name: array[start:stop] for name, array in self.items()})

    def copy(self) -> "BatchArrays":
        """Return the same in memory of its own."""
        return BatchArrays({name: array.copy() for name, array in self.items()})


@dataclass(frozen=True)
class BatchLayout:
    """Where the arrays of a batch of so many rows lie in its slot."""

    rows: int
    specs: tuple[ArraySpec, ...]

    @cached_property
    def slot_bytes(self) -> int:
        """Bytes a slot, in whole pages."""
        size = self._offsets[-1]
        return size + -size % _PAGE

    @cached_property
    def _offsets(self) -> list[int]:
        """Where each array begins, and where the last one ends."""
        sizes = (self.rows * spec.row_bytes for spec in self.specs)
        return [*accumulate((size + -size % _ALIGNMENT for size in sizes), initial=0)]

    def arrays(self, slot: Bytes) -> BatchArrays:
        """Return the batch's arrays over a slot's bytes."""
        found = BatchArrays()
        for spec, offset in zip(self.specs, self._offsets, strict=False):
            memory = slot[offset : offset + self.rows * spec.row_bytes]
            found[spec.name] = memory.view(spec.dtype).reshape(self.rows, *spec.shape)
        return found
