"""A folder of images with tables that name them, as Kaggle and Hugging Face lay them out.

``train.csv`` beside ``train`` and ``test`` (https://www.kaggle.com/competitions), or
``metadata.csv``, ``.jsonl`` or ``.parquet`` with a ``file_name``
(https://huggingface.co/docs/datasets/image_dataset). Each table is of the split that its name or
folder tells; images of a split without a table are samples without labels.
"""

import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from packer.errors import BadImage, UnusableInput
from packer.layouts.interpretation import Place, Reading
from packer.options.declared import SourceOptions
from packer.samples.records import Source
from packer.tables.classes import NONE
from packer.tables.find import PARQUET, TEXTS, find, open_table, split_of_name
from packer.tables.images import ImageIndex
from packer.tables.source import TableSource, Unlisted
from packer.tables.table import Headless, Record, Table
from packer.tables.view import TableView
from packer.trees.folder import FolderTree
from packer.trees.meaning import Layout, splits_of, understand
from packer.trees.shape import enclosing, inside, masks, told_of_masks
from packer.trees.tree import Tree
from packer.words import option

_MOST = 8  # tables of one kind in a folder; more are files that belong to images
_SUBMISSION = re.compile(r"(sample|example).*submission|submission.*(sample|example)|^submission")
_HEAD = 50


def recognise(place: Place) -> Reading | None:
    """A folder with tables that name images in it."""
    tree, options = place.tree, place.options
    if tree is None:
        return None
    paths = list(_tables(tree))
    only = tree.level().only
    wraps = only and not splits_of([only])
    if not paths or (wraps and all("/" in path for path in paths)):
        return None  # the folder within is asked for itself
    root = place.path.parent / options.root if options.root else place.path
    images = ImageIndex(tree if options.root is None else FolderTree(Path(os.path.realpath(root))))
    parts, aside, doubts = [], {}, []
    has: set[str] = set()
    for path in paths:
        folder, name = os.path.split(path)
        if _SUBMISSION.search(name.lower()):
            aside[path] = "it is an example of what is to be handed in, and holds no labels"
            continue
        split = split_of_name(os.path.splitext(name)[0]) or images.split_of(path)
        try:
            table = open_table(tree, path)
        except Headless as error:
            doubts.append(str(error))
            continue
        except UnusableInput as error:
            aside[path] = str(error)
            continue
        folders = list(dict.fromkeys([folder, ""])) if options.root is None else [""]
        has |= set(table.columns)
        own = _of(table, options)
        try:
            found = find(table, tree.root / path, images, own, folders, split)
        except UnusableInput as error:
            doubts.append(str(error))
            continue
        if found.view:
            parts.append(found.view)
        elif doubt := found.doubt or found.lost:
            doubts.append(doubt)
        else:
            aside[path] = found.reason
    if not parts and not doubts:
        return None
    for column in options.columns:
        if column not in (None, NONE, *has):
            doubts.append(f"No table of {place.path} has a column {column!r}.")
    names = [str(part.table.files[0].path.relative_to(tree.root)) for part in parts]
    unlisted = Unlisted(images, frozenset(names), aside)

    def open_tables(classes: Sequence[str] | None) -> Source:
        if doubts:
            raise UnusableInput(
                f"{doubts[0]} To pack without tables, give {option('kind', 'folder')}."
            )
        for folder, of in masks(images.tree.shape):
            raise UnusableInput(told_of_masks(images.tree.shape, folder, of, place.path))
        if options.kind != "table":
            _refuse_other_classes(place, images.tree, parts)
        return TableSource.open(place.path, parts, options, classes, unlisted)

    what = f"images named by {' and '.join(names) or paths[0]}"
    return Reading("table", what, open_tables, general=True)


def _of(table: Table, options: SourceOptions) -> SourceOptions:
    """The options without the columns that this one of several tables does not have."""
    known, (image, label, split) = table.columns, options.columns
    return options.with_columns(
        image=image if image in known else None,
        label=label if label in (None, *known) else NONE,
        split=split if split in known else None,
    )


def _tables(tree: Tree) -> Iterator[str]:
    """The paths of the tables."""
    for folder, level in tree.walk():
        for suffix in (*TEXTS, PARQUET):
            if level.counts.get(suffix, 0) <= _MOST:
                yield from (inside(folder, name) for name in level.examples.get(suffix, ()))


def _refuse_other_classes(place: Place, tree: Tree, parts: Sequence[TableView]) -> None:
    """Raise where the folders are classes, too, of which the tables say nothing."""
    try:
        layout = understand(tree.shape, place.path, depth=place.options.class_depth)
    except UnusableInput:
        return  # as folders they mean nothing certain
    filled = (path for path, count in tree.shape.images.items() if count)
    classes = {_class_of(path, layout) for path in filled} - {""}
    if len({re.sub(r"\d+", "", name) for name in classes}) < 2:
        return
    for part in parts:
        rows = (row.fields for row in part.table.records(part.scalars) if isinstance(row, Record))
        for fields in islice(rows, _HEAD):
            try:
                name = part.name(fields)
            except BadImage:
                continue
            folder, file = os.path.split(name)
            of_folder = _class_of(folder, layout)
            if not of_folder or file.startswith(of_folder.replace("/", "")):
                continue  # as 000aa in 0/0/0
            if of_folder not in map(str, fields.values()):
                table = part.table.files[0].path.relative_to(place.path)
                raise UnusableInput(
                    f"{place.path} may be folders of classes, such as {of_folder} "
                    f"({option('kind', 'folder')}), or the images that {table} names "
                    f"({option('kind', 'table')}). Say which one."
                )


def _class_of(folder: str, layout: Layout) -> str:
    """The class of the images in a folder, "" for none."""
    base = enclosing(folder, layout.bases)
    return "" if base is None else layout.class_of(folder[len(base) :].strip("/")) or ""
