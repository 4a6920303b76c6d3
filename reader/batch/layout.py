"""What a batch is: which arrays it has, and where they lie in a slot of the ring."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

_ALIGNMENT = 4096  # a slot begins on a page

Bytes = NDArray[Any]  # uint8


@dataclass(frozen=True)
class Column:
    """A further array of a batch: one value of `dtype` and `shape` a row.

    `is_picture`: the shape is room for the largest; each row's own height and width are those of
    its image. `spills`: a row whose value has another shape, or is None, lies elsewhere.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    is_picture: bool = False
    spills: bool = False

    def array(self, rows: int, memory: Bytes) -> NDArray[Any]:
        """The array at the beginning of `memory`."""
        size = rows * self.row_bytes
        return memory[:size].view(self.dtype).reshape(rows, *self.shape)

    @property
    def row_bytes(self) -> int:
        """Bytes of one row."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


@dataclass(frozen=True)
class BatchLayout:
    """Where the arrays of a batch lie in its slot.

    Attributes:
        rows: samples a batch.
        image: (height, width) of the largest image; every row has room for it.
        columns: what a batch has beside image, label, index, shape and valid.
        encoded: (height, width) of images whose bytes lie in columns instead, to be decoded later.
        views: of each field that is a list of views, the names that these go by here, one by one;
            the first has the field's own.
        listed: of these names, those whose rows differ in shape, and come as a list.
        channels: of the images, 3 or 1.
    """

    rows: int
    image: tuple[int, int]
    columns: tuple[Column, ...] = ()
    encoded: tuple[int, int] | None = None
    views: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    listed: frozenset[str] = frozenset()
    channels: int = 3

    def parts(self, name: str) -> tuple[str, ...]:
        """The names that a field's views go by, or its own."""
        return self.views.get(name, (name,))

    def column(self, name: str) -> Column:
        """The column of this name, which there is."""
        return next(column for column in self.columns if column.name == name)

    @cached_property
    def slot_bytes(self) -> int:
        """Bytes a slot, in whole pages."""
        size = self._column_offsets[-1]
        return size + -size % _ALIGNMENT

    @cached_property
    def _shape_offset(self) -> int:
        return self._index_offset + 8 * self.rows

    @cached_property
    def _label_offset(self) -> int:
        size = self.rows * self.image[0] * self.image[1] * self.channels
        return size + -size % 64

    @cached_property
    def _index_offset(self) -> int:
        return self._label_offset + 8 * self.rows

    @cached_property
    def _valid_offset(self) -> int:
        return self._shape_offset + 8 * self.rows

    @cached_property
    def _column_offsets(self) -> list[int]:
        """Where each column begins, aligned to 8 bytes, and where the last one ends."""
        sizes = [self.rows, *(self.rows * column.row_bytes for column in self.columns)]
        return [*accumulate((size + -size % 8 for size in sizes), initial=self._valid_offset)][1:]

    def arrays(self, slot: Bytes) -> "BatchArrays":
        """The batch's arrays over a slot's bytes."""
        shape = self.rows, *self.image, self.channels
        return BatchArrays(
            image=slot[: math.prod(shape)].reshape(shape),
            label=slot[self._label_offset : self._index_offset].view(np.int64),
            index=slot[self._index_offset : self._shape_offset].view(np.int64),
            shape=slot[self._shape_offset : self._valid_offset].view(np.int32).reshape(-1, 2),
            valid=slot[self._valid_offset : self._valid_offset + self.rows].view(np.bool_),
            columns={
                column.name: column.array(self.rows, slot[offset:])
                for column, offset in zip(self.columns, self._column_offsets, strict=False)
            },
        )


@dataclass(frozen=True)
class BatchArrays:
    """A batch: image (B, H, W, channels) uint8, label and index (B,) int64, valid (B,) bool.

    `shape` (B, 2) int32 is each image's own height and width; a smaller image fills the beginning
    of its row's memory. `columns` are the layout's further arrays by name, one row a sample.
    """

    image: Bytes
    label: NDArray[np.int64]
    index: NDArray[np.int64]
    shape: NDArray[np.int32]
    valid: NDArray[np.bool_]
    columns: dict[str, NDArray[Any]] = field(default_factory=dict)

    def image_of(self, row: int, height: int, width: int) -> Bytes:
        """The (height, width, channels) image at the beginning of a row's memory.

        Raises:
            ValueError: the row has no room for it.
        """
        return _picture(self.image[row], height, width)

    def images(self) -> list[Bytes]:
        """Each image in its own shape."""
        return [self.image_of(row, h, w) for row, (h, w) in enumerate(self.shape.tolist())]

    def picture_of(self, name: str, row: int, height: int, width: int) -> NDArray[Any]:
        """The same for a column of pictures."""
        return _picture(self.columns[name][row], height, width)

    def pictures(self, name: str) -> list[NDArray[Any]]:
        """Each picture of a column in its own shape."""
        shapes = enumerate(self.shape.tolist())
        return [self.picture_of(name, row, h, w) for row, (h, w) in shapes]

    def part(self, start: int, stop: int) -> "BatchArrays":
        """The samples of some rows."""
        return self._each(lambda array: array[start:stop])

    def copy(self) -> "BatchArrays":
        """The same in memory of its own."""
        return self._each(np.copy)

    def _each(self, change: Callable[[Any], Any]) -> "BatchArrays":
        return BatchArrays(
            change(self.image),
            change(self.label),
            change(self.index),
            change(self.shape),
            change(self.valid),
            {name: change(array) for name, array in self.columns.items()},
        )


def _picture(room: NDArray[Any], height: int, width: int) -> NDArray[Any]:
    memory = room.reshape(-1)
    size = height * width * math.prod(room.shape[2:])
    if size > memory.size:
        raise ValueError(f"an image of {height} x {width} pixels does not fit its place")
    return memory[:size].reshape(height, width, *room.shape[2:])
