"""Write rows of a batch in workers: one by one, masked, or a whole chunk at once."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.batch.layout import BatchArrays, Bytes
from reader.fields.columns import BatchSchema, ImageColumn
from reader.fields.pixels import Planned
from reader.fields.raw import RawBatchReader
from reader.fields.sample import SampleReader
from reader.fields.values import are_views


class RowWriter:
    """Writes the rows of one chunk after the other; returns the values of `BatchSchema.loose`."""

    def __init__(self, schema: BatchSchema) -> None:
        self._layout = schema.layout
        self._columns = columns = schema.columns
        self._images = [column for column in columns if isinstance(column, ImageColumn)]
        self._room = self._images[0].room if self._images else (0, 0)
        self._loose = [column for column in columns if column.is_loose]
        self._stored = [
            column
            for column in columns
            if column.size() and not (column.is_loose or isinstance(column, ImageColumn))
        ]
        self._views = [
            [column.name for column in columns]
            for columns in schema.fields
            if len(columns) > 1 and not isinstance(columns[0], ImageColumn)
        ]
        self._arrays: BatchArrays
        self._rows = slice(0)  # of the chunk

    def begin(self, slot: Bytes, row: int, rows: int, drawn: int = 0) -> None:
        self._arrays = self._layout.arrays(slot)
        self._rows = slice(row, row + rows)
        for column in self._loose:
            column.begin(self._arrays, self._rows, drawn)

    def write(
        self, row: int, reader: SampleReader, planned: Planned, *, is_valid: bool
    ) -> tuple[Any, ...]:
        arrays = self._arrays
        places = zip(self._images, planned.views, strict=False)
        try:
            outs = [column.out(arrays, row, view.size) for column, view in places]
        except ValueError as error:
            raise planned.shard.error(planned.row, str(error)) from error
        sample = reader.read(planned, outs)
        arrays["index"][row], arrays["valid"][row] = planned.number, is_valid
        arrays["shape"][row] = planned.views[0].size
        try:
            for names in self._views:
                sample = sample | _by_view(sample[names[0]], names)
            for column in self._stored:
                column.store(arrays, row, sample[column.name])
            if not self._loose:
                return ()
            return tuple([c.store(arrays, row, sample[c.name]) for c in self._loose])
        except ValueError as error:
            raise planned.shard.error(planned.row, str(error)) from error

    def mask(self, row: int, number: int) -> tuple[Any, ...]:
        arrays = self._arrays
        values = {column.name: column.mask(arrays, row) for column in self._columns}
        arrays["index"][row], arrays["valid"][row] = number, False
        arrays["shape"][row] = self._room
        return tuple(values[column.name] for column in self._loose)

    def gather(
        self,
        reader: RawBatchReader,
        samples: NDArray[np.int64],
        epoch: int,
        positions: NDArray[np.int64],
        valid: int,
    ) -> None:
        """Fill all rows of the chunk at once; the first `valid` ones are valid."""
        rows = self._arrays.part(self._rows.start, self._rows.stop)
        raw = reader.fill(rows["image"], samples, epoch, positions)
        for name in raw.keys() & rows.keys():
            rows[name][:] = raw[name]
        rows["index"][:], rows["valid"][:] = samples, np.arange(len(samples)) < valid
        rows["shape"][:] = self._room


def _by_view(value: Any, names: Sequence[str]) -> dict[str, Any]:
    if not are_views(value, len(names)):
        raise ValueError(
            f"its {names[0]} is not a list of {len(names)} views, unlike the first sample's; give "
            "collate_fn= to batch values that differ"
        )
    return dict(zip(names, value, strict=True))
