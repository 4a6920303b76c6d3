"""The one hand that writes rows of a batch.

A row is one entry in each of a batch's arrays (`reader.batch.layout`). Whether its sample was read,
took the place of another, is masked or was gathered with thousands of others: what a row consists
of, and what of a sample lies in none of the arrays, is decided here.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.batch.layout import BatchArrays, BatchLayout, Bytes, Column
from reader.gpu_decode.parcels import CONTENT, PARCEL, Packed
from reader.samples.drawing import Planned
from reader.samples.raw import Gatherer
from reader.samples.sample import READ_ONLY, Recipe, Sample, SampleReader

_TENSOR_TYPES = "?efdFD" + np.typecodes["AllInteger"]  # NumPy's types that torch has too


class InArray:
    """Stands where a value would, that has its place in an array of the batch."""


class RowWriter:
    """Writes rows, of one chunk of a batch after the other.

    What it gives back for a row are the values of `loose_fields`: `InArray` for one that has its
    place in an array.
    """

    def __init__(self, layout: BatchLayout, recipe: Recipe) -> None:
        self._layout = layout
        self._loose = loose_fields(layout, recipe)
        self._is_drawn = layout.image != (0, 0)
        # Views that are drawn where they lie; what `map_sample` makes of them is stored.
        self._further = layout.parts("image")[1:] if self._is_drawn else ()
        own = {*self._further, CONTENT, PARCEL, "size"}
        self._columns = [column for column in layout.columns if column.name not in own]
        self._arrays: BatchArrays
        self._rows = slice(0)  # of the chunk
        self._content: Bytes  # of the whole batch: images that are not decoded, one by one
        self._next = self._end = 0  # where the chunk's next one may lie

    def begin(self, slot: Bytes, row: int, rows: int) -> None:
        """Turn to a chunk: `rows` rows of a slot from `row` on."""
        self._arrays = self._layout.arrays(slot)
        self._rows = slice(row, row + rows)
        if self._layout.encoded is not None:
            content = self._arrays.columns[CONTENT]
            self._content = content.reshape(-1)
            self._next, self._end = row * content.shape[1], (row + rows) * content.shape[1]

    def write(
        self, row: int, reader: SampleReader, planned: Planned, *, is_valid: bool
    ) -> tuple[Any, ...]:
        """Read a sample into its row; its image is decoded where it lies.

        Raises:
            SampleError: it cannot be read, or does not fit the batch's arrays.
        """
        arrays, size = self._arrays, planned.view.size
        outs = None
        if self._is_drawn:
            outs = [
                arrays.image_of(row, *size),
                *(arrays.columns[name][row] for name in self._further),
            ]
        sample = reader.read(planned, outs)
        if self._layout.encoded is not None:
            sample["image"] = self._put(row, sample["image"])
        arrays.index[row], arrays.valid[row] = planned.number, is_valid
        arrays.label[row] = planned.label
        arrays.shape[row] = size
        if "size" in arrays.columns:
            arrays.columns["size"][row] = planned.told("size")
        try:
            sample = apart(sample, self._layout.views)
            for column in self._columns:
                sample[column.name] = self._store(row, column, sample[column.name])
        except ValueError as error:
            raise planned.shard.error(planned.row, str(error)) from error
        return tuple(sample[name] for name in self._loose)

    def mask(self, row: int, number: int) -> tuple[Any, ...]:
        """Put black that is not valid into the row of a sample that cannot be read."""
        arrays = self._arrays
        for name, values in (("image", arrays.image), *arrays.columns.items()):
            if name != CONTENT:  # where other rows' bytes may be
                values[row] = -1 if name == "label" and values.dtype.kind in "if" else 0
        arrays.index[row], arrays.valid[row] = number, False
        arrays.label[row] = -1
        arrays.shape[row] = self._layout.image
        return tuple(InArray if name in arrays.columns else None for name in self._loose)

    def gather(
        self,
        gatherer: Gatherer,
        samples: NDArray[np.int64],
        epoch: int,
        positions: NDArray[np.int64],
        valid: int,
    ) -> None:
        """Fill all rows of the chunk at once, the first `valid` of them valid.

        Raises:
            ShardfeedError: one of them cannot be read.
        """
        rows = self._arrays.part(self._rows.start, self._rows.stop)
        gatherer.fill(rows.image, rows.label, samples, epoch, positions)
        rows.index[:], rows.valid[:] = samples, np.arange(len(samples)) < valid
        rows.shape[:] = self._layout.image
        if "size" in rows.columns:
            rows.columns["size"][:] = gatherer.size

    def _put(self, row: int, packed: Packed) -> bytes | None:
        """Put an image that is not decoded behind the one before it.

        Returns:
            Its bytes where the chunk has no room left for them.
        """
        size = sum(len(part) for part in packed.parts)
        fits = self._next + size <= self._end
        offset = self._next if fits else -1
        self._arrays.columns[PARCEL][row] = packed.parcel._replace(offset=offset)
        if not fits:
            return b"".join(map(bytes, packed.parts))
        for part in packed.parts:
            self._content[self._next : self._next + len(part)] = part
            self._next += len(part)
        return None

    def _store(self, row: int, column: Column, given: Any) -> Any:
        """Put a field's value into its array.

        Returns:
            `InArray`; or the value, where it does not fit a column that `spills`.

        Raises:
            ValueError: it is not an array of the column's type and shape.
        """
        if given is None and column.spills:
            return None
        value = as_array(given)
        if value is None or value.dtype.str != column.dtype:
            found = "no array" if value is None else f"of type {value.dtype}"
            raise ValueError(_differs(column, found))
        if column.spills and value.shape != column.shape:
            return value
        if column.is_picture:
            out = self._arrays.picture_of(column.name, row, *value.shape[:2])
        else:
            out = self._arrays.columns[column.name][row : row + 1].reshape(column.shape)
        if out.shape != value.shape:
            raise ValueError(_differs(column, f"of shape {value.shape}"))
        out[...] = value
        return InArray


def loose_fields(layout: BatchLayout, recipe: Recipe) -> list[str]:
    """The fields, or their views, that may lie in no array of a batch."""
    in_arrays = {column.name for column in layout.columns if not column.spills}
    mapped = recipe.mapped_names if recipe.map_sample else set()
    own = {"image", "label", *READ_ONLY} - mapped
    if recipe.is_encoded:  # what has no room in its slot
        own.discard("image")
    parts = [part for name in recipe.names for part in layout.parts(name)]
    return [part for part in parts if part not in in_arrays | own]


def apart(sample: Sample, views: Mapping[str, Sequence[str]]) -> Sample:
    """The sample with each field's views under their names of `BatchLayout.views`.

    Raises:
        ValueError: a field is not a list of its views.
    """
    parts: Sample = {}
    for name, names in views.items():
        if not are_views(sample[name], len(names)):
            raise ValueError(
                f"its {name} is not a list of {len(names)} views, but that of the first sample is; "
                "give collate_fn= to batch values that differ"
            )
        parts.update(zip(names, sample[name], strict=True))
    return sample | parts


def are_views(value: Any, count: int) -> bool:
    """Whether a field's value is a list of so many views."""
    return isinstance(value, (list, tuple)) and len(value) == count


def as_array(value: Any) -> NDArray[Any] | None:
    """A value that can become a tensor of its own type and shape, in this machine's byte order.

    Numbers, arrays of them and torch's tensors are such; strings, dates and structures are not.
    """
    if isinstance(value, (str, bytes, dict, list, tuple)) or value is None:
        return None
    try:
        array = np.asarray(value)
    except (TypeError, RuntimeError):  # torch's tensors of bfloat16, or with a gradient
        return None
    if array.dtype.char not in _TENSOR_TYPES:
        return None
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def _differs(column: Column, found: str) -> str:
    return (
        f"its {column.name} is {found}, but that of the first sample {np.dtype(column.dtype)} "
        f"{column.shape}; give collate_fn= to batch values that differ"
    )
