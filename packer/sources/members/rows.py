"""Members in the rows of a table: arrays of Parquet and Arrow, and all other columns as JSON."""

import io
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np

from packer.errors import BadImage, UnusableInput, message_of
from packer.files.snapshot import Watched
from packer.options.declared import SourceOptions
from packer.samples.labels import to_json
from packer.samples.records import Place, Skipped
from packer.sources.members.known import KnownSamples, Members
from packer.sources.tables.columns import image_columns, is_id, is_usual, listed
from packer.sources.tables.find import open_table, parquet
from packer.sources.tables.table import Record, Table
from packer.sources.trees.folder import FolderTree
from packer.sources.trees.shape import plain
from packer.sources.trees.tree import Tree
from packer.sources.trees.walk import PARQUET, TEXT_TABLES, is_litter
from packer.words import option

_ARROW = ".arrow"
_KEY = "key"  # also ``__key__``
_HEAD = 100  # rows of which one must name a sample


def table_at(path: Path, tree: Tree | None) -> Table | None:
    """Return the table in a file, or in the Parquet or Arrow files of a folder; None for none."""
    if tree is None:
        suffix = path.suffix.lower()
        if suffix == _ARROW:
            return parquet(path.parent, [path])
        if suffix == ".json":
            return JsonTable.open(path)
        known = (*TEXT_TABLES, PARQUET)
        return open_table(FolderTree(path.parent), path.name) if suffix in known else None
    names = [name for name in tree.names() if not is_litter(name)]
    if tree.unpack or tree.level().folders or not names:
        return None
    if any(os.path.splitext(name)[1].lower() not in (PARQUET, _ARROW) for name in names):
        return None
    return parquet(path, [path / name for name in names])


@dataclass(frozen=True)
class JsonTable(Table):
    """A list of objects in JSON, or an object that has one for each key."""

    rows: tuple[Mapping[str, Any], ...] = ()

    @classmethod
    def open(cls, path: Path) -> "JsonTable":
        """Read the file into memory."""
        try:
            content = json.loads(path.read_bytes())
            if isinstance(content, dict):
                content = [{_KEY: key, **row} for key, row in content.items()]
            rows = tuple(map(dict, content))
        except (TypeError, ValueError, RecursionError) as error:
            raise UnusableInput(
                f"{path} is not a list of JSON objects, or an object that has one for each key: "
                f"{message_of(error)}."
            ) from error
        return cls((Watched.of(path),), tuple(dict.fromkeys(chain.from_iterable(rows))), rows=rows)

    def records(self, columns: Sequence[str] | None = None) -> Iterator[Record | Skipped]:
        """Yield every object."""
        name = self.files[0].path.name
        return (Record(f"{name}: entry {n}", row) for n, row in enumerate(self.rows))


def members_of_rows(
    table: Table, options: SourceOptions, known: KnownSamples, where: Path
) -> Iterator[Members | Skipped]:
    """Yield the members in the rows of a table: its arrays, and all other columns as JSON."""
    if table.fault:
        raise UnusableInput(table.fault)
    key = _key_column(table, options, known, where)
    arrays: dict[str, tuple[str, str]] = {}  # column -> its member's extension, the array's type
    for column, dtype in table.array_columns().items():
        ext = f"{re.sub(r'[^a-z0-9_-]', '_', column.lower())}.npy"
        if ext in (own for own, _ in arrays.values()):
            raise UnusableInput(
                f"{where}: two of its columns would be members .{ext}. Rename {column!r}."
            )
        arrays[column] = ext, dtype
    newest = max(file.mtime_ns for file in table.files)
    read = partial(_members, key=key, arrays=arrays, newest=newest)
    return chain(table.skipped, table.through(read))


def _members(
    records: Iterable[Record | Skipped],
    key: str,
    arrays: Mapping[str, tuple[str, str]],
    newest: int,
) -> Iterator[Members | Skipped]:
    for record in records:
        if isinstance(record, Skipped):
            yield record
            continue
        fields = dict(record.fields)
        try:
            name = _text(fields.pop(key, None))
            data = {
                ext: _npy(value, dtype, column)
                for column, (ext, dtype) in arrays.items()
                if (value := fields.pop(column, None)) is not None
            }
            if fields:
                data["json"] = to_json(fields)
        except BadImage as error:
            yield Skipped(record.where, str(error), damaged=True)
            continue
        if not data:  # empty cells only
            continue
        places: dict[str, Place] = {ext: [content] for ext, content in data.items()}
        yield Members(name, [record.where], places, sum(map(len, data.values())), newest)


def _text(value: Any) -> str:
    if type(value) not in (str, int) or value == "":
        raise BadImage("it names no sample")
    return str(value)


def _npy(values: Sequence[Any], dtype: str, column: str) -> bytes:
    try:
        if None in values:  # NaN, for NumPy
            raise ValueError("a value is null")
        array = np.asarray(values, dtype)
    except (TypeError, ValueError, OverflowError) as error:
        raise BadImage(f"its {column!r} is not an array of {dtype} ({error})") from error
    return _npy_header(array.dtype.str, len(array)) + array.tobytes()


@lru_cache
def _npy_header(dtype: str, length: int) -> bytes:
    file = io.BytesIO()
    layout = {"descr": dtype, "fortran_order": False, "shape": (length,)}
    np.lib.format.write_array_header_1_0(file, layout)
    return file.getvalue()


def _key_column(table: Table, options: SourceOptions, known: KnownSamples, where: Path) -> str:
    """Return the column whose first values name samples: the one with the most of them."""
    columns = image_columns(table, options, where)
    if options.image_column is None:
        named = [name for name in table.columns if plain(name) == _KEY]
        columns = named + [name for name in columns if is_usual(name) or is_id(name)]
    if not columns:
        raise UnusableInput(
            f"{where} has no column of keys: it has {listed(table.columns)}. Name it with ",
            option("image_column", "COLUMN"),
            ".",
        )
    rows = (record.fields for record in table.records(columns) if isinstance(record, Record))
    head = list(islice(rows, _HEAD))
    counts = {name: sum(_names_one(row.get(name), known) for row in head) for name in columns}
    found = max(columns, key=lambda name: counts[name])
    if head and not counts[found]:
        raise UnusableInput(
            f"{where}: none of its first {len(head)} rows names a sample of {known.name}. Its "
            f"column {found!r} has {head[0].get(found)!r}, and the first key there is "
            f"{known.key(0)!r}. Name the column of keys with ",
            option("image_column", "COLUMN"),
            ".",
        )
    return found


def _names_one(value: Any, known: KnownSamples) -> bool:
    try:
        known.find(_text(value))
    except BadImage:
        return False
    return True
