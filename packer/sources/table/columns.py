"""The columns of a manifest: which one is what, and what their values mean (pure)."""

import base64
import datetime
import decimal
import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from packer.errors import BadImage, UnusableInput
from packer.sources.labels import class_order
from packer.sources.options import SourceOptions
from packer.sources.table.table import Table

IMAGE = (
    *("image", "path", "file", "file_name", "filename", "image_path", "file_path", "filepath"),
    *("img", "img_path", "image_file"),
)
LABEL = (
    *("label", "labels", "fine_label", "coarse_label", "label_name", "label_id"),
    *("class", "classes", "cls", "class_name", "class_id", "class_label"),
    *("category", "category_name", "category_id", "target"),
)
SPLIT = ("split",)

MAX_LABEL = 1_000_000  # a larger number is an identifier and not a class
SPLIT_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,254}")  # its folder's has 255 bytes at most

_NUMBER = re.compile(r"(-1|0|[1-9][0-9]*)(\.0+)?")  # pandas writes integers among gaps as floats


@dataclass(frozen=True)
class Columns:
    """The names of the columns with a meaning of their own; every other one is a sample's JSON."""

    image: str
    label: str | None
    split: str | None

    @classmethod
    def find(cls, table: Table, options: SourceOptions, where: object) -> "Columns":
        """Those that `options` name, else those with the usual names.

        Raises:
            UnusableInput: a column that is named is not there, none can hold the images, or
                several could be the label.
        """
        columns = table.columns
        image = _find(columns, options.image_column, IMAGE, "--image-column", where)
        if image is None:
            raise UnusableInput(
                f"{where} has no column for the images: it has {_listed(columns)}. "
                "Say which one it is with --image-column."
            )
        return cls(
            image,
            _label(table, options.label_column, where),
            _find(columns, options.split_column, SPLIT, "--split-column", where),
        )

    def label_of(self, fields: Mapping[str, Any]) -> Any:
        """A record's label, None for none."""
        return None if self.label is None else fields.get(self.label)

    def split_of(self, fields: Mapping[str, Any]) -> Any:
        """A record's split, None for none."""
        return None if self.split is None else fields.get(self.split)

    def others(self, fields: Mapping[str, Any]) -> dict[str, Any]:
        """What belongs into the sample's JSON."""
        named = (self.image, self.label, self.split)
        return {name: value for name, value in fields.items() if name not in named}


def _find(
    columns: Sequence[str], chosen: str | None, usual: Sequence[str], option: str, where: object
) -> str | None:
    if chosen is not None:
        if chosen not in columns:
            raise UnusableInput(
                f"{where} has no column {chosen!r} ({option}): it has {_listed(columns)}."
            )
        return chosen
    by_name = {name.lower(): name for name in reversed(columns)}
    return next((by_name[name] for name in usual if name in by_name), None)


def _label(table: Table, chosen: str | None, where: object) -> str | None:
    """The column that is chosen, declared to hold labels, or named as they are."""
    if chosen is not None:
        return _find(table.columns, chosen, LABEL, "--label-column", where)
    named = [name for name in table.columns if name.lower() in LABEL and name not in table.compound]
    found = list(table.class_names) or named
    if len(found) > 1:
        found = [name for name in found if name.lower() == LABEL[0]] or found
    if len(found) > 1:
        raise UnusableInput(
            f"{where} has several columns that could be the label: {_listed(found)}. "
            "Say which one it is with --label-column."
        )
    return found[0] if found else None


def _listed(columns: Sequence[str]) -> str:
    return ", ".join(map(repr, columns[:20])) or "none"


def label_text(value: Any) -> str:
    """A label's text, "" for none; of a number its decimal digits, of a bool what CSV has for it.

    Raises:
        BadImage: it is neither text nor a number.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, (str, int)):
        raise BadImage(f"its label is neither a name nor a whole number: {str(value)[:80]!r}")
    return value if isinstance(value, str) else str(value)


def split_text(value: Any) -> str:
    """The name of a split, "" for none.

    Raises:
        BadImage: no folder should have such a name.
    """
    text = "" if value is None else str(value)
    if text and not SPLIT_NAME.fullmatch(text):
        raise BadImage(
            f"its split, {text[:80]!r}, is not a plain name such as train, of 255 "
            "characters at most"
        )
    return text


@dataclass(frozen=True)
class Labels:
    """How the labels of a source become class numbers.

    Attributes:
        classes: class names in label order; empty without labels, or where these are numbers
            already and nobody has named them.
        named: whether a label is the name of a class; else it is its number.
        declared: the class names that the source's own numbers stand for, in their order; a label
            is such a number then.
    """

    classes: tuple[str, ...] = ()
    named: bool = False
    declared: tuple[str, ...] = ()

    @classmethod
    def of(cls, texts: Iterable[str], classes: Sequence[str] | None, where: object) -> "Labels":
        """Tell names from numbers.

        Args:
            texts: every label that occurs.
            classes: class names in label order; None: the sorted names that occur.
            where: what to name in an error.

        Raises:
            UnusableInput: `classes` lacks one of them, or a number is too large for a class.
        """
        found = set(texts) - {""}
        if not all(map(_NUMBER.fullmatch, found)) or (classes and found.issubset(classes)):
            return cls(class_order(where, found, classes), named=True)
        limit = len(classes) if classes else MAX_LABEL
        largest = max(map(_whole, found), key=lambda digits: (len(digits), digits), default="0")
        if len(largest) > len(str(limit)) or int(largest) >= limit:
            raise UnusableInput(
                f"{where} has the label {largest[:80]}, and there are {limit} classes at most. If "
                "labels are names that look like numbers, list them with --classes."
            )
        return cls(tuple(classes or ()))

    def numbering(self) -> Callable[[str], int]:
        """What gives the class number of a label's text, -1 for none.

        It raises BadImage where the source declares no class of that number.
        """
        if not self.named:
            return lambda text: int(_whole(text) or -1)
        numbers = {"": -1} | {name: number for number, name in enumerate(self.classes)}
        if not self.declared:
            return numbers.__getitem__

        def number(text: str) -> int:
            if text in ("", "-1"):
                return -1
            if not text.isdecimal() or len(text) > 9 or int(text) >= len(self.declared):
                raise BadImage(
                    f"its label, {text[:80]}, is none of the {len(self.declared)} classes"
                )
            return numbers[self.declared[int(text)]]

        return number


def _whole(number: str) -> str:
    """The digits of a label that is a number: ``3`` of ``3.0``."""
    return number.partition(".")[0]


def to_json(fields: Mapping[str, Any]) -> bytes:
    """The JSON of a sample (RFC 8259, ASCII): NaN and infinities as null, bytes as base64.

    Raises:
        BadImage: it is nested too deeply.
    """
    try:
        try:
            text = json.dumps(fields, separators=(",", ":"), allow_nan=False)
        except (TypeError, ValueError):
            text = json.dumps(_plain(fields), separators=(",", ":"))
    except RecursionError as error:
        raise BadImage("it is nested too deeply") from error
    return text.encode()


def _plain(value: Any) -> Any:
    """`value` of what JSON has."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (decimal.Decimal, datetime.timedelta)):
        return str(value)
    return value
