"""Sizes, borders and fills, as torchvision's arguments have them."""

from collections.abc import Sequence
from typing import Any

from reader.checks import is_count, is_integer, is_number
from reader.errors import ArgumentError
from reader.transforms.transform import Transform

Size = int | Sequence[int]


def middle(length: int, crop: int) -> int:
    """Return the start of torchvision's center_crop on one axis; padding has its own rounding."""
    return round((length - crop) / 2) if crop <= length else -((crop - length) // 2)


def pair(size: Size) -> tuple[int, int]:
    height, width = (size[0], size[-1]) if isinstance(size, Sequence) else (size, size)
    return int(height), int(width)


def within(room: int, across: int, height: int, width: int) -> tuple[int, int]:
    scale = min(room / height, across / width)
    return max(round(height * scale), 1), max(round(width * scale), 1)


def is_range(value: Any) -> bool:
    is_pair = isinstance(value, Sequence) and len(value) == 2 and all(map(is_number, value))
    return is_pair and 0 < value[0] <= value[1]


def check_size(transform: Transform, size: Any) -> None:
    sides = size if isinstance(size, Sequence) and not isinstance(size, str) else [size]
    if not 1 <= len(sides) <= 2 or not all(map(is_count, sides)):
        raise ArgumentError(
            f"{transform}: a size is a number of pixels, or (height, width), each at least 1."
        )


def check_fill(transform: Transform, fill: int) -> None:
    if not is_integer(fill) or not 0 <= fill <= 255:
        raise ArgumentError(f"{transform}: fill is a grey value from 0 to 255.")
