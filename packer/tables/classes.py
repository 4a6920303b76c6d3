"""The labels of a table: their texts, several of one image, and the numbers of classes (pure)."""

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from packer.errors import BadImage, UnusableInput
from packer.options.declared import column_option
from packer.samples.labels import MAX_CLASSES, class_order
from packer.trees.shape import plain
from packer.words import option

_NUMBER = re.compile(r"(-1|0|[1-9][0-9]*)(\.0+)?")  # pandas writes integers among gaps as floats
NONE = "none"  # chosen as a column of labels or their separator: there is none
_SEPARATORS = ("|", ";", ",", " ")
_PLURAL = ("labels", "tags", "attributeids", "findinglabels", "categories", "classes")
_MANY = 100_000  # different texts
_FLAGS = frozenset({"0", "1", "0.0", "1.0", "false", "true"})
_SET = frozenset({"1", "1.0", "true"})


def label_text(value: Any) -> str:
    """Return a label's text, "" for none; a number's decimal digits, a bool's as CSV has it."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if not isinstance(value, (str, int)):
        raise BadImage(f"its label is neither a name nor a whole number: {str(value)[:80]!r}")
    text = value if isinstance(value, str) else str(value)
    return "" if text in ("nan", "NaN") else text


@dataclass(frozen=True)
class Labels:
    """How the labels of a source become class numbers."""

    classes: tuple[str, ...] = ()  # in label order; empty where numbers have no names
    named: bool = False  # whether a label is the name of a class; otherwise it is its number
    declared: tuple[str, ...] = ()  # what the source's own numbers stand for; labels are these then

    @classmethod
    def of(cls, texts: Iterable[str], classes: Sequence[str] | None, where: object) -> "Labels":
        """Tell names from numbers."""
        found = set(texts) - {""}
        fractions = sorted(text for text in found if not _NUMBER.fullmatch(text))
        if classes is None and "." in "".join(fractions) and all(map(_is_float, found)):
            example = fractions[0]
            raise UnusableInput(
                f"{where} has labels such as {example}: numbers with fractions are not classes. "
                f"With {column_option('label', NONE)} they go into each sample's json; if they "
                f"are the names of classes, list them with {option('classes')}."
            )
        if not all(map(_NUMBER.fullmatch, found)) or (classes and found.issubset(classes)):
            return cls(class_order(where, found, classes), named=True)
        limit = len(classes) if classes else MAX_CLASSES
        largest = max(map(_whole, found), key=lambda digits: (len(digits), digits), default="0")
        if len(largest) > len(str(limit)) or int(largest) >= limit:
            raise UnusableInput(
                f"{where} has the label {largest[:80]}, and there are {limit} classes at most. If "
                f"labels are names that look like numbers, list them with {option('classes')}."
            )
        return cls(tuple(classes or ()))

    @classmethod
    def declare(cls, names: tuple[str, ...], order: Sequence[str] | None, at: Any) -> "Labels":
        """Return the labels of a source that numbers these classes itself."""
        return cls(class_order(at, names, order) if order else names, True, names)

    def __reduce__(self) -> tuple[Any, ...]:
        return Labels, (self.classes, self.named, self.declared)

    def numbered(self, texts: Iterable[str]) -> "Labels":
        """The same with names for all numbers, where samples do not have them as their label."""
        if self.classes:
            return self
        largest = max((int(_whole(text) or -1) for text in texts), default=-1)
        return Labels(tuple(map(str, range(largest + 1))))

    @cached_property
    def number_of(self) -> Callable[[str], int]:
        """The function from a label's text to its class number, -1 for none; raises BadImage."""
        if not self.named:
            return lambda text: int(_whole(text) or -1)
        numbers = {"": -1} | {name: number for number, name in enumerate(self.classes)}
        if not self.declared:
            return numbers.__getitem__

        def number(text: str) -> int:
            if text in ("", "-1"):
                return -1
            if not text.isdecimal() or len(text) > 9 or int(text) >= len(self.declared):
                count = len(self.declared)
                raise BadImage(f"its label, {text[:80]}, is none of the {count} classes")
            return numbers[self.declared[int(text)]]

        return number


def _is_float(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _whole(number: str) -> str:
    return number.partition(".")[0]


def separator_of(texts: Collection[str], column: str, chosen: str | None, where: object) -> str:
    """What divides the labels of an image that has several; "" if each has one."""
    if chosen is not None:
        return "" if chosen == NONE else chosen
    for separator in _SEPARATORS:
        several = {text: labels_in(text, separator) for text in texts if separator in text}
        several = {text: each for text, each in several.items() if len(each) > 1}
        if not several or len(texts) > _MANY:
            continue
        single = texts - several.keys()
        words = {word for each in several.values() for word in each}
        if separator == "|" or all(word.isdecimal() for word in words) or words <= single:
            return separator
        known = single | {_sorted(each, separator) for each in several.values()}
        for text, each in several.items():
            rest = [_sorted([*each[:at], *each[at + 1 :]], separator) for at in range(len(each))]
            if part := next((one for one in rest if one in known), None):
                if plain(column) in _PLURAL:
                    return separator
                raise UnusableInput(
                    f"{where}: {text!r} in the column {column!r} may be one label, or several, as "
                    f"{part!r} is one, too. Say {option('label_separator', separator)} if they are "
                    f"several, {option('label_separator', NONE)} if each image has one."
                )
    return ""


def labels_in(text: str, separator: str) -> list[str]:
    """The labels in a text, each once."""
    each = text.split() if separator == " " else map(str.strip, text.split(separator))
    return list(dict.fromkeys(filter(None, each)))


def is_flag(value: Any) -> bool:
    """Whether a value says yes or no."""
    return str(value).lower() in _FLAGS


def is_number(value: Any) -> bool:
    """Whether a value is a number, or nothing."""
    try:
        return value in (None, "") or float(value) is not None
    except (TypeError, ValueError):
        return False


def set_flags(fields: Mapping[str, Any], flags: Sequence[str]) -> list[str]:
    """The columns that say yes."""
    return [name for name in flags if str(fields.get(name)).lower() in _SET]


def _sorted(each: Sequence[str], separator: str) -> str:
    return separator.join(sorted(each))
