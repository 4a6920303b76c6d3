"""The columns of a batch: the arrays of each, how a row is stored, and what the loop gets."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any, ClassVar, NamedTuple

import numpy as np

from reader.batch.layout import ArraySpec, BatchArrays, BatchLayout, Bytes
from reader.dataset.dataset import Dataset
from reader.fields.values import PictureForm, as_array, in_own_shape

# Arrays of every batch: the samples' numbers, their validity, and (height, width) of their images.
_OWN = ArraySpec("index", "<i8"), ArraySpec("valid", "|b1"), ArraySpec("shape", "<i4", (2,))


class InArray:
    """Marks a value that is stored in an array of the batch."""


class StoredBatch(NamedTuple):
    rows: int  # of a full batch
    arrays: BatchArrays
    loose: Mapping[str, Sequence[Any]]  # by column, the rows' values that are not in arrays
    dataset: Dataset


@dataclass
class Column:
    """One view of a field in batches; this one is not stored: the samples' numbers tell it."""

    name: str

    is_loose: bool = False  # `store` may return a value, which is sent by message
    is_image: ClassVar[bool] = False  # it is delivered as images are

    def size(self) -> tuple[ArraySpec, ...]:
        return ()

    def begin(self, arrays: BatchArrays, rows: slice, drawn: int) -> None:
        """Begin with the rows of a chunk, in a batch whose first `drawn` images are decoded."""

    def store(self, arrays: BatchArrays, row: int, value: Any) -> Any:
        """Store a row's value; return `InArray`, or the value itself if it is not in an array."""
        raise NotImplementedError

    def mask(self, arrays: BatchArrays, row: int) -> Any:
        """Store what a row without a sample has; return what `store` would."""

    def deliver(self, batch: StoredBatch) -> Any:
        """Return the rows, as the loop gets them."""
        from reader.fields.tensors import from_numpy

        numbers, dataset = batch.arrays["index"], batch.dataset
        if self.name in ("key", "name"):
            texts = dataset.keys if self.name == "key" else dataset.names
            return [texts[number] for number in numbers.tolist()]
        is_source = self.name == "source"
        return from_numpy(dataset.sources(numbers) if is_source else batch.arrays[self.name])


@dataclass
class NumberColumn(Column):
    """Numbers of one type and shape, such as a class."""

    dtype: str = "<i8"
    shape: tuple[int, ...] = ()
    absent: int = 0  # in a masked row

    def size(self) -> tuple[ArraySpec, ...]:
        return (ArraySpec(self.name, self.dtype, self.shape),) if self.dtype else ()

    def store(self, arrays: BatchArrays, row: int, value: Any) -> Any:
        arrays[self.name][row] = value
        return InArray

    def mask(self, arrays: BatchArrays, row: int) -> Any:
        return NumberColumn.store(self, arrays, row, self.absent) if self.dtype else None


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
class ValuesColumn(NumberColumn):
    """Values of members or `map_sample`, in an array if the first samples have one `dtype`.

    Values that are not in the array are sent by message if `is_loose`, and make a batch a list.
    """

    is_loose: bool = True
    dtype: str = ""
    form: PictureForm | None = None
    axis: int | None = None  # of the height and width, if rows have those of their images
    is_listed: bool = False  # rows differ in shape, and are delivered as a list

    @property
    def is_image(self) -> bool:  # type: ignore[override]
        return self.form is not None and (not self.dtype or len(self.shape) > 2)

    def store(self, arrays: BatchArrays, row: int, value: Any) -> Any:
        if not self.dtype or (value is None and self.is_loose):
            return value
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

    def deliver(self, batch: StoredBatch) -> Any:
        """Return a tensor, or a list of the rows' values; the channels of images come first."""
        from reader.fields.tensors import channels_first, from_numpy, listed, tensor

        array, given = batch.arrays.get(self.name), batch.loose.get(self.name, ())
        found: Iterable[Any]
        if array is None:
            found = map(tensor, given)
        elif self.axis is not None:
            shapes = batch.arrays["shape"].tolist()
            found = map(from_numpy, map(in_own_shape, array, shapes, repeat(self.axis)))
        elif self.is_listed or any(value is not InArray for value in given):
            pairs = zip(array, given, strict=True)
            found = (tensor(row if value is InArray else value) for row, value in pairs)
        else:
            whole = from_numpy(array)
            return channels_first(whole, self.form) if self.form and whole.dim() > 3 else whole
        rows = [channels_first(row, self.form) for row in found] if self.form else list(found)
        return rows if array is None else listed(rows, batch.rows)

    def _differs(self, found: str) -> ValueError:
        return ValueError(
            f"its {self.name} is {found}, but the first sample's is {np.dtype(self.dtype)} "
            f"{self.shape}; give collate_fn= to batch values that differ"
        )


@dataclass
class ImageColumn(ValuesColumn):
    """One view of the images, which are decoded into their rows."""

    is_loose: bool = False

    @classmethod
    def of(
        cls, name: str, room: tuple[int, int], channels: int = 3, *, is_listed: bool = False
    ) -> "ImageColumn":
        form, axis = PictureForm(channels), 0 if is_listed else None
        return cls(name, dtype="|u1", shape=(*room, channels), form=form, axis=axis)

    @property
    def room(self) -> tuple[int, int]:
        return self.shape[0], self.shape[1]

    def out(self, arrays: BatchArrays, row: int, size: tuple[int, int]) -> Bytes | None:
        """Return the memory for a row's image of (height, width)."""
        memory: Bytes = arrays[self.name][row]
        if size == self.shape[:2]:
            return memory
        if self.axis is None:  # dataset.json may be wrong
            (height, width), (most, across) = size, self.room
            raise ValueError(
                f"its image would have {height} x {width} pixels in a batch of {most} x {across}: "
                "dataset.json has other sizes than the index, or a transform gives several"
            )
        return in_own_shape(memory, size)


@dataclass(frozen=True)
class BatchSchema:
    rows: int  # samples in a batch
    fields: tuple[tuple[Column, ...], ...]  # the columns of each; several if it has views
    is_gathered: bool = False  # whole chunks are filled at once, by `reader.fields.raw`

    @classmethod
    def of_images(cls, rows: int, size: tuple[int, int]) -> "BatchSchema":
        image, label = ImageColumn.of("image", size), NumberColumn("label", absent=-1)
        return cls(rows, ((image,), (label,)))

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        return tuple(column for columns in self.fields for column in columns)

    @cached_property
    def layout(self) -> BatchLayout:
        specs = [spec for column in self.columns for spec in column.size()]
        return BatchLayout(self.rows, (*specs, *_OWN))

    @property
    def loose(self) -> list[str]:
        return [column.name for column in self.columns if column.is_loose]
