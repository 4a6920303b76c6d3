"""Finds the column of a table that names images, and their folder, by its first rows."""

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

from packer.errors import Ambiguous, UnusableInput
from packer.options.declared import SourceOptions
from packer.sources.tables.classes import NONE, is_number
from packer.sources.tables.columns import (
    Columns,
    image_columns,
    is_id,
    is_label,
    is_usual,
    listed,
)
from packer.sources.tables.images import ImageIndex, ImageResolver, Lookup, look_up
from packer.sources.tables.nested import Unfolded
from packer.sources.tables.table import Delimited, JsonLines, Record, Table
from packer.sources.tables.vectors import are_vectors, is_vector
from packer.sources.tables.view import TableView
from packer.sources.trees.names import SPLITS, splits_of
from packer.sources.trees.tree import Tree
from packer.sources.trees.walk import DELIMITERS, PARQUET, is_named_as_image
from packer.words import Message, option

_MASK = re.compile(r"mask|label|segm|(?<![a-z])(seg|gt)(?![a-z])|truth", re.IGNORECASE)
_HEAD = 100  # rows that decide
_MOST = 0.9  # of the names in a column that is not named as those of images are
_MANY = 0.5  # the same of ids


def open_table(tree: Tree, path: str) -> Table:
    """Return the table in a file of a tree, by its extension."""
    suffix = os.path.splitext(path)[1].lower()
    if suffix == PARQUET:
        refuse_parquet(tree)
        return parquet(tree.root, [tree.root / path])
    file = tree.watched(path)
    if suffix in DELIMITERS:
        return Delimited.open(file, DELIMITERS[suffix])
    return JsonLines.open(file)


def refuse_parquet(tree: Tree) -> None:
    """Raise for Parquet in an archive: reading it requires random access."""
    if tree.unpack:
        raise UnusableInput(
            f"{tree.root} has Parquet files, which are read only from folders. Unpack it "
            f"({tree.unpack}) and pack the folder."
        )


def parquet(folder: Path, paths: Sequence[Path]) -> Any:
    """Return a `ParquetTable` of these files."""
    try:
        from packer.sources.tables.parquet import ParquetTable
    except ImportError as error:
        raise UnusableInput(
            f"{paths[0]}: Parquet requires pyarrow. Install it: pip install 'shardfeed[parquet]'."
        ) from error
    return ParquetTable.open(folder, paths)


@dataclass(frozen=True)
class Found:
    """The kind of a table."""

    view: TableView | None = None  # how it is read; None: it names no images that are there
    reason: str = "it names none of the images"  # why it does not
    lost: UnusableInput | None = None  # why none of the images that it names can be packed


def find(
    table: Table,
    where: Path,
    images: ImageIndex,
    options: SourceOptions,
    folders: Sequence[str] = ("",),
    split: str = "",
) -> Found:
    """Return how a table names images, by paths relative to one of `folders` or by names.

    It raises UnusableInput if images are in other folders, or are not unique.
    """
    single = [name for name in table.columns if name not in table.compound]
    rows = (record.fields for record in table.records(single) if isinstance(record, Record))
    head = list(islice(rows, _HEAD))
    if not head:
        return Found(reason="it has no rows")
    found: dict[str, ImageResolver] = {}
    ambiguity: UnusableInput | None = None
    lost: UnusableInput | None = None
    for column in image_columns(table, options, where):
        each = (row.get(column) for row in head)
        values = [str(v) for v in each if v != "" and type(v) in (str, int)]
        usual = is_usual(column) or column == options.image_column
        known = usual or is_id(column)
        if not values or not (known or not all(map(is_number, values))):
            continue
        if is_label(column) and not all(map(is_named_as_image, values)):
            continue
        given = options.root is not None
        lookup = look_up(images, values, folders, split, root_is_given=given, as_paths=bool(found))
        needed = 0.0 if usual else _MANY if known else _MOST
        if lookup.resolver and lookup.share > needed:
            found[column] = lookup.resolver
        elif found or not (known or lookup.share > _MANY):
            continue
        ambiguity = ambiguity or _ambiguity(lookup, where, column, images, len(values), needed)
        if lookup == Lookup() and 2 * sum(map(is_named_as_image, values)) > len(values):
            lost = lost or _lost(where, column, values, images)
    if ambiguity:
        raise ambiguity
    if not found:
        return Found(lost=lost)
    if table.fault:
        raise UnusableInput(table.fault)
    image = next(iter(found))
    may_be_images = [name for name in found if not _MASK.search(name)]
    is_certain = is_usual(image) or is_id(image) or image == options.image_column
    if not is_certain and len(may_be_images) == 1:
        (image,) = may_be_images
    further = [name for name in found if name != image]
    if further and not (is_certain or may_be_images == [image]):
        raise Ambiguous(
            f"{where} has several columns that name images: {listed(list(found))}. Choose the one "
            "with the image by ",
            option("image_column"),
            "; the others become members.",
            readings={
                f"{name!r} holds the image": ("--image-column", name) for name in may_be_images
            },
        )
    table = Unfolded.of(_with_vectors(table))
    if len(table.columns) - len(table.compound) > len(single):
        rows = (one.fields for one in table.records() if isinstance(one, Record))
        head = list(islice(rows, _HEAD))
    columns = Columns.find(table, options, where, image, head)
    pictures = {
        name: _member(name)
        for name in further
        if found[name].folder is not None and found[name].folder == found[image].folder
    }
    if columns.label in pictures:
        columns = replace(columns, label=None)
    columns = replace(columns, pictures=pictures)
    return Found(
        TableView(table, columns, found[image], split, grouped=isinstance(table, Unfolded))
    )


def _with_vectors(table: Table) -> Table:
    """Return a table in which columns of vectors of 0 and 1 are single values, as labels are."""
    rows = (one.fields for one in table.records([*table.compound]) if isinstance(one, Record))
    head = list(islice(rows, _HEAD)) if table.compound else []
    found = {
        name
        for name in table.compound
        if are_vectors({str(row.get(name)) for row in head})
        and all(is_vector(row.get(name)) for row in head)
    }
    return replace(table, compound={n: k for n, k in table.compound.items() if n not in found})


def known_columns(table: Table, options: SourceOptions) -> SourceOptions:
    """Return the options without the columns that this one of several tables does not have."""
    known, label, split = table.columns, options.label_column, options.split_column
    return replace(
        options,
        image_column=options.image_column if options.image_column in known else None,
        label_column=label if label in (None, *known) else NONE,
        split_column=split if split in (NONE, *known) else None,
    )


def plain_view(table: Table, where: Path, images: ImageIndex, options: SourceOptions) -> TableView:
    """Return the table whose images are those that its column of paths names, found or not."""
    if table.fault:
        raise UnusableInput(table.fault)
    if next(iter(table.records()), None) is None:
        raise UnusableInput(f"{where} has no rows. Pass a table with a row for each image.")
    columns = image_columns(table, options, where)
    columns = [name for name in columns if is_usual(name) or name == options.image_column]
    if not columns:
        text = (
            "{} has no column for the images: it has {}. Choose a column with {}, and the folder "
            "of the images with {}."
        )
        named = str(where), listed(table.columns), option("image_column"), option("root")
        raise UnusableInput(Message.of(text, *named))
    table = Unfolded.of(table)
    found = Columns.find(table, options, where, columns[0])
    return TableView(table, found, ImageResolver(images), grouped=isinstance(table, Unfolded))


def split_of_name(stem: str) -> str:
    """Return the split in a table's name, such as ``train`` of ``trainLabels``; "" for none."""
    words = re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+", stem)
    found = set(splits_of(words).values())
    certain = found & SPLITS or found
    return certain.pop() if len(certain) == 1 else ""


def _lost(where: Path, column: str, values: Sequence[str], images: ImageIndex) -> UnusableInput:
    root = images.tree.root
    text = (
        f"{where}: its column {column!r} names images such as {values[0]!r}, and none of the "
        f"first {len(values)} is in {root}."
    )
    alike = ((value, path) for value in values for path in images.of_same_stem(value))
    for value, path in alike:
        old, new = (os.path.splitext(name)[1] for name in (value, path))
        if old == new:
            return UnusableInput(
                f"{text} {path} has the name of {value!r}, but another folder. Correct the folders "
                "in that column, or remove them if no two images have the same name."
            )
        return UnusableInput(
            f"{text} {path} does: images were converted from {old} to {new}. In that column, "
            f"replace {old} by {new}, or remove the extension."
        )
    return UnusableInput(f"{text} Pass the folder of the images with ", option("root"), ".")


def _ambiguity(
    lookup: Lookup, where: Path, column: str, images: ImageIndex, rows: int, needed: float
) -> UnusableInput | None:
    root = images.tree.root
    if lookup.moved:
        return Ambiguous(
            f"{where}: its column {column!r} names {lookup.moved!r}, which does not exist; {root} "
            "has a file of that name. If paths are relative to that folder, pass ",
            option("root", root),
            readings={f"Paths are relative to {root}": ("--root", str(root))},
        )
    if lookup.ambiguity:
        first, second = lookup.ambiguity
        advice = Message("Pass the folder of its images with ", option("root"), ".")
        return UnusableInput(
            f"{where}: the image in its column {column!r} may be {first} or {second}. ",
            "Write the whole paths into that column." if images.tree.form else advice,
        )
    if lookup.resolver and lookup.share <= needed:
        return Ambiguous(
            f"{where}: its column {column!r} names an image for {lookup.share:.0%} of its "
            f"first {rows} rows. If it is the column of the images, pass ",
            option("image_column", column),
            ".",
            readings={f"{column!r} is the column of the images": ("--image-column", column)},
        )
    return None


def _member(column: str) -> str:
    name = re.sub(r"[^a-z0-9_-]", "_", column.lower())
    return re.sub(r"_?(file_name|filename|path|file|id)$", "", name) or "image2"
