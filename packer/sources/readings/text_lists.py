"""Publishers' lists in text: the fields of their lines, and rows that are made of these."""

from collections.abc import Callable, Iterator, Mapping, Sequence

from packer.errors import BadImage, UnusableInput
from packer.samples.labels import Objects, in_json
from packer.samples.records import Facts, Skipped
from packer.sources.scanners.rows.lists import Row, Rows
from packer.sources.trees.tree import Tree

ONE_BOX = Facts(boxes=in_json("xywh", labels=False))  # of `one_box`


def records(
    tree: Tree, path: str, fields: int, separator: str | None = None
) -> Iterator[list[str] | Skipped]:
    """Yield the lines of a list, each divided into so many fields, and those that have fewer.

    The last field may hold the separator; None is white space.
    """
    for number, line in enumerate(tree.lines(path), 1):
        found = line.split(separator, fields - 1)
        if len(found) == fields:
            yield [field.strip() for field in found]
        else:
            reason = f"it has {len(found)} fields, and {fields} should be"
            yield Skipped(f"{path}:{number}", reason, damaged=True)


def rows_of(
    tree: Tree, lists: Mapping[str, str], fields: int, row: Callable[..., Row | Skipped]
) -> Rows:
    """Return what yields the rows that `row` makes of a split and the fields of a line.

    `lists` are the paths of the splits' lists.
    """

    def rows() -> Iterator[Row | Skipped]:
        for split, path in lists.items():
            for record in records(tree, path, fields):
                yield record if isinstance(record, Skipped) else row(split, *record)

    return rows


def table_of(tree: Tree, path: str, separator: str | None = None) -> dict[str, str]:
    """Return the rest of each line of a list by its first field; nothing if there is no list."""
    found = {}
    for record in records(tree, path, 2, separator) if tree.has(path) else ():
        if isinstance(record, Skipped):
            raise UnusableInput(f"{tree.root / record.name}: {record.reason}.")
        found[record[0]] = record[1]
    return found


def one_box(
    numbers: Sequence[str],
    where: object,
    more: Mapping[str, object] | None = None,
    *,
    format: str = "xyxy",
) -> bytes:
    """Return the ``json`` of an image with one box, as in `ONE_BOX`, and the fields `more`."""
    try:
        (box,) = Objects([list(map(float, numbers))], format).as_xywh().boxes or ()
        box = [int(number) if number.is_integer() else number for number in box]
        return Objects([box], image=more or {}).json()
    except (ValueError, BadImage) as error:
        raise UnusableInput(
            f"{where}: {' '.join(numbers)[:80]!r} is not a box of four numbers."
        ) from error
