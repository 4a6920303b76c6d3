"""Values in files of Arrow: Parquet, and streams of record batches (``.arrow``)."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from functools import lru_cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from packer.errors import BadImage, Unreadable

STREAM = ".arrow"
ERRORS = (pa.ArrowException, OSError, ValueError, OverflowError)

_lock = threading.Lock()


def opened(path: Path) -> Any:
    """Return a `ParquetFile`, or what reads a stream in the same way; to be closed by ``with``."""
    if path.suffix == STREAM:
        return nullcontext(Stream(path))  # what was read from the map keeps it
    return pq.ParquetFile(path, buffer_size=1 << 20, pre_buffer=False)


def cell(path: Path, mtime_ns: int, group: int, row: int, column: str) -> bytes:
    """Return the bytes of an image in a file that was last written at `mtime_ns`."""
    with _lock:
        values = _column(path, mtime_ns, group, column)
    if isinstance(values, BadImage):
        raise type(values)(str(values))
    value = values[row].as_py()
    return bytes(value["bytes"] if isinstance(value, dict) else value)


@lru_cache(maxsize=4)
def _column(path: Path, mtime_ns: int, group: int, column: str) -> pa.ChunkedArray | BadImage:
    try:
        with opened(path) as file:
            return file.read_row_group(group, columns=[column], use_threads=False).column(column)
    except ERRORS as error:
        return Unreadable(reason_of(error, path))


def reason_of(error: Exception, path: Path) -> str:
    """Without the file's folder, which is another one on another machine."""
    message = str(error).replace(str(path), path.name)
    return message if isinstance(error, BadImage) else f"it cannot be read: {message}"


class Stream:
    """A stream of record batches, which are what row groups are for Parquet.

    The file is mapped: a batch takes memory only where it is read.
    """

    def __init__(self, path: Path) -> None:
        with pa.memory_map(str(path)) as data, pa.ipc.open_stream(data) as stream:
            self.schema_arrow = stream.schema
            self._batches = list(stream)
        self.num_row_groups = len(self._batches)
        sizes = [
            SimpleNamespace(num_rows=batch.num_rows, total_byte_size=batch.nbytes)
            for batch in self._batches
        ]
        self.metadata = SimpleNamespace(row_group=sizes.__getitem__)

    def iter_batches(
        self, rows: int, groups: Sequence[int], columns: Sequence[str] | None, **_: Any
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of these batches, so many at a time."""
        for group in groups:
            batch = self._batches[group]
            batch = batch if columns is None else batch.select(list(columns))
            for first in range(0, batch.num_rows, rows):
                yield batch.slice(first, rows)

    def read_row_group(self, group: int, columns: Sequence[str], **_: Any) -> pa.Table:
        """These columns of a batch."""
        return pa.Table.from_batches([self._batches[group].select(list(columns))])
