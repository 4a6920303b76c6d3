"""Tables of pixel values: a row is a grey image, in a column for each pixel or in one for all.

``label,pixel0,...,pixel783`` is Kaggle's form of MNIST, ``emotion,pixels,Usage`` that of FER2013.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np

from packer.errors import BadImage, UnusableInput
from packer.options.declared import SourceOptions
from packer.samples.labels import to_json
from packer.samples.places import Files
from packer.samples.records import Facts, Sample, Skipped
from packer.sources.tables.classes import Labels, label_text
from packer.sources.tables.columns import Columns, split_text
from packer.sources.tables.find import known_columns, open_table, split_of_name
from packer.sources.tables.names import PREDICTED, SPLIT, may_be_split
from packer.sources.tables.table import Delimited, Record
from packer.sources.tables.view import could_have_labels
from packer.sources.trees.names import splits_of
from packer.sources.trees.shape import plain
from packer.sources.trees.tree import Tree
from packer.sources.trees.walk import DELIMITERS, not_entered

_HEAD = 20  # rows that decide
_LEAST = 64  # pixels of an image
_CALLED = re.compile(r"pixels?[-_ ]?\d*|\d+x\d+", re.IGNORECASE)
_NO_PIXELS = "its pixels are not {} whole numbers from 0 to 255"

_Fields = Mapping[str, Any]


@dataclass(frozen=True)
class PixelTable:
    """A table whose rows are images."""

    path: str  # relative to the source
    table: Delimited
    columns: Columns  # its image is the first column of pixels
    pixels: tuple[str, ...]  # the columns of pixels
    count: int  # of the pixels of an image
    split: str  # of the rows, where no column tells it

    @property
    def others(self) -> list[str]:
        """The columns without pixels."""
        return [name for name in self.table.columns if name not in self.pixels]

    def image(self, fields: _Fields) -> bytes:
        """Return the pixels of a row; raise BadImage."""
        return _pixels([fields.get(name) for name in self.pixels], self.count)

    def split_of(self, fields: _Fields) -> str:
        """Return the split of a row."""
        text = split_text(self.columns.split_of(fields))
        return splits_of([text]).get(text, text) if text else self.split


def pixel_table(tree: Tree, path: str, options: SourceOptions) -> PixelTable | None:
    """Return the table at `path` if its first rows are pixels.

    It raises UnusableInput, with lines of Python, where they may be several pictures.
    """
    if os.path.splitext(path)[1].lower() not in DELIMITERS:
        return None
    try:
        table = open_table(tree, path)
    except UnusableInput:
        return None
    assert isinstance(table, Delimited)
    split = split_of_name(os.path.splitext(os.path.basename(path))[0])
    split = split or next(iter(splits_of([os.path.basename(os.path.dirname(path))]).values()), "")
    if len(table.names) > _LEAST and all(map(str.isdecimal, table.names)):
        _refuse_unnamed(tree.root / path, table.names)
        return None
    rows = (one.fields for one in table.records() if isinstance(one, Record))
    head = list(islice(rows, _HEAD))
    single = [name for name in table.columns if _are_pixels([row[name] for row in head])]
    pixels = single[:1] or _columns_of_pixels(table, head)
    if not pixels or table.fault:
        return None
    first = head[0][pixels[0]]
    count = len(first.split()) if single else len(pixels)
    if isqrt(count) ** 2 != count:
        _refuse_shape(tree.root / path, table, pixels, count)
    others = replace(table, columns=tuple(name for name in table.columns if name not in pixels))
    chosen = replace(known_columns(others, options), image_column=None)
    columns = Columns.find(others, chosen, tree.root / path, pixels[0])
    if not columns.split and chosen.split_column is None:
        columns = replace(columns, split=_split_column(others.columns, head))
    left = [name for name in others.columns if name != columns.split]
    if len(left) == 1 and not columns.label and chosen.label_column is None:
        is_number_of_row = plain(left[0]) in ("id", "imageid", "index")
        columns = replace(columns, label=None if is_number_of_row else left[0])
    return PixelTable(path, table, replace(columns, box=None), tuple(pixels), count, split)


@dataclass(frozen=True)
class PixelSource:
    """Tables of pixels."""

    path: Path
    tables: Sequence[PixelTable]
    labels: Labels
    leftovers: tuple[Skipped, ...] = ()  # files of the folder that hold no pixels

    @classmethod
    def open(
        cls,
        path: Path,
        tables: Sequence[PixelTable],
        leftovers: tuple[Skipped, ...],
        classes: Sequence[str] | None,
    ) -> "PixelSource":
        """Return the source, after a pass over the labels."""
        without = [one.path for one in tables if not (one.split or one.columns.split)]
        if without and len(without) < len(tables):
            raise UnusableInput(
                f"{path}: {without[0]} does not have the name of a split, unlike other files. "
                "Pack it separately, or rename it, such as train.csv."
            )
        texts = {
            label_text(one.columns.label_of(record.fields))
            for one in tables
            for record in (one.table.records() if one.columns.label else ())
            if isinstance(record, Record)
        }
        return cls(path, tables, Labels.of(texts, classes, path), leftovers)

    @property
    def classes(self) -> tuple[str, ...]:
        """Class names in label order; empty where labels are numbers."""
        return self.labels.classes

    @property
    def facts(self) -> Facts:
        """Its facts."""
        tables = [
            (replace(one.table, columns=tuple(one.others)), one.columns) for one in self.tables
        ]
        return Facts(unlabelled=lambda: [could_have_labels(*one) for one in tables])

    @property
    def files(self) -> Files:
        """The reader of the samples."""
        return Files(self.path)

    def scan(self) -> Iterator[Sample | Skipped]:
        """Yield the rows of each table."""
        yield from self.leftovers
        for one in self.tables:
            stem, side = os.path.splitext(one.path)[0], isqrt(one.count)
            newest = one.table.files[0].mtime_ns
            for number, record in enumerate(one.table.records()):
                if isinstance(record, Skipped):
                    yield record
                    continue
                try:
                    pixels = one.image(record.fields)
                    label = self.labels.number_of(label_text(one.columns.label_of(record.fields)))
                    split = one.split_of(record.fields)
                except BadImage as error:
                    yield Skipped.of(record.where, error)
                    continue
                others = one.columns.others({name: record.fields[name] for name in one.others})
                json = [to_json(others)] if others else []
                yield Sample(
                    name=f"{stem}/{number:06d}",
                    key=f"{stem}/{number:06d}",
                    label=label,
                    size=len(pixels) + sum(map(len, json)),
                    mtime_ns=newest,
                    members=("json",) * len(json),
                    split=split,
                    places=[[pixels, [side, side, 1]], *([member] for member in json)],
                )


def beside(tree: Tree, tables: Sequence[PixelTable], aside: Mapping[str, str]) -> Iterator[Skipped]:
    """Yield the files of a folder that hold no pixels."""
    known = {one.path for one in tables}
    for folder, level in tree.walk():
        paths = [os.path.join(folder, name) for name in tree.names(folder)]
        for path in paths:
            if path in aside:
                yield Skipped(path, aside[path], ignored=True)
            elif path not in known:
                yield tree.ignored(path) or Skipped(path, "it is no table of pixels")
        for name, reason in level.skipped.items():
            yield not_entered(os.path.join(folder, name), reason)


def _pixels(cells: Sequence[Any], count: int) -> bytes:
    values = cells[0].split() if len(cells) == 1 else cells
    try:
        found = np.array([int(value) for value in values])
    except (TypeError, ValueError, OverflowError):
        found = np.array([-1])
    if len(found) != count or found.min() < 0 or found.max() > np.iinfo(np.uint8).max:
        raise BadImage(_NO_PIXELS.format(count))
    return found.astype(np.uint8).tobytes()


def _are_pixels(cells: Sequence[str]) -> bool:
    """Return whether each cell of a column holds all pixels of an image."""
    counts = {len(cell.split()) for cell in cells}
    return len(counts) == 1 and min(counts) >= _LEAST and _hold(cells, min(counts))


def _columns_of_pixels(table: Delimited, head: Sequence[_Fields]) -> list[str]:
    """Return the columns of one pixel each: those called so, or all but the first or the last."""
    called = [name for name in table.columns if _CALLED.fullmatch(name)]
    all_named = [name for name in table.columns if re.fullmatch(r"\d+(\.\d+)?", name)]
    found = called if len(called) >= _LEAST else all_named[1:]  # pandas' names of such columns
    if len(found) < _LEAST or not head:
        return []
    is_all = all(_hold([row[name] for name in found], len(found), is_row=True) for row in head)
    return found if is_all else []


def _hold(cells: Sequence[str], count: int, *, is_row: bool = False) -> bool:
    try:
        for each in [cells] if is_row else [[cell] for cell in cells]:
            _pixels(each, count)
    except BadImage:
        return False
    return True


def _split_column(columns: Sequence[str], head: Sequence[_Fields]) -> str | None:
    """Return the column of which some values are splits, as of FER2013 also PublicTest is."""
    for name in columns:
        is_called = plain(name) == SPLIT or may_be_split(name)
        if is_called and splits_of(sorted({str(row[name]) for row in head})):
            return name
    return None


def _refuse_unnamed(path: Path, names: Sequence[str]) -> None:
    side = isqrt(len(names) - 1)
    if side**2 == len(names) - 1:
        raise UnusableInput(
            f"{path}: its first line has data instead of names of columns. The first column is "
            "taken as the label" + _lines(path, 0, "row[1:]", f"{side}, {side}", "int(row[0])")
        )


def _refuse_shape(path: Path, table: Delimited, pixels: Sequence[str], count: int) -> None:
    names = list(table.names)
    first, last = names.index(pixels[0]), names.index(pixels[-1])
    cells = f"row[{first}:{last + 1}]" if len(pixels) > 1 else f"row[{first}].split()"
    others = tuple(name for name in table.columns if name not in pixels)
    found = Columns.find(replace(table, columns=others), SourceOptions(), path, pixels[0]).label
    name = found or (others[0] if len(others) == 1 else "")
    rows = (one.fields for one in table.records() if isinstance(one, Record))
    is_number = all(str(row.get(name)).isdecimal() for row in islice(rows, _HEAD))
    label = f"row[{names.index(name)}]" if name else ""
    label = f"int({label})" if label and is_number else label
    side = isqrt(count // 3)
    shape = f"{side}, {side}, 3"
    remark = f"or .reshape(3, {side}, {side}).transpose(1, 2, 0), if all of red comes first"
    if 3 * side**2 != count:
        height = next(n for n in range(isqrt(count), 0, -1) if count % n == 0)
        shape, remark = f"{height}, {count // height}", "height and width: correct them"
    raise UnusableInput(
        f"{path} has {count} pixels in a row, which may be several pictures"
        + _lines(path, 1, cells, shape, label, remark)
    )


def _lines(
    path: Path, skipped: int, cells: str, shape: str, label: str, remark: str = "height and width"
) -> str:
    """Return lines of Python that pack a table and those beside it, each a split.

    `cells` are those of a row's pixels.
    """
    files = {
        split_of_name(one.stem) or re.sub(r"\W+", "-", one.stem): str(one)
        for one in sorted(path.parent.glob(f"*{path.suffix}"))
        if not PREDICTED.search(one.name.lower())
    }
    fields = f', "label": {label}' * bool(label) + ', "split": split' * (len(files) > 1)
    has_names = label.startswith("row")
    classes = f", classes=sorted({{{label} for split, row in each}})" if has_names else ""
    lines = [
        "import csv, numpy, packer",
        f"files = {files!r}",
        "each = [(split, row) for split, path in files.items() "
        f"for row in list(csv.reader(open(path)))[{skipped}:]]",
        f'image = lambda row: numpy.array({cells}, "uint8").reshape({shape})  # {remark}',
        f'packer.pack(({{"image": image(row){fields}}} for split, row in each), "shards"{classes})',
    ]
    return ". To pack its rows, run these lines in Python:\n    " + "\n    ".join(lines)
