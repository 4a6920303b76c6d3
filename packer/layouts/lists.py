"""What layouts write against: a `Row` for each image, from `Lists`, and how lists are read.

YOLO, VOC and the publishers' official lists are such layouts; `listed` makes samples of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from packer.errors import BadImage, Damaged, UnusableInput
from packer.samples.labels import Encodings, Objects, in_json
from packer.samples.records import Skipped
from packer.trees.tree import Tree

ONE_BOX = in_json("xywh", labels=False)  # of `box_note`


@dataclass(frozen=True)
class Row:
    """What the lists tell of one image.

    Attributes:
        image: its path, relative to the tree.
        label: the name of its class; None: it has none.
        split: the part of the dataset that it belongs to, "" for none.
        files: extension -> path of each file that belongs to it.
        note: what `Lists.members` needs beside these files to make the members; None: the files
            are the members, as they are, and are not read before they are packed.
    """

    image: str
    label: str | None = None
    split: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    note: str | None = None


class BadFile(Damaged):
    """One of a row's files cannot be understood.

    Attributes:
        ext: its extension in `Row.files`.
    """

    def __init__(self, ext: str, reason: str) -> None:
        self.ext = ext
        super().__init__(reason)


@dataclass(frozen=True)
class Lists:
    """A layout's lists; it is sent to the packing processes, so it must pickle and stay small.

    Attributes:
        classes: class names in label order; empty: there are no labels.
        sources: the files that it is read from, relative to the tree.
        ignored: further files, or folders with a ``/`` behind them, that mean nothing here ->
            the reason.
        unlisted: why an image that no row names is ignored; "": it may be data, and is rejected.
        boxes: how the members hold boxes.
        advice: how a Loader reads what `boxes` does not describe, a sentence.
    """

    classes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    ignored: Mapping[str, str] = field(default_factory=dict)
    unlisted: str = field(default="", kw_only=True)
    boxes: Encodings = field(default_factory=dict, kw_only=True)
    advice: str = field(default="", kw_only=True)

    def rows(self, tree: Tree) -> Iterator[Row | Skipped]:
        """A row for each image, in a fixed order, and what is skipped; it is asked for twice.

        Raises:
            UnusableInput: a list cannot be understood.
        """
        raise NotImplementedError

    def members(self, note: str, files: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """The members of a sample: extension -> bytes, the same whenever it is asked.

        Args:
            note: the row's; it is the text of the member ``json`` if this is not overridden.
            files: extension -> bytes of the row's files; those that are not given back are no
                members.

        Raises:
            BadFile: one of the files cannot be understood.
            BadImage: the note cannot.
        """
        return {**files, "json": note.encode()}


def records(
    tree: Tree, path: str, fields: int, separator: str | None = None
) -> Iterator[list[str] | Skipped]:
    """The lines of a list, each divided into so many fields; a line that has fewer is named.

    Args:
        fields: how many there are; the last one may hold the separator.
        separator: between the fields; None: white space.

    Raises:
        UnusableInput: the list cannot be read.
    """
    for number, line in enumerate(tree.lines(path), 1):
        found = line.split(separator, fields - 1)
        if len(found) == fields:
            yield [field.strip() for field in found]
        else:
            reason = f"it has {len(found)} fields, and {fields} should be"
            yield Skipped(f"{path}:{number}", reason, damaged=True)


def table_of(tree: Tree, path: str, separator: str | None = None) -> dict[str, str]:
    """The list of pairs at `path`: the first field of each line -> the rest of it.

    Raises:
        UnusableInput: the list cannot be read, or a line has one field only.
    """
    found = {}
    for record in records(tree, path, 2, separator):
        if isinstance(record, Skipped):
            raise UnusableInput(f"{tree.root / record.name}: {record.reason}.")
        found[record[0]] = record[1]
    return found


def box_note(
    numbers: Sequence[str],
    where: object,
    more: Mapping[str, object] | None = None,
    *,
    format: str = "xyxy",
) -> str:
    """Return the note of an image with one box: the ``json`` of `ONE_BOX` and the fields `more`."""
    try:
        (box,) = Objects([list(map(float, numbers))], format).as_xywh().boxes or ()
        box = [int(number) if number.is_integer() else number for number in box]
        return Objects([box], image=more or {}).json().decode()
    except (ValueError, BadImage) as error:
        raise UnusableInput(f"{where}: {' '.join(numbers)[:80]!r} is not a box.") from error
