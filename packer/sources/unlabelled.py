"""What to tell of a source: how its boxes are read, and what of samples without labels."""

from collections.abc import Iterator, Sequence
from typing import Protocol, runtime_checkable

from packer.errors import BadImage
from packer.sources.folder.shape import plain
from packer.sources.parts import PartsSource
from packer.sources.records import Source
from packer.sources.table.classes import label_text
from packer.sources.table.columns import LABEL, Columns
from packer.sources.table.table import Record, Table
from packer.words import option

_FEW = 20  # values that are all different say nothing where there are so few
_MANY = 100_000  # different values are not classes


@runtime_checkable
class OfTables(Protocol):
    """A source that reads tables."""

    @property
    def without_labels(self) -> Sequence[tuple[Table, Columns]]:
        """Those whose rows could have a label and have none."""


@runtime_checkable
class _WithAdvice(Protocol):
    """A source that says how a Loader reads what it has."""

    @property
    def advice(self) -> str:
        """A sentence, "" for none."""


def remarks(source: Source, unlabelled: int, samples: int) -> Iterator[str]:
    """What to tell of a source.

    Args:
        source: whose samples they are.
        unlabelled: how many of them have no label.
        samples: how many they are.
    """
    if isinstance(source, _WithAdvice) and source.advice:
        yield source.advice
    if unlabelled == samples > 0:
        yield from _without_labels(source)
    elif unlabelled:
        have = "has" if unlabelled == 1 else "have"
        yield f"{unlabelled} of {samples} samples {have} no label: a Loader gives them -1."


def _without_labels(source: Source) -> Iterator[str]:
    """A sentence for each table of a source that gave no sample a label."""
    if isinstance(source, PartsSource):
        for _, part in source.parts:
            yield from _without_labels(part)
    for table, columns in source.without_labels if isinstance(source, OfTables) else ():
        yield _of_table(table, columns)


def _of_table(table: Table, columns: Columns) -> str:
    where = table.files[0].path.name
    if columns.label is not None:
        return f"No sample has a label: in {where}, {columns.label!r} is empty in every row."
    for name, kind in table.compound.items():
        if plain(name) in LABEL:
            return (
                f"No sample has a label: {name!r} of {where} holds {kind}, and a label is one name "
                "or one whole number. The column is in each sample's JSON."
            )
    names = ", ".join(map(repr, _candidates(table, columns)))
    hint = (
        f"These could be it: {names} ({option('label_column')})." if names else "None could be it."
    )
    return f"No sample has a label: no column of {where} is named as labels are. {hint}"


def _candidates(table: Table, columns: Columns) -> list[str]:
    """The columns whose values could be labels: names or numbers, of which some come again."""
    others = columns.others(dict.fromkeys(table.columns))
    values: dict[str, set[str]] = {name: set() for name in others if name not in table.compound}
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
