"""Whether a table names images, in which column, and where they lie: told by its first rows."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from packer.errors import UnusableInput
from packer.options.declared import SourceOptions
from packer.tables.columns import Columns, image_columns, is_id, is_usual, listed
from packer.tables.lines import Delimited, JsonLines, delimiter_of
from packer.tables.part import Part
from packer.tables.places import Images, Looked, Places, look_up
from packer.tables.several import is_number
from packer.tables.table import Record, Table
from packer.trees.meaning import SPLITS, splits_of
from packer.trees.tree import Tree
from packer.trees.walk import is_named_as_image
from packer.words import option

_DELIMITERS = {".csv": ",", ".tsv": "\t"}
_LINES = (".jsonl", ".ndjson")
TEXTS = (*_DELIMITERS, *_LINES)
PARQUET = ".parquet"

_HEAD = 100  # rows that decide
_MOST = 0.9  # of the names in a column that is not named as those of images are
_MANY = 0.5  # the same of ids


def open_table(tree: Tree, path: str) -> Table:
    """The table in a file of a tree, by its extension.

    Raises:
        UnusableInput: it is not sound, or what reads it is not installed.
    """
    suffix = os.path.splitext(path)[1].lower()
    if suffix == PARQUET:
        refuse_parquet(tree)
        return parquet(tree.root, [tree.root / path])
    file = tree.watched(path)
    if suffix in _DELIMITERS:
        return Delimited.open(file, delimiter_of(file, _DELIMITERS[suffix]))
    return JsonLines.open(file)


def refuse_parquet(tree: Tree) -> None:
    """Raise where Parquet lies in an archive: it is read from anywhere in its file."""
    if tree.unpack:
        raise UnusableInput(
            f"{tree.root} holds Parquet, which is read from folders alone. Unpack it "
            f"({tree.unpack}) and pack the folder."
        )


def parquet(folder: Path, paths: Sequence[Path]) -> Any:
    """A `ParquetTable` of these files.

    Raises:
        UnusableInput: one is not sound, or pyarrow is not installed.
    """
    try:
        from packer.tables.parquet import ParquetTable
    except ImportError as error:
        raise UnusableInput(
            f"{paths[0]}: Parquet needs pyarrow. Install it with: pip install 'shardfeed[parquet]'."
        ) from error
    return ParquetTable.open(folder, paths)


@dataclass(frozen=True)
class Found:
    """What a table is.

    Attributes:
        part: how it is read; None: it names no images that are there.
        reason: why it does not.
        doubt: why nothing should be packed before a person has looked: it names images that lie
            elsewhere, or one of several.
        lost: why none of the images that it names can be packed: they are not there.
    """

    part: Part | None = None
    reason: str = "it names none of the images"
    doubt: str = ""
    lost: str = ""


def find(
    table: Table,
    where: Path,
    images: Images,
    options: SourceOptions,
    folders: Sequence[str] = ("",),
    split: str = "",
) -> Found:
    """How a table names images.

    Args:
        table: it.
        where: it lies.
        images: those there are.
        options: names of columns, and whether the images' folder is known.
        folders: that paths in it may be relative to.
        split: that it is of, "" for none.

    Raises:
        UnusableInput: a column that is named is not there, or several could be it.
    """
    single = [name for name in table.columns if name not in table.compound]
    rows = (record.fields for record in table.records(single) if isinstance(record, Record))
    head = list(islice(rows, _HEAD))
    if not head:
        return Found(reason="it has no rows")
    found: dict[str, Places] = {}
    doubt = lost = ""
    for column in image_columns(table, options, where):
        values = [text for row in head if (text := _text(row.get(column)))]
        usual = is_usual(column) or column == options.image_column
        if not values or not (usual or is_id(column) or _may_be_names(values)):
            continue
        looked = look_up(
            images,
            values,
            folders,
            split,
            root_is_said=options.root is not None,
            as_paths=bool(found),
        )
        if looked.places and looked.share > _needed(column, options):
            found[column] = looked.places
        elif found or not (usual or is_id(column) or looked.share > _MANY):
            continue
        needed = _needed(column, options)
        doubt = doubt or _told(looked, where, column, images, len(values), needed)
        if looked == Looked() and 2 * sum(map(is_named_as_image, values)) > len(values):
            lost = lost or (
                f"{where}: its column {column!r} names images such as {values[0]!r}, and none of "
                f"the first {len(values)} lies below {images.tree.root}. Say with {option('root')} "
                "where they are."
            )
    if doubt or not found:
        return Found(doubt=doubt, lost=lost)
    image = next(iter(found))
    further = [name for name in found if name != image]
    if further and not (is_usual(image) or is_id(image) or image == options.image_column):
        raise UnusableInput(
            f"{where} has several columns that name images: {listed(list(found))}. Say with "
            f"{option('image_column')} which one holds the image; the others become members."
        )
    columns = Columns.find(table, options, where, image, head)
    pictures = {
        name: _member(name)
        for name in further
        if found[name].folder is not None and found[name].folder == found[image].folder
    }
    if columns.label in pictures:
        columns = replace(columns, label=None)
    return Found(Part(table, replace(columns, pictures=pictures), found[image], split))


def plain_part(table: Table, where: Path, images: Images, options: SourceOptions) -> Part:
    """The table whose images are those that its column of paths names, found or not.

    Raises:
        UnusableInput: it has no such column.
    """
    columns = [
        name
        for name in image_columns(table, options, where)
        if is_usual(name) or name == options.image_column
    ]
    if not columns:
        raise UnusableInput(
            f"{where} has no column for the images: it has {listed(table.columns)}. "
            f"Say which one it is with {option('image_column')}, and where they lie with "
            f"{option('root')}."
        )
    return Part(table, Columns.find(table, options, where, columns[0]), Places(images))


def split_of_name(stem: str) -> str:
    """The split that a table's name tells, such as ``train`` of ``trainLabels``; "" for none."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", stem)
    found = set(splits_of(words).values())
    certain = found & SPLITS or found
    return certain.pop() if len(certain) == 1 else ""


def _told(
    looked: Looked,
    where: Path,
    column: str,
    images: Images,
    rows: int,
    needed: float,
) -> str:
    """Why nothing is to be packed before a person has looked; "" if there is no doubt."""
    root = images.tree.root
    if looked.moved:
        return (
            f"{where}: its column {column!r} names {looked.moved!r}, and that path is not there; "
            f"a file of that name lies below {root}. If that is the folder that paths should be "
            f"taken from, say so: {option('root', root)}"
        )
    if looked.doubt:
        first, second = looked.doubt
        return (
            f"{where}: what its column {column!r} names may be {first} or {second}. Say with "
            f"{option('root')} in which folder its images lie."
        )
    if looked.places and looked.share <= needed:
        return (
            f"{where}: its column {column!r} names an image for {looked.share:.0%} of its first "
            f"{rows} rows. If it is the column of the images, say {option('image_column', column)}."
        )
    return ""


def _needed(column: str, options: SourceOptions) -> float:
    """More than this share of a column's values has to name images."""
    if is_usual(column) or column == options.image_column:
        return 0.0
    return _MANY if is_id(column) else _MOST


def _text(value: Any) -> str:
    """What may name an image."""
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return ""
    return str(value)


def _may_be_names(values: Sequence[str]) -> bool:
    """Whether texts may be names of images where nothing else says so."""
    return not all(map(is_number, values))


def _member(column: str) -> str:
    """The name of the member that a column of further images becomes."""
    name = re.sub(r"[^a-z0-9_-]", "_", column.lower())
    return re.sub(r"_?(file_name|filename|path|file|id)$", "", name) or "image2"
