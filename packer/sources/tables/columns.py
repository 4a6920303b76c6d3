"""The columns of a table: which one is what, as a box is, and which could be the label."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from packer.errors import Ambiguous, BadImage, UnusableInput
from packer.images.annotated import Size, size_of
from packer.options.declared import SourceOptions
from packer.options.kinds import SPLIT_NAME
from packer.samples.outside import FRACTIONS
from packer.sources.tables.classes import NONE
from packer.sources.tables.names import IMAGE, LABEL, RUN_LENGTHS, SPLIT, may_be_split
from packer.sources.tables.table import Table
from packer.sources.tables.vectors import are_one_hot, is_vector
from packer.sources.trees.names import splits_of, translated
from packer.sources.trees.shape import plain
from packer.words import Message, option

ACCEPTED = "accept"


# Of a box in four columns, or in one.
_BOXES = {
    "xyxy": (
        *("xmin ymin xmax ymax", "x1 y1 x2 y2", "left top right bottom"),
        *("bboxxmin bboxymin bboxxmax bboxymax", "bboxx1 bboxy1 bboxx2 bboxy2"),
    ),
    "xywh": (
        *("x y w h", "x y width height", "x1 y1 width height", "xmin ymin width height"),
        *("left top width height", "bboxx bboxy bboxw bboxh", "bboxx bboxy bboxwidth bboxheight"),
    ),
    "cxcywh": (
        *("xcenter ycenter width height", "xcenter ycenter w h"),
        *("centerx centery width height", "cx cy w h"),
    ),
}
_ALL_IN_ONE = ("bbox", "box", "boundingbox", "bndbox")
_NOTHING = ("", "nan", "none", "null", "[]")


@dataclass(frozen=True)
class Box:
    """The columns of a row's box."""

    names: tuple[str, ...]  # of four columns, or of one that has all four numbers
    format: str = ""  # one of `FORMATS`; "" where only the values can tell
    normalized: bool = False  # whether all are fractions of the image's size

    @classmethod
    def of(cls, columns: Sequence[str], format: str | None) -> "Box | None":
        """Return the box by the columns' names; None if a row has none."""
        known = {plain(name): name for name in reversed(columns)}
        for kind, each in _BOXES.items():
            for names in map(str.split, each):
                if known.keys() >= set(names):
                    return cls(tuple(known[name] for name in names), format or kind)
        name = next((name for name in _ALL_IN_ONE if name in known), None)
        return None if name is None else cls((known[name],), format or "")

    def numbers(self, fields: Mapping[str, Any]) -> list[float] | None:
        """Return the four numbers of a row, None if it has no box."""
        values: Any = [fields.get(name) for name in self.names]
        if len(values) == 1:
            values = _four(values[0])
        if all(str(value).strip().lower() in _NOTHING or value is None for value in values):
            return None
        try:
            numbers = [_number(value) for value in values]
        except (TypeError, ValueError):
            numbers = []
        if len(numbers) != 4 or not all(map(math.isfinite, numbers)):
            raise BadImage(f"its box is not of four numbers: {str(values)[:80]}")
        return numbers


def possible(numbers: Sequence[float], size: Size | None) -> set[str]:
    """Return which of "xyxy" and "xywh" four numbers may be."""
    x, y, third, fourth = numbers
    found = {"xyxy", "xywh"}
    if third < x or fourth < y:
        found.discard("xyxy")
    if size and (x + third > size[0] + 1 or y + fourth > size[1] + 1):
        found.discard("xywh")
    return found


def _four(value: Any) -> Sequence[Any]:
    if not isinstance(value, str):
        return value if isinstance(value, list) else [value]
    text = value.strip()
    if text.startswith("["):
        try:
            return list(json.loads(text))
        except ValueError:
            text = text.strip("[]")
    return text.strip("()").replace(",", " ").split() or [""]


def _number(value: Any) -> float:
    number = float(value)
    return int(number) if number.is_integer() and "." not in str(value) else number


@dataclass(frozen=True)
class SplitRule:
    """The split of a row, by the values of one column or several."""

    splits: Mapping[str, Mapping[str, str]]  # column -> value -> split
    rest: str | None = None  # of rows with none of the values; None: these have no split

    def of(self, fields: Mapping[str, Any]) -> str:
        """Return the split of a row."""
        found = {
            known.get(split_value(fields.get(name)), "") for name, known in self.splits.items()
        }
        found -= {""}
        if len(found) > 1 or (not found and self.rest is None):
            values = ", ".join(f"{name} {fields.get(name)!r}" for name in self.splits)
            raise BadImage(f"its columns do not define one split: {values[:200]}")
        return found.pop() if found else self.rest or ""


def split_value(value: Any) -> str:
    """Return the text of a value that may name a split."""
    text = "" if value is None else str(value).strip().lower()
    return text.removesuffix(".0")


@dataclass(frozen=True)
class Columns:
    """The names of the columns with a meaning of their own; every other one is a sample's JSON."""

    image: str
    label: str | None
    split: str | None
    box: Box | None = None  # that a row is of one object, and where its box is
    is_object: bool = False  # whether a row is of one object, with a box or an outline
    pictures: Mapping[str, str] = field(default_factory=dict)  # further images' -> member's names
    rule: SplitRule | None = None  # which columns tell the split, if none names it
    answer: str | None = None  # says whether a person accepted the label, as Prodigy writes it

    @classmethod
    def find(
        cls,
        table: Table,
        options: SourceOptions,
        where: object,
        image: str,
        head: Sequence[Mapping[str, Any]] = (),
    ) -> "Columns":
        """Return the columns that `options` name, otherwise those with the usual names."""
        names = [name for name in table.columns if name != image]
        label = _label(table, names, options.label_column, where)
        box = Box.of([name for name in names if name not in table.compound], options.box_format)
        if not (label or box or options.label_column):
            label = _one_hot([name for name in names if name not in table.compound], head)
        return cls(
            image,
            label,
            _split(names, options.split_column, where, head),
            box,
            box is not None or any(plain(name) in RUN_LENGTHS for name in names),
        )

    def label_of(self, fields: Mapping[str, Any]) -> Any:
        """Return a record's label, None for none, or for one that was not accepted."""
        if self.label is None or (self.answer and fields.get(self.answer) != ACCEPTED):
            return None
        value = fields.get(self.label)
        return str(value) if isinstance(value, list) and is_vector(value) else value

    def split_of(self, fields: Mapping[str, Any]) -> Any:
        """Return a record's split, None for none."""
        if self.rule is not None:
            return self.rule.of(fields)
        return None if self.split is None else fields.get(self.split)

    def size_of(self, fields: Mapping[str, Any]) -> Size | None:
        """Return the size of a record's image in the unit of its box, if it is known."""
        if self.box is None or self.box.normalized:
            return FRACTIONS
        return self.picture_of(fields)

    def picture_of(self, fields: Mapping[str, Any]) -> Size | None:
        """Return the size in pixels that a record gives of its image, if it does."""
        of_box = self.box.names if self.box else ()
        return size_of({name: value for name, value in fields.items() if name not in of_box})

    def others(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """Return the columns that go into the sample's JSON unchanged."""
        named = self._named
        if self.answer and fields.get(self.answer) != ACCEPTED:
            named = named - {self.label}
        return {name: value for name, value in fields.items() if name not in named}

    @cached_property
    def _named(self) -> frozenset[str | None]:
        of_box = self.box.names if self.box else ()
        of_split = self.rule.splits if self.rule else ()
        return frozenset((self.image, self.label, self.split, *of_box, *self.pictures, *of_split))


def image_columns(table: Table, options: SourceOptions, where: object) -> list[str]:
    """Return the columns that may name the images, the chosen one or those with usual names first.

    Those of labels come last: they may hold further images.
    """
    columns = table.columns
    chosen = options.image_column and _chosen(columns, options.image_column, "image", where)
    named = {plain(name): name for name in reversed(columns) if name not in table.compound}
    usual = [named[name] for name in IMAGE if name in named]
    labels = [name for name in columns if is_label(name) or plain(name) == SPLIT]
    found = dict.fromkeys([chosen] if chosen else [])
    found |= dict.fromkeys([*usual, *(name for name in columns if name not in labels), *labels])
    return [name for name in found if name not in table.compound]


def is_usual(column: str) -> bool:
    """Return whether a column is named as those of images are, and as no other is."""
    return plain(column) in IMAGE[: IMAGE.index("imageid")]


def is_id(column: str) -> bool:
    """Whether a column is named as those are that often name images without folder or extension."""
    return plain(column) in IMAGE


def listed(columns: Sequence[str]) -> str:
    """Return the names of columns, for an error."""
    return ", ".join(map(repr, columns[:20])) or "none"


def split_text(value: Any) -> str:
    """Return the name of a split, "" for none; words of other languages in English."""
    text = "" if value is None else translated(str(value)) or str(value)
    if text and not SPLIT_NAME.fullmatch(text):
        plain_name = "a plain name such as train, of 255 characters at most"
        raise BadImage(f"its split, {text[:80]!r}, is not {plain_name}")
    return text


def _chosen(names: Sequence[str], chosen: str, role: str, where: object) -> str | None:
    """Return the column that the caller has named; None if the caller passes none."""
    if chosen in names:
        return chosen
    if chosen == NONE and role != "image":
        return None
    known = listed(names)
    raise UnusableInput(
        f"{where} has no column {chosen!r} (", option(f"{role}_column"), f"): it has {known}."
    )


def _split(
    names: Sequence[str], chosen: str | None, where: object, head: Sequence[Mapping[str, Any]]
) -> str | None:
    if chosen is not None:
        return _chosen(names, chosen, "split", where)
    for name in names:
        if plain(name) == SPLIT:
            return name
        values = {str(row.get(name)) for row in head}
        if may_be_split(name) and values and set(splits_of(sorted(values))) == values:
            return name
    return None


def _label(table: Table, names: Sequence[str], chosen: str | None, where: object) -> str | None:
    if chosen is not None:
        return _chosen(names, chosen, "label", where)
    named = [name for name in names if is_label(name) and name not in table.compound]
    found = [name for name in table.class_names if name in names] or named
    if len(found) > 1:  # beside a label, tags are remarks
        found = [name for name in found if plain(name) == LABEL[0]] or found
        found = [name for name in found if plain(name) != "tags"] or found
    if len(found) > 1:
        readings = {f"{name!r} is the label": ("--label-column", name) for name in found}
        text = (
            "{} has several columns that could be the label: {}. Choose one with {}, or none with "
            "{}."
        )
        none = option("label_column", NONE)
        raise Ambiguous(
            Message.of(text, str(where), listed(found), option("label_column"), none),
            readings={**readings, "There is none": ("--label-column", NONE)},
        )
    return found[0] if found else None


def _one_hot(names: Sequence[str], head: Sequence[Mapping[str, Any]]) -> str | None:
    """Return the only column of one-hot vectors in the first rows, whatever its name."""
    found = [name for name in names if are_one_hot({str(row.get(name)) for row in head})]
    return found[0] if len(found) == 1 else None


def is_label(column: str) -> bool:
    """Return whether a column is named as labels are; FiftyOne writes ``FIELD.label``."""
    return plain(column) in LABEL or plain(column.rpartition(".")[2]) == LABEL[0]
