"""One table of a source, and what becomes of its rows (pure)."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from packer.errors import BadImage
from packer.samples.labels import Objects, to_json
from packer.tables.classes import label_text, labels_in, set_flags
from packer.tables.columns import Columns, split_text
from packer.tables.images import ImageResolver
from packer.tables.names import RUN_LENGTHS
from packer.tables.table import Table
from packer.trees.shape import plain

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
        """Whether there is something to learn in the sample's JSON."""
        return self.grouped or self.columns.is_object or bool(self.separator or self.flags)

    def name(self, fields: Fields) -> str:
        """The path of the image of a row, relative to the source's root."""
        value = fields.get(self.columns.image)
        if self.resolver.folder is None and type(value) is int:
            value = str(value)
        if not isinstance(value, str) or not value:
            raise BadImage("it names no image")
        return self.resolver.name(value)

    def further(self, fields: Fields) -> dict[str, str]:
        """The further images that a row names: member -> path."""
        named = {member: fields.get(name) for name, member in self.columns.pictures.items()}
        paths = {m: self.resolver.name(value) for m, value in named.items() if value}
        return {m + os.path.splitext(path)[1].lower(): path for m, path in paths.items()}

    def split_of(self, rows: Sequence[Fields], name: str) -> str:
        """The split of an image."""
        found = {split_text(self.columns.split_of(row)) for row in rows}
        if len(found) > 1:
            raise BadImage(f"its rows are of several splits: {', '.join(sorted(found))}")
        return found.pop() or self.split or self.resolver.images.split_of(name)

    def label_of(self, rows: Sequence[Fields], number_of: Callable[[str], int]) -> int:
        """The class number of an image; -1 if it has none, or several."""
        if self.grouped or (self.separator and not self.one_each):
            return -1
        if self.separator:
            texts = labels_in(label_text(self.columns.label_of(rows[0])), self.separator)
            return number_of(texts[0] if texts else "")
        if self.flags:
            return number_of(set_flags(rows[0], self.flags)[0]) if self.one_each else -1
        return number_of(label_text(self.columns.label_of(rows[0])))

    def json_of(self, rows: Sequence[Fields], number_of: Callable[[str], int]) -> bytes:
        """The JSON of what is stored of an image beside its label; empty if that is nothing."""
        if self.columns.is_object:
            return self._objects(rows, number_of).as_xywh().json()
        fields = self._fields(rows, number_of)
        return to_json(fields) if fields else b""

    def _fields(self, rows: Sequence[Fields], number_of: Callable[[str], int]) -> dict[str, Any]:
        others = self.columns.others(rows[0])
        if self.grouped:
            return {name: [row.get(name) for row in rows] for name in others}
        if self.separator and not self.one_each:
            texts = labels_in(label_text(self.columns.label_of(rows[0])), self.separator)
            return {**others, "labels": [number_of(text) for text in texts]}
        if self.flags:
            flags = set_flags(rows[0], self.flags)
            others = {name: value for name, value in others.items() if name not in self.flags}
            return others if self.one_each else {**others, "labels": list(map(number_of, flags))}
        return others

    def _objects(self, rows: Sequence[Fields], number_of: Callable[[str], int]) -> Objects:
        columns = self.columns
        objects: list[Fields] = []
        boxes: list[list[float]] = []
        image: dict[str, Any] = {}
        for row in rows:
            box = columns.box.numbers(row) if columns.box else None
            if box is not None:
                boxes.append(box)
            outlines = (value for name, value in row.items() if plain(name) in RUN_LENGTHS)
            if box is not None or (columns.box is None and any(outlines)):
                objects.append(row)
            else:
                label = {columns.label: row.get(columns.label)} if columns.label else {}
                image["image"] = columns.others(row) | label
        texts = [label_text(columns.label_of(row)) for row in objects]
        return Objects(
            boxes if columns.box else None,
            columns.box.format if columns.box else "xywh",
            None if columns.label is None else [number_of(text) for text in texts],
            {name: [row.get(name) for row in objects] for name in columns.others(rows[0])},
            image,
        )
