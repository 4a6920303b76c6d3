"""The columns of a batch: the arrays of each, how a row is stored, and what the loop gets."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reader.batch.layout import ArraySpec, BatchArrays, BatchLayout, Bytes
from reader.dataset.dataset import Dataset
from reader.fields.values import InArray, PictureForm, are_views, as_array, in_own_shape

# Arrays of every batch: the samples' numbers, their validity, and (height, width) of their images.
_OWN = ArraySpec("index", "<i8"), ArraySpec("valid", "|b1"), ArraySpec("shape", "<i4", (2,))


class StoredBatch(NamedTuple):
    rows: int  # of a full batch
    arrays: BatchArrays
    loose: Mapping[str, Sequence[Any]]  # by column, the rows' values that are not in arrays
    dataset: Dataset


@dataclass
class Column:
    """A field in a batch; this one is an array that every batch has."""

    name: str

    is_loose: bool = False  # `store` may return a value, which is sent by message
    is_image: ClassVar[bool] = False  # it is delivered as images are

    @property
    def parts(self) -> "Sequence[Column]":
        return (self,)

    def size(self) -> tuple[ArraySpec, ...]:
        return ()

    def begin(self, arrays: BatchArrays, rows: slice, drawn: int) -> None:
        """Begin with the rows of a chunk, in a batch whose first `drawn` images are decoded."""

    def store(self, arrays: BatchArrays, row: int, value: Any) -> Any:
        """Store a row's value; return `InArray`, or the value itself if it is not in an array."""
        return value

    def mask(self, arrays: BatchArrays, row: int) -> Any:
        for spec in self.size():
            arrays[spec.name][row] = 0
        return InArray if self.size() else None

    def deliver(self, batch: StoredBatch) -> Any:
        from reader.fields.tensors import from_numpy

        return from_numpy(batch.arrays[self.name])


@dataclass
class TextColumn(Column):
    def deliver(self, batch: StoredBatch) -> list[str]:
        texts = batch.dataset.keys if self.name == "key" else batch.dataset.names
        return [texts[number] for number in batch.arrays["index"].tolist()]


@dataclass
class SourceColumn(Column):
    """Which dataset of a Mix each sample is from, by its number."""

    def deliver(self, batch: StoredBatch) -> Any:
        from reader.fields.tensors import from_numpy

        return from_numpy(batch.dataset.sources(batch.arrays["index"]))


@dataclass
class NumberColumn(Column):
    """Numbers of one type and shape, such as a class."""

    dtype: str = "<i8"
    shape: tuple[int, ...] = ()
    absent: int = 0  # in a masked row

    def size(self) -> tuple[ArraySpec, ...]:
        return (ArraySpec(self.name, self.dtype, self.shape),)

    def store(self, arrays: BatchArrays, row: int, value: Any) -> Any:
        arrays[self.name][row] = value
        return InArray

    def mask(self, arrays: BatchArrays, row: int) -> Any:
        arrays[self.name][row] = self.absent
        return InArray


@dataclass
class JsonColumn(NumberColumn):
    """Numbers of JSON, or lists of them, of one shape."""

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
        return super().store(arrays, row, found)


@dataclass
class ImageColumn(Column):
    """One view of the images: uint8 (height, width, channels), smaller ones at the beginning."""

    room: tuple[int, int] = (0, 0)
    channels: int = 3
    is_listed: bool = False  # they differ in size, and are delivered as a list

    is_image: ClassVar[bool] = True

    def size(self) -> tuple[ArraySpec, ...]:
        return (ArraySpec(self.name, "|u1", (*self.room, self.channels)),)

    def out(self, arrays: BatchArrays, row: int, height: int, width: int) -> Bytes | None:
        if (height, width) == self.room:
            memory: Bytes = arrays[self.name][row]
            return memory
        if not self.is_listed:  # dataset.json may be wrong
            most, across = self.room
            raise ValueError(
                f"its image would have {height} x {width} pixels in a batch of {most} x {across}: "
                "dataset.json has other sizes than the index, or a transform gives several"
            )
        return in_own_shape(arrays[self.name][row], (height, width))

    def deliver(self, batch: StoredBatch) -> Any:
        """Return a tensor (B, channels, H, W) in channels_last memory, or a list."""
        from reader.fields.tensors import from_numpy, listed

        if not self.is_listed:
            return from_numpy(batch.arrays[self.name]).permute(0, 3, 1, 2)
        rows = _rows(batch.arrays, self.name)
        return listed([from_numpy(row).permute(2, 0, 1) for row in rows], batch.rows)


@dataclass
class ValuesColumn(Column):
    """Values of any kind, such as boxes: a list, whose rows are sent by message."""

    is_loose: bool = True
    form: PictureForm | None = None

    @property
    def is_image(self) -> bool:  # type: ignore[override]
        return self.form is not None

    def deliver(self, batch: StoredBatch) -> Any:
        return self._values(batch.loose[self.name])

    def _values(self, rows: Sequence[Any]) -> list[Any]:
        from reader.fields.tensors import channels_first, tensor

        values = [tensor(value) for value in rows]
        return values if self.form is None else [channels_first(v, self.form) for v in values]


@dataclass
class ArrayColumn(ValuesColumn):
    """Arrays of the first sample's type and shape; if `is_loose`, others turn it into a list."""

    is_loose: bool = False
    dtype: str = "|u1"
    shape: tuple[int, ...] = ()
    axis: int | None = None  # of the height and width, if rows have those of their images
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
        out = arrays[self.name][row : row + 1].reshape(self.shape)
        if self.axis is not None:
            out = in_own_shape(out, array.shape[self.axis :][:2], self.axis)
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
        if self.axis is not None:
            rows = _rows(batch.arrays, self.name, self.axis)
            return listed(self._values(rows), batch.rows)
        if self.is_listed or any(value is not InArray for value in given):
            pairs = zip(batch.arrays[self.name], given, strict=True)
            values = self._values([row if value is InArray else value for row, value in pairs])
            return listed(values, batch.rows)
        tensor = from_numpy(batch.arrays[self.name])
        return channels_first(tensor, self.form) if self.form and tensor.dim() > 3 else tensor

    def _differs(self, found: str) -> ValueError:
        return ValueError(
            f"its {self.name} is {found}, but the first sample's is {np.dtype(self.dtype)} "
            f"{self.shape}; give collate_fn= to batch values that differ"
        )


@dataclass
class ViewsColumn(Column):
    views: tuple[Column, ...] = ()

    def __post_init__(self) -> None:
        self.is_loose = any(view.is_loose for view in self.views)

    @property
    def is_image(self) -> bool:  # type: ignore[override]
        return self.views[0].is_image

    @property
    def parts(self) -> Sequence[Column]:
        return self.views

    def size(self) -> tuple[ArraySpec, ...]:
        return tuple(spec for view in self.views for spec in view.size())

    def store(self, arrays: BatchArrays, row: int, value: Any) -> Any:
        if not are_views(value, len(self.views)):
            raise ValueError(
                f"its {self.name} is not a list of {len(self.views)} views, unlike the first "
                "sample's; give collate_fn= to batch values that differ"
            )
        return [c.store(arrays, row, one) for c, one in zip(self.views, value, strict=True)]

    def mask(self, arrays: BatchArrays, row: int) -> Any:
        return [view.mask(arrays, row) for view in self.views]

    def deliver(self, batch: StoredBatch) -> list[Any]:
        loose = zip(*batch.loose[self.name], strict=True) if self.is_loose else ()
        given = {view.name: rows for view, rows in zip(self.views, loose, strict=False)}
        return [view.deliver(batch._replace(loose=given)) for view in self.views]


def _rows(arrays: BatchArrays, name: str, axis: int = 0) -> list[NDArray[Any]]:
    shapes = zip(arrays[name], arrays["shape"].tolist(), strict=True)
    return [in_own_shape(room, shape, axis) for room, shape in shapes]


@dataclass(frozen=True)
class BatchSchema:
    rows: int  # samples in a batch
    columns: tuple[Column, ...]
    is_gathered: bool = False  # whole chunks are filled at once, by `reader.fields.raw`

    @classmethod
    def of_images(cls, rows: int, size: tuple[int, int]) -> "BatchSchema":
        return cls(rows, (ImageColumn("image", room=size), NumberColumn("label", absent=-1)))

    @cached_property
    def layout(self) -> BatchLayout:
        specs = [spec for column in self.columns for spec in column.size()]
        return BatchLayout(self.rows, (*specs, *_OWN))

    @property
    def loose(self) -> list[str]:
        return [column.name for column in self.columns if column.is_loose]
