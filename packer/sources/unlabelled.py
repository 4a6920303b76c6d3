"""What to tell of a table that labels no sample: which of its columns could be the labels."""

from collections.abc import Iterator
from typing import Protocol, runtime_checkable

from packer.errors import BadImage
from packer.sources.parts import PartsSource
from packer.sources.records import Source
from packer.sources.table.columns import Columns, label_text
from packer.sources.table.table import Record, Table

_FEW = 20  # values that are all different say nothing where there are so few
_MANY = 100_000  # different values are no classes


@runtime_checkable
class _OfTable(Protocol):
    """A source that reads a table."""

    table: Table
    columns: Columns


def remarks(source: Source) -> Iterator[str]:
    """A sentence for each table of a source that gave no sample a label."""
    if isinstance(source, PartsSource):
        for _, part in source.parts:
            yield from remarks(part)
    if not isinstance(source, _OfTable):
        return
    where = source.table.files[0].path.name
    if source.columns.label is not None:
        yield f"No sample has a label: in {where}, {source.columns.label!r} is empty in every row."
        return
    names = ", ".join(map(repr, _candidates(source.table, source.columns)))
    hint = f"These could be it: {names} (--label-column)." if names else "None could be it."
    yield f"No sample has a label: no column of {where} is named as labels are. {hint}"


def _candidates(table: Table, columns: Columns) -> list[str]:
    """The columns whose values could be labels: names or numbers, of which some come again."""
    others = columns.others(dict.fromkeys(table.columns))
    values: dict[str, set[str]] = {name: set() for name in others if name in table.plain}
    rows = 0
    for record in table.records(list(values)) if values else ():
        if isinstance(record, Record):
            rows += 1
            for name, found in list(values.items()):
                try:
                    found.add(label_text(record.fields.get(name)))
                except BadImage:
                    del values[name]
                if len(found) > _MANY:
                    values.pop(name, None)
    most = max(rows / 2, _FEW)
    return [name for name, found in values.items() if found - {""} and len(found) <= most]
