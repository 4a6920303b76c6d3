"""Several labels of one image: in one text, or in columns of 0 and 1 (pure)."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from packer.errors import UnusableInput
from packer.trees.shape import plain
from packer.words import option

ONE = "none"  # as a separator: each image has one label, whatever its text
_SEPARATORS = ("|", ";", ",", " ")
_PLURAL = ("labels", "tags", "attributeids", "findinglabels", "categories", "classes")
_MANY = 100_000  # different texts
_FLAGS = frozenset({"0", "1", "0.0", "1.0", "false", "true"})
_SET = frozenset({"1", "1.0", "true"})


def separator_of(texts: Collection[str], column: str, chosen: str | None, where: object) -> str:
    """What divides the labels of an image that has several; "" if each has one.

    Args:
        texts: the different ones of a column.
        column: its name.
        chosen: by a person; None: told by the texts.
        where: what to name in an error.

    Raises:
        UnusableInput: names of several words may be several labels.
    """
    if chosen is not None:
        return "" if chosen == ONE else chosen
    for separator in _SEPARATORS:
        several = {text: parts(text, separator) for text in texts if separator in text}
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
                    f"several, {option('label_separator', ONE)} if each image has one."
                )
    return ""


def parts(text: str, separator: str) -> list[str]:
    """The labels in a text, each once."""
    each = text.split() if separator == " " else map(str.strip, text.split(separator))
    return list(dict.fromkeys(filter(None, each)))


def is_flag(value: Any) -> bool:
    """Whether a value says yes or no."""
    return str(value).lower() in _FLAGS


def is_set(value: Any) -> bool:
    """Whether it says yes."""
    return str(value).lower() in _SET


def is_number(value: Any) -> bool:
    """Whether a value is a number, or nothing."""
    try:
        return value in (None, "") or float(value) is not None
    except (TypeError, ValueError):
        return False


def set_flags(fields: Mapping[str, Any], flags: Sequence[str]) -> list[str]:
    """The columns that say yes."""
    return [name for name in flags if is_set(fields.get(name))]


def _sorted(each: Sequence[str], separator: str) -> str:
    return separator.join(sorted(each))
