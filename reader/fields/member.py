"""Values of members and of `map_sample`: arrays, masks, boxes and any others."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.batch.layout import ArraySpec, BatchArrays
from reader.fields.column import Column, StoredBatch
from reader.fields.values import InArray, PictureForm, as_array, in_own_shape


@dataclass
class MemberColumn(Column):
    """Values of any kind, such as boxes: a list, whose rows are sent by message."""

    is_loose: bool = True
    form: PictureForm | None = None

    @property
    def is_image(self) -> bool:  # type: ignore[override]
        return self.form is not None

    def store(self, arrays: BatchArrays, row: int, value: Any) -> Any:
        return value

    def deliver(self, batch: StoredBatch) -> Any:
        return self._values(batch.loose[self.name])

    def _values(self, rows: Sequence[Any]) -> list[Any]:
        from reader.fields.tensors import channels_first, tensor

        values = [tensor(value) for value in rows]
        return values if self.form is None else [channels_first(v, self.form) for v in values]


@dataclass
class ArrayColumn(MemberColumn):
    """Arrays of the first sample's type and shape; if `is_loose`, others turn it into a list."""

    dtype: str = "|u1"
    shape: tuple[int, ...] = ()
    is_listed: bool = False  # rows differ in shape, and are delivered as a list

    @property
    def is_image(self) -> bool:  # type: ignore[override]
        return self.form is not None and len(self.shape) > 2

    def size(self) -> tuple[ArraySpec, ...]:
        return (ArraySpec(self.name, self.dtype, self.shape),)

    def store(self, arrays: BatchArrays, row: int, value: Any) -> Any:
        if value is None and self.is_loose:
            return None
        array = as_array(value)
        if array is None or array.dtype.str != self.dtype:
            raise self._differs("no array" if array is None else f"of type {array.dtype}")
        if self.is_loose and array.shape != self.shape:
            return array
        out = self._out(arrays, row, array.shape)
        if out.shape != array.shape:
            raise self._differs(f"of shape {array.shape}")
        out[...] = array
        return InArray

    def mask(self, arrays: BatchArrays, row: int) -> Any:
        values = arrays[self.name]
        values[row] = -1 if self.name == "label" and values.dtype.kind in "if" else 0
        return InArray

    def deliver(self, batch: StoredBatch) -> Any:
        from reader.fields.tensors import channels_first, from_numpy, listed

        given = batch.loose.get(self.name, ())
        if self.is_listed or any(value is not InArray for value in given):
            rows = self._rows(batch.arrays)
            pairs = zip(rows, given or [InArray] * len(rows), strict=True)
            values = self._values([row if value is InArray else value for row, value in pairs])
            return listed(values, batch.rows)
        tensor = from_numpy(batch.arrays[self.name])
        return channels_first(tensor, self.form) if self.form and tensor.dim() > 3 else tensor

    def _out(self, arrays: BatchArrays, row: int, shape: tuple[int, ...]) -> Any:
        return arrays[self.name][row : row + 1].reshape(self.shape)

    def _rows(self, arrays: BatchArrays) -> list[Any]:
        return list(arrays[self.name])

    def _differs(self, found: str) -> ValueError:
        return ValueError(
            f"its {self.name} is {found}, but the first sample's is {np.dtype(self.dtype)} "
            f"{self.shape}; give collate_fn= to batch values that differ"
        )


@dataclass
class NumbersColumn(ArrayColumn):
    """Numbers of JSON, or lists of them, of one shape."""

    is_loose: bool = False

    def store(self, arrays: BatchArrays, row: int, value: Any) -> Any:
        try:
            found = np.asarray(value)
        except ValueError:  # lists of different lengths
            found = np.empty(0, object)
        if found.shape != self.shape or not np.can_cast(found.dtype, self.dtype):
            raise ValueError(
                f"its {self.name} is {value!r:.100}, but those of the first samples are "
                f"{np.dtype(self.dtype)} {self.shape}; to get a list, write "
                f'"{self.name}?" in fields='
            )
        arrays[self.name][row] = found
        return InArray


@dataclass
class MaskColumn(ArrayColumn):
    def _out(self, arrays: BatchArrays, row: int, shape: tuple[int, ...]) -> Any:
        if not self.is_listed:
            return super()._out(arrays, row, shape)
        return in_own_shape(arrays[self.name][row], *shape[:2])

    def _rows(self, arrays: BatchArrays) -> list[Any]:
        shapes = zip(arrays[self.name], arrays["shape"].tolist(), strict=True)
        return [in_own_shape(room, *shape) for room, shape in shapes]


@dataclass
class BandsColumn(ArrayColumn):
    """Arrays (bands, height, width) of one number of bands, smaller ones at the beginning."""

    def _out(self, arrays: BatchArrays, row: int, shape: tuple[int, ...]) -> Any:
        if not self.is_listed:
            return super()._out(arrays, row, shape)
        return _in_own_shape(arrays[self.name][row], *shape[1:])

    def _rows(self, arrays: BatchArrays) -> list[Any]:
        shapes = zip(arrays[self.name], arrays["shape"].tolist(), strict=True)
        return [_in_own_shape(room, *shape) for room, shape in shapes]


def _in_own_shape(room: NDArray[Any], height: int, width: int) -> NDArray[Any]:
    bands, *lengths = room.shape
    return in_own_shape(room.reshape(*lengths, bands), height, width).reshape(-1, height, width)
