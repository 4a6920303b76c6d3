"""Files of Arrow by one interface: Parquet, and streams of record batches (``.arrow``)."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

STREAM = ".arrow"


def opened(path: Path) -> Any:
    """A `ParquetFile`, or what reads a stream in the same way; to be closed by ``with``.

    Raises:
        pa.ArrowException, OSError: it is not sound.
    """
    if path.suffix == STREAM:
        return Stream(path)
    return pq.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False)


class Stream:
    """A stream of record batches, which are what row groups are for Parquet.

    The file is mapped: a batch takes memory only where it is read.
    """

    def __init__(self, path: Path) -> None:
        with pa.memory_map(str(path)) as data, pa.ipc.open_stream(data) as stream:
            self.schema_arrow = stream.schema
            self._batches = list(stream)

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to close: what was read from the map keeps it."""

    @property
    def num_row_groups(self) -> int:
        """How many batches there are."""
        return len(self._batches)

    @property
    def metadata(self) -> Any:
        """What tells of each batch, by ``row_group``."""
        return SimpleNamespace(row_group=self._sizes)

    def _sizes(self, group: int) -> Any:
        batch = self._batches[group]
        return SimpleNamespace(num_rows=batch.num_rows, total_byte_size=batch.nbytes)

    def iter_batches(
        self, rows: int, groups: Sequence[int], columns: Sequence[str] | None, **_: Any
    ) -> Iterator[pa.RecordBatch]:
        """The rows of these batches, so many at a time."""
        for group in groups:
            batch = self._batches[group]
            batch = batch if columns is None else batch.select(list(columns))
            for first in range(0, batch.num_rows, rows):
                yield batch.slice(first, rows)

    def read_row_group(self, group: int, columns: Sequence[str], **_: Any) -> pa.Table:
        """These columns of a batch."""
        return pa.Table.from_batches([self._batches[group].select(list(columns))])
