"""The box of a row (pure): which columns have it, and in which format."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from packer.errors import BadImage
from packer.trees.shape import plain

_COLUMNS = {
    "xyxy": (
        ("xmin", "ymin", "xmax", "ymax"),
        ("x1", "y1", "x2", "y2"),
        ("left", "top", "right", "bottom"),
        ("bboxxmin", "bboxymin", "bboxxmax", "bboxymax"),
        ("bboxx1", "bboxy1", "bboxx2", "bboxy2"),
    ),
    "xywh": (
        ("x", "y", "w", "h"),
        ("x", "y", "width", "height"),
        ("x1", "y1", "width", "height"),
        ("xmin", "ymin", "width", "height"),
        ("left", "top", "width", "height"),
        ("bboxx", "bboxy", "bboxw", "bboxh"),
        ("bboxx", "bboxy", "bboxwidth", "bboxheight"),
    ),
    "cxcywh": (
        ("xcenter", "ycenter", "width", "height"),
        ("xcenter", "ycenter", "w", "h"),
        ("centerx", "centery", "width", "height"),
        ("cx", "cy", "w", "h"),
    ),
}
_ALL_IN_ONE = ("bbox", "box", "boundingbox", "bndbox")
_NOTHING = ("", "nan", "none", "null", "[]")


@dataclass(frozen=True)
class Box:
    """Where the box of a row is."""

    names: tuple[str, ...]  # of four columns, or of one that has all four numbers
    format: str = ""  # one of `FORMATS`; "" where only the values can tell

    @classmethod
    def of(cls, columns: Sequence[str], format: str | None) -> "Box | None":
        """Return the box by the columns' names; None if a row has none."""
        known = {plain(name): name for name in reversed(columns)}
        for kind, each in _COLUMNS.items():
            for names in each:
                if known.keys() >= set(names):
                    return cls(tuple(known[name] for name in names), format or kind)
        name = next((name for name in _ALL_IN_ONE if name in known), None)
        return None if name is None else cls((known[name],), format or "")

    def numbers(self, fields: Mapping[str, Any]) -> list[float] | None:
        """The four numbers of a row, None if it has no box."""
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


def possible(numbers: Sequence[float], size: tuple[float, float] | None) -> set[str]:
    """Which of "xyxy" and "xywh" four numbers may be."""
    x, y, third, fourth = numbers
    found = {"xyxy", "xywh"}
    if third <= x or fourth <= y:
        found.discard("xyxy")
    if size and (x + third > size[0] + 1 or y + fourth > size[1] + 1):
        found.discard("xywh")
    return found


def size_of(fields: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return the width and height of the image, if a row has them beside its box."""
    known = {plain(name): value for name, value in fields.items()}
    for width, height in (("width", "height"), ("imagewidth", "imageheight")):
        try:
            return float(known[width]), float(known[height])
        except (KeyError, TypeError, ValueError):
            continue
    return None


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
