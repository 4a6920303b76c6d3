"""Rows that hold several objects: Hugging Face's column ``objects``, or a list of boxes in a cell.

They are read as rows of one object each, with what else is said of the image.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from packer.errors import BadImage
from packer.samples.records import Skipped
from packer.sources.tables.names import BOXES
from packer.sources.tables.table import Record, Table
from packer.sources.trees.shape import plain

_HEAD = 1000  # rows of which one has objects
_BOX = "bbox"
_SEVERAL = dict.fromkeys(BOXES, _BOX)
_SINGLE = {**_SEVERAL, "categories": "category", "labels": "label", "classes": "class"}


@dataclass(frozen=True)
class Unfolded(Table):
    """A table with a row for each object of the rows of another one."""

    base: Table | None = None
    column: str = ""  # that has the objects, or their boxes

    @classmethod
    def of(cls, table: Table) -> Table:
        """Return a table with a row for each object, or `table` if its rows have one at most."""
        for column in table.columns:
            name = plain(column)
            if name != "objects" and name not in _SEVERAL:
                continue
            records = (one for one in table.records([column]) if isinstance(one, Record))
            for record in islice(records, _HEAD):
                try:
                    rows = _objects(record.fields, column)
                except BadImage:
                    continue
                if rows:
                    return cls._of(table, column)
        return table

    @classmethod
    def _of(cls, table: Table, column: str) -> "Unfolded":
        names = {name: None for name in table.columns if name != column}
        compound = {name: kind for name, kind in table.compound.items() if name != column}
        own = (table.files, (), compound, table.class_names, table.fault, table.skipped)
        found = cls(*own, table, column)
        for record in found.records():
            if isinstance(record, Record):
                names |= dict.fromkeys(record.fields)
                compound = {n: k for n, k in compound.items() if _is_nested(record.fields.get(n))}
        return replace(found, columns=tuple(names), compound=compound)

    def records(self, columns: Sequence[str] | None = None) -> Iterator[Record | Skipped]:
        """Yield a record for each object, and one for a row without objects."""
        assert self.base
        names = self.base.columns
        if columns is not None:
            names = tuple(name for name in names if name in columns or name == self.column)
        for record in self.base.records(names):
            if isinstance(record, Skipped):
                yield record
                continue
            others = {name: one for name, one in record.fields.items() if name != self.column}
            try:
                rows = _objects(record.fields, self.column)
            except BadImage as error:
                yield Skipped(record.where, str(error), damaged=True)
                continue
            for row in rows or [{}]:
                fields = {**others, _BOX: None, **row}
                yield Record(record.where, fields, record.place, record.block)


def _objects(fields: Mapping[str, Any], column: str) -> list[dict[str, Any]]:
    """Return what a row has of each object; raise BadImage where its lists do not go together."""
    value = fields.get(column)
    if isinstance(value, str) and value.strip().startswith("[["):
        try:
            value = json.loads(value)
        except ValueError as error:
            raise BadImage(f"its {column!r} is no list of boxes: {value[:80]!r}") from error
    if plain(column) in _SEVERAL:
        if not isinstance(value, list) or not all(isinstance(one, list) for one in value):
            return []
        count = len(value)
        lists = {n: one for n, one in fields.items() if isinstance(one, list) and len(one) == count}
        value = {**lists, column: value}
    if isinstance(value, dict):
        lists = {name: one for name, one in value.items() if isinstance(one, list)}
        if not any(plain(name) in _SEVERAL for name in lists):
            return []
        if len(lists) < len(value) or len(set(map(len, lists.values()))) > 1:
            raise BadImage(f"the lists of its {column!r} have different lengths")
        value = [dict(zip(lists, one, strict=True)) for one in zip(*lists.values(), strict=True)]
    if not isinstance(value, list) or not all(isinstance(one, dict) for one in value):
        return []
    rows = [{_SINGLE.get(plain(name), name): one for name, one in row.items()} for row in value]
    has_names = plain(column) in _SEVERAL  # of the row's own columns, which these replace
    return [
        {
            name if has_names or name not in fields else f"object_{name}": one
            for name, one in row.items()
        }
        for row in rows
        if _BOX in row
    ]


def _is_nested(value: Any) -> bool:
    return value is None or isinstance(value, list | dict)
