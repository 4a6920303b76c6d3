"""Parquet files as a table: read a row group at a time, of which a process keeps the last two.

The scan reads every value once, because Parquet does not tell how large each of them is. Which
columns are labels, and the names of their classes, are told by the schema's metadata "huggingface"
(https://huggingface.co/docs/datasets/about_dataset_features).

Concurrency: the threads of a packing process share the row groups; one thread reads at a time.
"""

import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from packer.errors import (
    BadImage,
    Unreadable,
    UnusableInput,
)
from packer.files.snapshot import Watched
from packer.sources.records import LeftOut
from packer.sources.table.parquet_pages import (
    RowGroup,
    page_sizes,
    row_groups,
)
from packer.sources.table.table import Record

MAX_GROUP = 2 << 30  # bytes of a row group in memory
_BATCH = 64  # rows in memory while scanning
_ERRORS = (pa.ArrowException, OSError, ValueError, OverflowError)

_lock = threading.Lock()


@dataclass(frozen=True)
class ParquetTable:
    """One or more Parquet files with the same columns.

    Attributes:
        folder: what the files' names are relative to.
        schema: of all of them.
        class_names: of the columns that are a ``ClassLabel`` of the library datasets.
    """

    folder: Path
    files: tuple[Watched, ...]
    schema: pa.Schema
    class_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def open(cls, folder: Path, paths: Sequence[Path]) -> "ParquetTable":
        """Read the files' schemas.

        Raises:
            UnusableInput: one is no Parquet file, or has other columns than the first.
        """
        files = tuple(map(Watched.of, paths))
        schemas = [_schema(file.path) for file in files]
        for file, schema in zip(files, schemas, strict=True):
            if not schema.equals(schemas[0]):
                raise UnusableInput(f"{file.path} has other columns than {files[0].path}.")
        declared = [
            (file, names)
            for file, schema in zip(files, schemas, strict=True)
            if (names := _class_names(schema))
        ]
        for file, names in declared:
            if names != declared[0][1]:
                raise UnusableInput(
                    f"{file.path} has other classes, or in another order, than "
                    f"{declared[0][0].path}: their labels would not mean the same."
                )
        return cls(folder, files, schemas[0], declared[0][1] if declared else {})

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.schema.names)

    @property
    def plain(self) -> frozenset[str]:
        """The columns of texts and numbers."""
        return frozenset(column.name for column in self.schema if _is_plain(column.type))

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        """Nothing: every column has a name."""
        return ()

    def name(self, file: int) -> str:
        """The path of a file, relative to the folder."""
        return str(self.files[file].path.relative_to(self.folder))

    def place(self, locator: str) -> tuple[int, int]:
        """The file of a record, and its row there."""
        file, _, _, row = map(int, locator.split(":"))
        return file, row

    def records(self, columns: Sequence[str] | None = None) -> Iterator[Record | LeftOut]:
        """Every row in order, with these columns alone; an unsound row group is left out."""
        block = 0
        for number, watched in enumerate(self.files):
            name, first = self.name(number), 0
            with pq.ParquetFile(watched.path, buffer_size=1 << 20, pre_buffer=False) as file:
                for group, header in enumerate(_row_groups(watched)):
                    count = 0
                    try:
                        batches = _batches(watched, file, group, columns)
                        rows = (fields for batch in batches for fields in batch.to_pylist())
                        for count, fields in enumerate(rows, 1):
                            row = first + count - 1
                            locator = f"{number}:{group}:{count - 1}:{row}"
                            yield Record(f"{name}: row {row}", fields, locator, block)
                        if count != header.rows:
                            raise BadImage(f"it holds {count} rows instead of {header.rows}")
                    except (*_ERRORS, BadImage) as error:
                        yield LeftOut(f"{name}: row group {group}", _reason(error, watched.path))
                    first += header.rows
                    block += 1

    def fields(self, locator: str) -> dict[str, Any]:
        """The row that `locator` (file, row group, row in it, row in the file) tells.

        Raises:
            BadImage: the row group cannot be read.
            PackingFailed: the file is not what it was.
        """
        file, group, row, _ = map(int, locator.split(":"))
        self.files[file].check()
        with _lock:
            table = _group(self.files[file], group)
        if isinstance(table, BadImage):
            raise type(table)(str(table))
        return dict(table.slice(row, 1).to_pylist()[0])


def _schema(path: Path) -> pa.Schema:
    try:
        row_groups(path)
        return pq.read_schema(path)
    except (*_ERRORS, BadImage) as error:
        raise UnusableInput(f"{path} is no sound Parquet file: {error}.") from error


def _class_names(schema: pa.Schema) -> dict[str, tuple[str, ...]]:
    """The names of each column that is a ``ClassLabel``, as the library datasets keeps them."""
    try:
        features = json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]
        found = {name: features[name].get("names") for name in schema.names if name in features}
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return {}
    return {
        name: tuple(map(str, names))
        for name, names in found.items()
        if isinstance(names, list) and names and len(set(map(str, names))) == len(names)
    }


def _is_plain(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_plain(kind.value_type)
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    return bool(is_text or pa.types.is_integer(kind) or pa.types.is_floating(kind))


@lru_cache(maxsize=2)
def _group(watched: Watched, group: int) -> pa.Table | BadImage:
    """A row group, or why it cannot be read."""
    try:
        with pq.ParquetFile(watched.path) as file:
            return pa.Table.from_batches(_batches(watched, file, group))
    except BadImage as error:
        return error
    except _ERRORS as error:
        return Unreadable(_reason(error, watched.path))


def _batches(
    watched: Watched, file: pq.ParquetFile, group: int, columns: Sequence[str] | None = None
) -> Iterator[pa.RecordBatch]:
    """The rows of a row group, as long as they fit into memory all together.

    Raises:
        BadImage: they do not.
    """
    size, largest = 0, 1
    for page in page_sizes(watched.path, _row_groups(watched)[group].chunks):
        size += page
        largest = max(largest, page)
        if size > MAX_GROUP:
            raise BadImage(_TOO_LARGE)
    size = 0
    rows = min(_BATCH, MAX_GROUP // largest)  # a page of one value may stand for many of them
    for batch in file.iter_batches(rows, [group], columns, use_threads=False):
        size += batch.nbytes
        if size > MAX_GROUP:
            raise BadImage(_TOO_LARGE)
        yield batch


_TOO_LARGE = (
    f"it takes more than {MAX_GROUP} bytes of memory: write the file anew with smaller row groups"
)


@lru_cache(maxsize=4)
def _row_groups(watched: Watched) -> tuple[RowGroup, ...]:
    return row_groups(watched.path)


def _reason(error: Exception, path: Path) -> str:
    """Without the file's folder, which is another one on another machine."""
    said = str(error).replace(str(path), path.name)
    return said if isinstance(error, BadImage) else f"it cannot be read: {said}"
