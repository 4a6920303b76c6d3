"""Parquet files as a table, or streams of Arrow as ``save_to_disk`` of datasets writes them.

They are read a row group (a record batch) at a time, of which a process keeps the last two. The
scan reads every value once, because Parquet does not record the size of each. It does so
in a process of its own: a damaged file may end one in Arrow, and a hostile one may take all memory.
Which columns are labels, and the names of their classes, are in the schema's metadata
"huggingface" (https://huggingface.co/docs/datasets/about_dataset_features).

Concurrency: the threads of a packing process share the row groups; one thread reads at a time.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from packer.errors import BadImage, UnusableInput
from packer.files.snapshot import Watched
from packer.processes import map_unordered
from packer.progress import Advance
from packer.samples.cells import ERRORS, opened, reason_of
from packer.samples.records import Skipped
from packer.sources.tables.table import Record, Table

MAX_GROUP = 2 << 30  # bytes of a row group in memory
_POINTER = b"version https://git-lfs"
_BATCH = 64  # rows in memory while scanning

Found = TypeVar("Found")
Look = Callable[[Iterator[Record]], Iterable[Found]]


@dataclass(frozen=True)
class ParquetTable(Table):
    """One or more Parquet files with the same columns."""

    folder: Path = Path()  # what the files' names are relative to
    schema: pa.Schema = None  # of all of them
    rows: tuple[tuple[int, ...], ...] = ()  # of each row group of each file
    object_names: tuple[str, ...] = ()  # of the only ClassLabel within other columns, as of boxes
    most: int = MAX_GROUP  # bytes that a row group may take in memory

    @classmethod
    def open(cls, folder: Path, paths: Sequence[Path]) -> "ParquetTable":
        """Read the files' schemas."""
        files = tuple(map(Watched.of, paths))
        schemas, rows = [], []
        footers = map_unordered(footer, paths, 1, lambda _: None, str, _ended)
        for path, found in zip(paths, footers, strict=True):
            if isinstance(found, str):
                raise UnusableInput(f"{path} is not a valid Parquet file: {found.rstrip('.')}.")
            schemas.append(found[0])
            rows.append(found[1])
        for file, schema in zip(files, schemas, strict=True):
            if not schema.equals(schemas[0]):
                raise UnusableInput(
                    f"{file.path} has other columns than {files[0].path}. Pack "
                    "each file separately."
                )
        each = zip(files, map(_class_names, schemas), strict=True)
        declared = [(file, names) for file, names in each if names]
        first, classes = declared[0] if declared else (files[0], {})
        for file, names in declared:
            if names != classes:
                raise UnusableInput(
                    f"{file.path} has other classes, or in another order, than {first.path}: "
                    "the same label would be another class. Pack each file separately."
                )
        schema = schemas[0]
        return cls(
            files,
            tuple(schema.names),
            {item.name: str(item.type) for item in schema if not _is_plain(item.type)},
            classes,
            folder=folder,
            schema=schema,
            rows=tuple(rows),
            object_names=_object_names(schema),
        )

    def name(self, file: int) -> str:
        """Return the path of a file, relative to the folder."""
        return str(self.files[file].path.relative_to(self.folder))

    def records(self, columns: Sequence[str] | None = None) -> Iterator[Record | Skipped]:
        """Yield every row in order, with only these columns; an invalid row group is skipped."""
        return self.through(iter, columns)

    def through(
        self, look: Look[Found], columns: Sequence[str] | None = None
    ) -> Iterator[Found | Skipped]:
        """Yield what `look` makes of each row group, in order, in another process.

        An unsound row group is skipped as a whole.
        """
        tasks = self._tasks(look, columns)
        for found in map_unordered(look_at, tasks, 1, lambda _: None, str, _skipped):
            yield from found

    def array_columns(self) -> dict[str, str]:
        """Return the columns of lists of numbers, all of one length, each with numpy's type."""
        found = {field.name: field.type for field in self.schema if _is_array(field.type)}
        lists = [name for name, kind in found.items() if not pa.types.is_fixed_size_list(kind)]
        lengths: dict[str, set[int]] = {name: set() for name in lists}
        tasks = ((file.path, tuple(lists)) for file in self.files) if lists else iter(())
        for each in map_unordered(_lengths, tasks, 1, lambda _: None, str, lambda *_: {}):
            for name, some in each.items():
                lengths[name] |= some
        return {
            name: np.dtype(kind.value_type.to_pandas_dtype()).str
            for name, kind in found.items()
            if len(lengths.get(name, ())) < 2
        }

    def _tasks(self, look: Look[Any], columns: Sequence[str] | None) -> Iterator["RowGroup"]:
        block = 0
        for file, groups in enumerate(self.rows):
            first = 0
            for group, rows in enumerate(groups):
                yield RowGroup(self, look, columns, file, group, first, block)
                first += rows
                block += 1


@dataclass(frozen=True)
class RowGroup:
    """A row group to be looked at."""

    table: ParquetTable
    look: Look[Any]
    columns: Sequence[str] | None
    file: int
    group: int
    first: int  # row of the file that it begins with
    block: int  # its number among those of all files

    def __str__(self) -> str:
        return f"{self.table.name(self.file)}: row group {self.group}"


def look_at(task: RowGroup, _: Advance) -> list[Any]:
    """Return what is made of a row group, or why there is nothing; it may end the process."""
    path = task.table.files[task.file].path
    try:
        return list(task.look(_records(task, path)))
    except (*ERRORS, BadImage) as error:
        return [Skipped(str(task), reason_of(error, path), damaged=True)]


def _records(task: RowGroup, path: Path) -> Iterator[Record]:
    name, most, count, size = task.table.name(task.file), task.table.most, 0, 0
    with opened(path) as file:
        whole = file.metadata.row_group(task.group).total_byte_size
        if whole > most:
            raise BadImage(_too_large(most))
        rows = min(_BATCH, most // max(whole, 1))  # one value may stand for many of them
        for batch in file.iter_batches(rows, [task.group], task.columns, use_threads=False):
            size += batch.nbytes
            if size > most:
                raise BadImage(_too_large(most))
            for fields in batch.to_pylist():
                row = task.first + count
                place = task.file, task.group, count, row
                yield Record(f"{name}: row {row}", fields, place, task.block)
                count += 1
    if count != (wanted := task.table.rows[task.file][task.group]):
        raise BadImage(f"it holds {count} rows instead of {wanted}")


def _skipped(task: RowGroup, cause: str) -> list[Skipped]:
    return [Skipped(str(task), _ended(task, cause), damaged=True)]


def footer(path: Path, _: Advance) -> tuple[pa.Schema, tuple[int, ...]] | str:
    """The schema and the rows of each row group, or why there are none; may end the process."""
    try:
        with path.open("rb") as file:
            if file.read(len(_POINTER)) == _POINTER:
                return "git LFS has not downloaded what it points to; run git lfs pull there"
        with opened(path) as file:
            groups = map(file.metadata.row_group, range(file.num_row_groups))
            rows = tuple(group.num_rows for group in groups)
            return (file.schema_arrow, rows) if min(rows, default=0) >= 0 else "a size is damaged"
    except ERRORS as error:
        return str(error)


def _is_array(kind: pa.DataType) -> bool:
    is_list = pa.types.is_list(kind) or pa.types.is_large_list(kind)
    if not (is_list or pa.types.is_fixed_size_list(kind)):
        return False
    return bool(pa.types.is_integer(kind.value_type) or pa.types.is_floating(kind.value_type))


def _lengths(task: tuple[Path, tuple[str, ...]], _: Advance) -> dict[str, set[int]]:
    """Return the least and the largest lengths of each column's lists; it may end the process."""
    path, columns = task
    found: dict[str, set[int]] = {name: set() for name in columns}
    with suppress(*ERRORS), opened(path) as file:  # the scan names it
        for group in range(file.num_row_groups):
            rows = file.read_row_group(group, columns=list(columns), use_threads=False)
            for name in columns:
                extremes = pc.min_max(pc.list_value_length(rows.column(name))).as_py()
                found[name] |= {extremes["min"], extremes["max"]} - {None}
    return found


def _ended(_: object, cause: str) -> str:
    return f"reading it ends the process ({cause})"


def _class_names(schema: pa.Schema) -> dict[str, tuple[str, ...]]:
    try:
        features = _features(schema)
        found = {name: features[name].get("names") for name in schema.names if name in features}
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return {}
    listed = {n: tuple(map(str, names)) for n, names in found.items() if isinstance(names, list)}
    return {n: names for n, names in listed.items() if names and len(set(names)) == len(names)}


def _features(schema: pa.Schema) -> Any:
    return json.loads((schema.metadata or {})[b"huggingface"])["info"]["features"]


def _object_names(schema: pa.Schema) -> tuple[str, ...]:
    def within(feature: Any) -> Iterator[tuple[str, ...]]:
        parts = feature.values() if isinstance(feature, dict) else feature
        for part in parts if isinstance(parts, (list, type({}.values()))) else ():
            if isinstance(part, dict) and part.get("_type") == "ClassLabel":
                yield tuple(map(str, part["names"]))
            else:
                yield from within(part)

    try:
        found = {names for feature in _features(schema).values() for names in within(feature)}
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return ()
    return found.pop() if len(found) == 1 else ()


def _is_plain(kind: pa.DataType) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_plain(kind.value_type)
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    return bool(is_text or is_number or pa.types.is_boolean(kind))


def _too_large(most: int) -> str:
    return (
        f"it takes more than {most} bytes of memory: write the file again with smaller row groups"
    )
