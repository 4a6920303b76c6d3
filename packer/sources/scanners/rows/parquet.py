"""Hugging Face image Parquet: the images' bytes in a column ``struct<bytes, path>``.

Files named
``train-00000-of-00002.parquet``, ``test.parquet`` and so on are splits, also in a folder ``data``.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from packer.errors import BadImage, UnusableInput, WrongOption
from packer.images.probe import extension_of
from packer.options.declared import SourceOptions
from packer.options.kinds import SPLIT_NAME
from packer.samples.labels import to_json
from packer.samples.records import Facts, Skipped
from packer.sources.scanners.rows.lists import Held, Lists, Row
from packer.sources.scanners.rows.source import RowSource
from packer.sources.tables.classes import Labels, label_text
from packer.sources.tables.columns import Columns, split_text
from packer.sources.tables.images import Keys
from packer.sources.tables.names import BOXES, IMAGE, LABEL
from packer.sources.tables.parquet import ParquetTable
from packer.sources.tables.table import Record, Table
from packer.sources.tables.view import could_have_labels
from packer.sources.trees.names import SPLITS
from packer.sources.trees.shape import plain
from packer.sources.trees.tree import Tree
from packer.words import option
from reader.format.members import PICTURES

_HEAD = 20  # rows
_PART = re.compile(r"(.+?)-\d{5}-of-\d{5}.*")  # of a split that is in several files


def open_images(
    src: Path,
    tree: Tree,
    table: ParquetTable,
    options: SourceOptions,
    classes: Sequence[str] | None,
    splits: Sequence[str],
) -> RowSource:
    """Find the columns and the classes; `splits` are those of the files.

    `src` is the folder of `tree`, or the only file that is meant.
    """
    images = image_columns(table.schema, options.image_column)
    if not images:
        raise UnusableInput(
            f"{src} has no column of images, or not that of ",
            option("image_column"),
            f": it has {', '.join(table.columns)}.",
        )
    image = next((name for name in IMAGE if name in images), images[0])
    further = (one.name for one in table.schema if _is_image(one.type) and one.name != image)
    columns = Columns.find(table, options, src, image)
    _check_order(src, table.object_names, classes)
    none = np.empty(0, np.uint64)  # rows name no files, and what they are called is numbered
    cells = _Cells(table, columns, tuple(splits), tuple(further))
    facts = Facts(
        tuple(filter(None, map(_boxes_in, table.schema))),
        lambda: [could_have_labels(table, columns)],
        root=src,
    )
    lists = Lists(
        lambda: chain(table.skipped, table.through(cells.rows)),
        sources=frozenset(map(table.name, range(len(table.files)))),
        facts=facts,
        is_whole=src == tree.root,
        labels=_labels(table, columns.label, classes, src),
        keys=lambda: Keys(none),
        known=lambda: none,
        not_listed=f"it is not a part of {src.name}",
    )
    return RowSource.open(tree, lists)


@dataclass(frozen=True)
class _Cells:
    """What becomes of the rows, in the process that reads them."""

    table: ParquetTable
    columns: Columns
    splits: tuple[str, ...]  # the split of each file
    pictures: tuple[str, ...]  # further columns of images: members such as ``mask.png``

    def rows(self, records: Iterator[Record]) -> Iterator[Row | Skipped]:
        """Yield the image of each row."""
        for record in records:
            file, *_, row = record.place
            if failure := self._failure(record.fields):
                yield Skipped(record.where, f"it was not downloaded: {failure}", ignored=True)
                continue
            try:
                image, members = self._members(record)
                label = label_text(self.columns.label_of(record.fields))
                split = split_text(self.columns.split_of(record.fields))
            except BadImage as error:
                yield Skipped.of(record.where, error)
                continue
            name = f"{os.path.splitext(self.table.name(file))[0]}/{row:08d}"
            name += _file_name(record.fields[self.columns.image])
            split = split or self.splits[file]
            yield Row(name, label, split, members, record.where, "", image, record.block)

    def _failure(self, fields: Mapping[str, Any]) -> str:
        """Return why a row has no image, as img2dataset writes it; "" if it does not say so."""
        status = fields.get("status")
        if fields[self.columns.image] is not None or not isinstance(status, str):
            return ""
        return str(fields.get("error_message") or status) if status.startswith("failed") else ""

    def _members(self, record: Record) -> tuple[Held, dict[str, str | bytes | Held]]:
        fields = record.fields
        value = fields[self.columns.image]
        image = value["bytes"] if isinstance(value, dict) else value
        if image is None:
            path = value.get("path") if isinstance(value, dict) else None
            only = f", only the path {path[:200]!r}" if path else " (null)"
            raise BadImage(f"it holds no image{only}")
        if not image:
            raise BadImage("its image is empty")
        others = self.columns.others(fields)
        members: dict[str, str | bytes | Held] = {}
        for name in self.pictures:
            value = others.pop(name) or {}
            if data := value.get("bytes"):
                ext = _member_name(name, data)
                if ext in members:
                    raise BadImage(f"two of its columns would be its member .{ext}")
                members[ext] = self._held(record, name, data)
            elif value.get("path"):
                raise BadImage(f"its column {name!r} holds no image, only a path")
        if others:
            members["json"] = to_json(others)
        return self._held(record, self.columns.image, image), members

    def _held(self, record: Record, column: str, data: bytes) -> Held:
        file, group, place, _ = record.place
        at = [self.table.name(file), group, place, column]
        return Held(at, len(data), self.table.files[file].mtime_ns)


def _labels(
    table: ParquetTable, column: str | None, classes: Sequence[str] | None, where: Path
) -> Labels:
    if column is None:
        return Labels(tuple(classes or table.object_names))
    if declared := table.class_names.get(column, ()):
        return Labels.declare(declared, classes, where)
    texts = set()
    for record in table.records([column]):
        if isinstance(record, Record):
            with suppress(BadImage):  # the scan names it
                texts.add(label_text(record.fields.get(column)))
    return Labels.of(texts, classes, where)


def _check_order(src: Path, names: Sequence[str], classes: Sequence[str] | None) -> None:
    """Refuse an order of the classes that the numbers of objects, kept as they are, contradict."""
    if classes and {*names} <= {*classes} and tuple(classes[: len(names)]) != tuple(names):
        raise WrongOption(
            f"{src}: its objects hold the numbers of the classes {', '.join(names[:20])}, and ",
            option("classes"),
            " names them in another order. Remove it, or name these first, in their order.",
        )


def _boxes_in(column: pa.Field) -> str:
    """Return a sentence on how the boxes within a column are read; "" if it has none."""
    kind, path = column.type, f"{column.name}."
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        kind, path = kind.value_type, f"{path}*."
    if not pa.types.is_struct(kind):
        return ""
    names = {plain(one.name): one.name for one in kind}
    box = next((names[name] for name in BOXES if name in names), None)
    label = next((names[name] for name in (*LABEL, "categories") if name in names), None)
    if box is None:
        return ""
    labels = f', labels="{path}{label}"' if label else ""
    return (
        f"The boxes of the column {column.name!r} are in the json as they are: read them with "
        f'reader.Boxes("json", path="{path}{box}"{labels}, format="xywh"), or "xyxy" for corners.'
    )


def image_columns(schema: pa.Schema, chosen: str | None = None) -> list[str]:
    """The columns that can hold images: ``struct<bytes, path>``, and bytes of a usual name."""
    known = (chosen, *IMAGE, *PICTURES)  # img2dataset calls it jpg, png or webp
    each = (one for one in schema if chosen in (None, one.name))
    return [
        one.name
        for one in each
        if _is_image(one.type) or (_is_bytes(one.type) and one.name in known)
    ]


def only_paths(table: Table) -> str:
    """Return the column of images if its first rows have their paths only; "" for none."""
    for column in image_columns(table.schema) if isinstance(table, ParquetTable) else ():
        rows = (one.fields[column] for one in table.records([column]) if isinstance(one, Record))
        head = [value for value in islice(rows, _HEAD) if isinstance(value, dict)]
        if head and all(value.get("path") and not value.get("bytes") for value in head):
            return column
    return ""


def _is_image(kind: pa.DataType) -> bool:
    is_struct = pa.types.is_struct(kind)
    return is_struct and any(one.name == "bytes" and _is_bytes(one.type) for one in kind)


def _is_bytes(kind: pa.DataType) -> bool:
    return bool(pa.types.is_binary(kind) or pa.types.is_large_binary(kind))


def split_of(path: Path) -> str:
    """Return the split in a file's name, "" for none."""
    part = _PART.fullmatch(path.stem)
    name = part[1] if part else path.stem
    return name if SPLIT_NAME.fullmatch(name) and (part or name in SPLITS) else ""


def _file_name(value: Any) -> str:
    path = value.get("path") if isinstance(value, dict) else None
    base = os.path.basename(path) if isinstance(path, str) else ""
    return f"-{base}" if base and "\0" not in base else ""


def _member_name(column: str, data: bytes) -> str:
    return f"{re.sub(r'[^a-z0-9_-]', '_', column.lower())}.{extension_of(data, column)}"
