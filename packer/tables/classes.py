"""The labels of a table: what their texts are, and which numbers their classes get (pure)."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from packer.errors import BadImage, UnusableInput
from packer.samples.labels import MAX_CLASSES, class_order
from packer.words import option

_NUMBER = re.compile(r"(-1|0|[1-9][0-9]*)(\.0+)?")  # pandas writes integers among gaps as floats


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
    text = value if isinstance(value, str) else str(value)
    return "" if text in ("nan", "NaN") else text


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
        fractions = sorted(text for text in found if not _NUMBER.fullmatch(text))
        if classes is None and "." in "".join(fractions) and all(map(_is_float, found)):
            example = fractions[0]
            raise UnusableInput(
                f"{where} has labels such as {example}: numbers with fractions are not classes. "
                f"With {option('label_column', 'none')} they go into each sample's json; if they "
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

    def __reduce__(self) -> tuple[Any, ...]:
        """What goes to a packing process: not `number_of`."""
        return Labels, (self.classes, self.named, self.declared)

    def numbered(self, texts: Iterable[str]) -> "Labels":
        """The same with names for all numbers, where samples do not have them as their label."""
        if self.classes:
            return self
        largest = max((int(_whole(text) or -1) for text in texts), default=-1)
        return Labels(tuple(map(str, range(largest + 1))))

    @cached_property
    def number_of(self) -> Callable[[str], int]:
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


def _is_float(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _whole(number: str) -> str:
    """The digits of a label that is a number: ``3`` of ``3.0``."""
    return number.partition(".")[0]
