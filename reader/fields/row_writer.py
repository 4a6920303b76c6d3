"""Write rows of a batch in workers: one by one, masked, or a whole chunk at once."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.batch.layout import BatchArrays, Bytes
from reader.fields.encoded import EncodedColumn
from reader.fields.image import ImageColumn
from reader.fields.pixels import Planned
from reader.fields.raw import RawBatchReader
from reader.fields.sample import SampleReader
from reader.fields.schema import BatchSchema


class RowWriter:
    """Writes the rows of one chunk after the other; returns the values of `BatchSchema.loose`."""

    def __init__(self, schema: BatchSchema) -> None:
        self._layout = schema.layout
        self._columns = schema.columns
        parts = [part for column in schema.columns for part in column.parts]
        self._images = [p for p in parts if isinstance(p, (ImageColumn, EncodedColumn))]
        self._room = next((i.room for i in self._images if isinstance(i, ImageColumn)), (0, 0))
        in_arrays = [c for c in schema.columns if c.size() and not c.parts[0].is_drawn]
        self._stored = [column for column in in_arrays if not column.is_loose]
        self._loose = [column for column in schema.columns if column.is_loose]
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
            found = [column.out(arrays, row, *view.size) for column, view in places]
        except ValueError as error:
            raise planned.shard.error(planned.row, str(error)) from error
        outs = [out for out in found if out is not None]
        sample = reader.read(planned, outs or None)
        arrays["index"][row], arrays["valid"][row] = planned.number, is_valid
        arrays["shape"][row] = planned.views[0].size
        try:
            for column in self._stored:
                column.store(arrays, row, sample[column.name])
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
        for column in self._columns:
            column.gather(rows, raw)
        rows["index"][:], rows["valid"][:] = samples, np.arange(len(samples)) < valid
        rows["shape"][:] = self._room
