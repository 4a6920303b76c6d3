"""The labels of a table: their texts, several of one image, and the numbers of classes (pure)."""

import ast
import json
import math
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from packer.errors import Ambiguous, BadImage, UnusableInput
from packer.samples.labels import MAX_CLASSES, class_order
from packer.sources.tables.vectors import (
    VECTOR,
    are_vectors,
    classes_in,
    fractions_in,
    is_one_hot,
    shortened_in,
)
from packer.sources.trees.shape import plain
from packer.words import Message, option

_NUMBER = re.compile(r"(-1|0|[1-9][0-9]*)(\.0+)?")  # pandas writes integers among gaps as floats
NONE = "none"  # chosen as a column of labels or their separator: there is none
_SEPARATORS = ("|", ";", ",", " ")
_SPACES = "\x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000\u2060\ufeff"
_AROUND = string.whitespace + _SPACES + "".join(map(chr, range(0x2000, 0x2010)))
LIST = "[]"  # as a separator: each cell is a list, as JSON or Python writes it
_PLURAL = ("labels", "tags", "attributeids", "findinglabels", "categories", "classes")
_MANY = 100_000  # different texts
_FLAGS = frozenset({"0", "1", "0.0", "1.0", "false", "true"})
_QUALITY = frozenset(
    (
        *("blur", "blurred", "blurry", "occluded", "occlusion", "truncated", "difficult", "crowd"),
        *("noisy", "flipped", "rotated", "cropped", "duplicate", "corrupt", "corrupted", "bad"),
        *("ignore", "use", "usable", "reviewed", "verified", "quality", "valid", "depiction"),
        *("inside", "group"),
    )
)
_SET = frozenset({"1", "1.0", "true"})


def label_text(value: Any) -> str:
    """Return a label's text, "" for none; a number's decimal digits, a bool's as CSV has it.

    Of a list of 0 and one 1, it is the number of the place.
    """
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if is_one_hot(value):
        (value,) = classes_in(str(value))
    if not isinstance(value, (str, int)):
        raise BadImage(f"its label is neither a name nor a whole number: {str(value)[:80]!r}")
    text = clean(value) if isinstance(value, str) else str(value)
    return "" if text in ("nan", "NaN") else text


def clean(text: str) -> str:
    """Return a label without spaces and marks around it, in one form of Unicode (NFC)."""
    if text.isascii():
        return text.strip()
    return unicodedata.normalize("NFC", text.strip(_AROUND))


@dataclass(frozen=True)
class Labels:
    """How the labels of a source become class numbers."""

    classes: tuple[str, ...] = ()  # in label order; empty where numbers have no names
    named: bool = False  # whether a label is the name of a class; otherwise it is its number
    declared: tuple[str, ...] = ()  # what the source's own numbers stand for; labels are these then

    @classmethod
    def of(cls, texts: Iterable[str], classes: Sequence[str] | None, where: object) -> "Labels":
        """Distinguish names from numbers."""
        found = set(texts) - {""}
        if classes is None and found and (example := shortened_in(found)):
            raise Ambiguous(
                f"{where} has labels such as {example}: a list that was shortened as it was "
                "written, and the numbers behind ... are lost. Write the table again, with the "
                "number of each class (vector.argmax()) as the label.",
                readings={
                    "Store the texts in each sample's json": ("--label-column", NONE),
                },
            )
        if classes is None and found and (example := _fraction(found)):
            text = (
                "{} has labels such as {}: numbers with fractions are not classes. To store them "
                "in each sample's json, pass {}. If they are names of classes, list these with {}."
            )
            none = option("label_column", NONE)
            raise Ambiguous(
                Message.of(text, str(where), example, none, option("classes")),
                readings={"Store them in each sample's json": ("--label-column", NONE)},
            )
        if classes is None and found in ({"-1", "1"}, {"-1.0", "1.0"}):
            return cls(class_order(where, found, classes), named=True)
        if not all(map(_NUMBER.fullmatch, found)) or (classes and found.issubset(classes)):
            return cls(class_order(where, found, classes), named=True)
        limit = len(classes) if classes else MAX_CLASSES
        largest = max(map(_whole, found), key=lambda digits: (len(digits), digits), default="0")
        if len(largest) > len(str(limit)) or int(largest) >= limit:
            raise UnusableInput(
                f"{where} has the label {largest[:80]}, and there are at most {limit} classes. If "
                "labels are names that look like numbers, list these with ",
                option("classes"),
                ".",
            )
        return cls(tuple(classes or ()))

    @classmethod
    def declare(cls, names: tuple[str, ...], order: Sequence[str] | None, at: Any) -> "Labels":
        """Return the labels of a source that numbers these classes itself."""
        return cls(class_order(at, names, order) if order else names, True, names)

    def numbered(self, texts: Iterable[str]) -> "Labels":
        """The same with names for all numbers, where samples do not have them as their label."""
        if self.classes:
            return self
        largest = max((int(_whole(text) or -1) for text in texts), default=-1)
        return Labels(tuple(map(str, range(largest + 1))))

    @cached_property
    def _numbers(self) -> Mapping[str, int]:
        return {"": -1} | {name: number for number, name in enumerate(self.classes)}

    def number_of(self, text: str) -> int:
        """Return the class number of a label's text, -1 for none; raise BadImage."""
        if not self.named:
            return int(_whole(text) or -1)
        if not self.declared:
            return self._numbers[text]
        if text in ("", "-1"):
            return -1
        if not text.isdecimal() or len(text) > 9 or int(text) >= len(self.declared):
            count = len(self.declared)
            raise BadImage(f"its label, {text[:80]}, is none of the {count} classes")
        return self._numbers[self.declared[int(text)]]


def _fraction(texts: Collection[str]) -> str:
    """Return one of the texts with a fraction, if all are numbers; "" if there is none."""
    if not all(map(_is_float, texts)):
        return ""
    found = (text for text in texts if not _NUMBER.fullmatch(text) and ("." in text or "," in text))
    return min(found, default="")


def _is_float(text: str) -> bool:
    try:
        return math.isfinite(float(text.replace(",", ".")))
    except ValueError:
        return False


def _whole(number: str) -> str:
    return number.partition(".")[0]


def separator_of(texts: Collection[str], column: str, chosen: str | None, where: object) -> str:
    """Return the separator of several labels of an image; "" if each image has one.

    A cell is one label unless the caller passes a separator, or all cells are lists or vectors. It
    raises Ambiguous where cells look like several labels.
    """
    if chosen is not None:
        return "" if chosen == NONE else chosen
    if are_vectors(texts):
        return VECTOR
    if example := fractions_in(texts):
        raise Ambiguous(
            f"{where}: {example!r} in the column {column!r} is a list of numbers with fractions, "
            "which is no class. To store it in each sample's json, pass ",
            option("label_column", NONE),
            ".",
            readings={"Store them in each sample's json": ("--label-column", NONE)},
        )
    if texts and all(listed_labels(text) is not None for text in texts):
        return LIST
    for separator in _SEPARATORS:
        several = {text: labels_in(text, separator) for text in texts if separator in text}
        several = {text: each for text, each in several.items() if len(each) > 1}
        if not several or len(texts) > _MANY:
            continue
        if reason := _looks_like_several(texts, several, separator, plain(column) in _PLURAL):
            text, each = min(several.items())
            several_labels = f"Several labels, such as {each[0]!r} and {each[1]!r}"
            readings = {several_labels: ("--label-separator", separator)}
            if separator != "|":
                readings[f"One label, {text!r}"] = ("--label-separator", NONE)
            if separator == "," and all(map(_is_float, texts)):
                readings["They are numbers with a decimal comma"] = ("--label-column", NONE)
            raise Ambiguous(
                f"{where}: {text!r} in the column {column!r} may be one label or several, because "
                f"{reason}. Pass ",
                option("label_separator", separator),
                " for several labels, ",
                option("label_separator", NONE),
                " for one.",
                readings=readings,
            )
    return ""


def _looks_like_several(
    texts: Collection[str], several: Mapping[str, list[str]], separator: str, is_plural: bool
) -> str:
    """Return why texts may be several labels each, "" if they do not look like it."""
    words = {word for each in several.values() for word in each}
    if separator in "|;":
        return f"{separator!r} is rarely part of a name"
    if all(word.isdecimal() for word in words):
        return "all are numbers"
    single = set(texts) - several.keys()
    known = single | {_sorted(each, separator) for each in several.values()}
    count = Counter(word for each in several.values() for word in each)
    for each in several.values():
        found = [word for word in each if word in single]
        if 2 * len(found) >= len(each):
            return f"{found[0]!r} is also a label"
        rest = (_sorted([*each[:at], *each[at + 1 :]], separator) for at in range(len(each)))
        if part := next((one for one in rest if one in known), None):
            return f"{part!r} is also a label"
        if is_plural and (often := next((word for word in each if count[word] > 1), None)):
            return f"{often!r} is also in another one"
    return ""


def labels_in(text: str, separator: str) -> list[str]:
    """Return the labels in a text, each once."""
    if separator == VECTOR:
        return classes_in(text)
    if separator == LIST:
        each: Iterable[str] = listed_labels(text) or ()
    else:
        each = text.split() if separator == " " else map(clean, text.split(separator))
    return list(dict.fromkeys(filter(None, each)))


def listed_labels(text: str) -> list[str] | None:
    """Return the labels of a list as JSON or Python writes it; None if the text is none."""
    if not (text.startswith("[") and text.endswith("]")):
        return None
    for parse in (json.loads, ast.literal_eval):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError, BadImage):
            return [label_text(value) for value in parse(text)]
    return None


def is_flag(value: Any) -> bool:
    """Return whether a value means yes or no."""
    return str(value).lower() in _FLAGS


def is_number(value: Any) -> bool:
    """Return whether a value is a number, or nothing."""
    try:
        return value in (None, "") or float(value) is not None
    except (TypeError, ValueError):
        return False


def is_attribute(column: str) -> bool:
    """Return whether a column of yes and no is an attribute of the image instead of a class."""
    words = set(re.findall(r"[a-z]+", re.sub(r"([a-z])([A-Z])", r"\1 \2", column).lower()))
    return bool(re.match(r"(is|has|Is|Has)([^a-z]|$)", column)) or not words.isdisjoint(_QUALITY)


def set_flags(fields: Mapping[str, Any], flags: Sequence[str]) -> list[str]:
    """Return the columns whose value means yes."""
    return [name for name in flags if str(fields.get(name)).lower() in _SET]


def _sorted(each: Sequence[str], separator: str) -> str:
    return separator.join(sorted(each))
