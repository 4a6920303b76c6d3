"""Vectors of 0 and 1 in a cell, a place for each class: ``[1, 0, 0]``, ``1 0 0``, ``100`` (pure).

Taken as lists of labels, all images would have the classes 0 and 1.
"""

import re
from collections.abc import Collection
from typing import Any

VECTOR = "01"  # as a separator: each cell is a vector
_SIGNS = re.compile(r"\s*[,;|]\s*|\s+")
_WRITTEN = re.compile(  # as JSON, Python, NumPy and PyTorch write them
    r"(?:[a-z_.]+\()?\s*[\[({]?\s*([^\[\](){}]*?)[,\s]*[\])}]?(?:,\s*dtype=[\w.']+)?\s*\)?"
)
_BITS = re.compile("[01]{3,}")
_VALUES = {"1": 1, "true": 1, "0": 0, "false": 0}
_LEAST = 3  # places in a column that is not named as one of labels


def are_vectors(texts: Collection[str]) -> bool:
    """Return whether all texts are vectors of one length, and no other reading is likely.

    A list of the numbers of classes repeats none; a number such as 100 is no vector, so of bits
    without signs between, there is one 1 in each of several.
    """
    found = list[list[int]]()
    for text in texts:
        if (values := _values(text)) is None or (found and len(values) != len(found[0])):
            return False
        found.append(values)
    if any(map(_BITS.fullmatch, texts)):
        return len(found) > 1 and all(sum(one) == 1 for one in found)
    return bool(found) and (len(found[0]) > 2 or len(found) > 1)


def are_one_hot(texts: Collection[str]) -> bool:
    """Return whether a column of any name is of labels: several vectors, of one 1 each."""
    if len(texts) < 2 or not are_vectors(texts):
        return False
    return all(len(classes_in(text)) == 1 and places_in(text) >= _LEAST for text in texts)


def classes_in(vector: str) -> list[str]:
    """Return the numbers of the classes of a vector."""
    return [str(place) for place, value in enumerate(_values(vector) or ()) if value]


def places_in(vector: str) -> int:
    """Return for how many classes a vector has a place."""
    return len(_values(vector) or ())


def fractions_in(texts: Collection[str]) -> str:
    """Return one of the texts if all are lists of numbers, some with fractions; "" for none."""
    example = ""
    for text in texts:
        parts = _parts(text)
        if len(parts) < 2 or not all(map(_is_float, parts)):
            return ""
        if not example and any(float(part) % 1 for part in parts):
            example = text
    return example


def shortened_in(texts: Collection[str]) -> str:
    """Return one of the texts if all are lists of numbers that NumPy or PyTorch has shortened."""
    found = all(any(part == "..." for part in _parts(text)) for text in texts)
    numbers = (part for text in texts for part in _parts(text) if part != "...")
    return next(iter(sorted(texts)), "") if found and all(map(_is_float, numbers)) else ""


def is_vector(value: Any) -> bool:
    """Return whether a value of JSON or Parquet is a vector."""
    return isinstance(value, list) and len(value) > 1 and _values(repr(value)) is not None


def is_one_hot(value: Any) -> bool:
    """Return whether a value of JSON or Parquet is a vector with one 1."""
    return is_vector(value) and len(classes_in(str(value))) == 1


def _values(text: str) -> list[int] | None:
    parts = list(text) if _BITS.fullmatch(text) else _parts(text)
    found = [_VALUES.get(part.lower().removesuffix(".0").removesuffix(".")) for part in parts]
    values = [one for one in found if one is not None]
    return values if 1 < len(values) == len(found) else None


def _parts(text: str) -> list[str]:
    match = _WRITTEN.fullmatch(text)
    return _SIGNS.split(match[1]) if match else []


def _is_float(text: str) -> bool:
    try:
        return abs(float(text)) < float("inf")
    except ValueError:
        return False
