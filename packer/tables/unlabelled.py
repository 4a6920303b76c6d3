"""What to say of a table that gives no sample a label."""

from packer.errors import BadImage
from packer.tables.classes import label_text
from packer.tables.columns import LABEL, Columns
from packer.tables.table import Record, Table
from packer.trees.shape import plain
from packer.words import option

_FEW = 20  # values that are all different say nothing where there are so few
_MANY = 100_000  # different values are not classes


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
