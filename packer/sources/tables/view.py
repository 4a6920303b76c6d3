"""One table of a source, and what becomes of its rows (pure)."""

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from packer.errors import BadImage
from packer.samples.labels import Objects, to_json
from packer.sources.tables.classes import label_text, labels_in, set_flags
from packer.sources.tables.columns import Columns, split_text
from packer.sources.tables.images import ImageResolver
from packer.sources.tables.names import LABEL, RUN_LENGTHS
from packer.sources.tables.table import Record, Table
from packer.sources.trees.shape import plain
from packer.words import Message, listed, option

Fields = Mapping[str, Any]


@dataclass(frozen=True)
class TableView:
    """A table of images, and how it is understood."""

    table: Table
    columns: Columns
    resolver: ImageResolver
    split: str = ""  # of the images whose row does not tell it
    separator: str = ""  # what divides the labels of one image; "": it has one
    flags: tuple[str, ...] = ()  # columns of 0 and 1 that are the labels
    one_each: bool = False  # whether each row has 1 in just one of them, or a list of one label
    grouped: bool = False  # whether an image may have several rows

    @property
    def where(self) -> Path:
        """The file, or the first of them, for a person."""
        return self.table.files[0].path

    @property
    def scalars(self) -> list[str]:
        """The columns of single texts and numbers."""
        return [name for name in self.table.columns if name not in self.table.compound]

    @property
    def can_group(self) -> bool:
        """Whether an image may have several rows: they are of objects, or without labels."""
        is_plain = self.columns.label is None and not self.flags
        return self.columns.is_object or (
            is_plain and bool(self.columns.others(dict.fromkeys(self.scalars)))
        )

    @property
    def has_targets(self) -> bool:
        """Whether the sample's JSON has data for training."""
        return self.grouped or self.columns.is_object or bool(self.separator or self.flags)

    @property
    def has_several(self) -> bool:
        """Whether an image has a list of labels."""
        return bool(self.separator or self.flags) and not self.one_each

    def with_columns(self, **changes: Any) -> "TableView":
        """Return it with other columns."""
        return replace(self, columns=replace(self.columns, **changes))

    def name(self, fields: Fields) -> str:
        """Return the path of the image of a row, relative to the source's root."""
        value = fields.get(self.columns.image)
        if self.resolver.folder is None and type(value) is int:
            value = str(value)
        if not isinstance(value, str) or not value:
            raise BadImage("it names no image")
        return self.resolver.name(value)

    @property
    def first_folder(self) -> str | None:
        """The folder of the first image that is there; None if none is."""
        for record in self.table.records(self.scalars):
            if isinstance(record, Record):
                with suppress(BadImage):
                    return os.path.dirname(self.name(record.fields))
        return None

    def further(self, fields: Fields) -> dict[str, str]:
        """Return the further images that a row names: member -> path."""
        if not self.columns.pictures:
            return {}
        named = {member: fields.get(name) for name, member in self.columns.pictures.items()}
        paths = {m: self.resolver.name(value) for m, value in named.items() if value}
        return {m + os.path.splitext(path)[1].lower(): path for m, path in paths.items()}

    def split_of(self, rows: Sequence[Fields], name: str) -> str:
        """Return the split of an image."""
        found = {split_text(self.columns.split_of(row)) for row in rows}
        if len(found) > 1:
            raise BadImage(f"its rows are of several splits: {', '.join(sorted(found))}")
        return found.pop() or self.split or self.resolver.images.split_of(name)

    def _labels(self, fields: Fields) -> list[str]:
        if self.flags:
            return set_flags(fields, self.flags)
        text = label_text(self.columns.label_of(fields))
        return labels_in(text, self.separator) if self.separator else [text]

    def label_of(self, rows: Sequence[Fields]) -> str | None:
        """Return the label of an image; None if it has none, or several."""
        if self.grouped or self.has_several:
            return None
        return next(iter(self._labels(rows[0])), None)

    def json_of(self, records: Sequence[Record], number_of: Callable[[str], int]) -> bytes:
        """The JSON of what is stored of an image beside its label; empty if that is nothing."""
        rows = [record.fields for record in records]
        if self.columns.is_object:
            return self._objects(records, number_of).as_xywh().json()
        fields = self._fields(rows, number_of)
        return to_json(fields) if fields else b""

    def _fields(self, rows: Sequence[Fields], number_of: Callable[[str], int]) -> dict[str, Any]:
        others = self.columns.others(rows[0])
        if self.grouped:
            return {name: [row.get(name) for row in rows] for name in others}
        others = {name: value for name, value in others.items() if name not in self.flags}
        if self.has_several:
            others["labels"] = [number_of(text) for text in self._labels(rows[0])]
        return others

    def _objects(self, records: Sequence[Record], number_of: Callable[[str], int]) -> Objects:
        columns = self.columns
        objects: list[Fields] = []
        places: list[str] = []
        boxes: list[list[float]] = []
        image: dict[str, Any] = {}
        for record in records:
            row = record.fields
            box = columns.box.numbers(row) if columns.box else None
            if box is not None:
                boxes.append(box)
                places.append(record.where)
            outlines = (value for name, value in row.items() if plain(name) in RUN_LENGTHS)
            if box is not None or (columns.box is None and any(outlines)):
                objects.append(row)
            else:
                label = {columns.label: row.get(columns.label)} if columns.label else {}
                image["image"] = columns.others(row) | label
        texts = [label_text(columns.label_of(row)) for row in objects]
        others = columns.others(records[0].fields)
        return Objects(
            boxes if columns.box else None,
            columns.box.format if columns.box else "xywh",
            None if columns.label is None else [number_of(text) for text in texts],
            {name: [row.get(name) for row in objects] for name in others},
            image,
            places,
            columns.size_of(records[0].fields),
            picture=columns.picture_of(records[0].fields),
        )


def could_have_labels(table: Table, columns: Columns) -> str:
    """Return a sentence on a table that gave no sample a label."""
    where = table.files[0].path.name
    if columns.label is not None:
        return f"No sample has a label: in {where}, {columns.label!r} is empty in every row."
    for name, kind in table.compound.items():
        if plain(name) in LABEL:
            return (
                f"No sample has a label: {name!r} of {where} holds {kind}, and a label is one name "
                "or one whole number. The column is in each sample's JSON."
            )
    text = f"No sample has a label: no column of {where} has a usual name of labels."
    others = [n for n in columns.others(dict.fromkeys(table.columns)) if n not in table.compound]
    if not others:
        return text
    one = f" If one of {listed(others)} is the label, choose it by "
    return Message(text, one, option("label_column"), ".")
