"""What a transform on pixels is: it draws operations from a sample's random stream."""

import math
from collections.abc import Sequence
from typing import Any

from reader.checks import is_number
from reader.errors import ArgumentError
from reader.geometry import Geometry
from reader.rng import SampleRandom
from reader.transforms.operations.operation import Operation, Size


class PixelTransform:
    """Base of the transforms that change pixels.

    As a step of a geometry it does nothing, but draws as many numbers.
    """

    moves_pixels = False  # as a warp does; fields over the image do not follow it

    def draw(self, size: Size, rng: SampleRandom) -> Sequence[Operation]:
        """Return the operations for an image of `size`."""
        raise NotImplementedError

    def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
        """Draw, and leave the geometry as it is."""
        self.draw((geometry.height, geometry.width), rng)

    def check(self, channels: int) -> None:
        """Refuse images of 1 or 3 channels for which the transform has no meaning."""


class Chance(PixelTransform):
    """Base of the transforms that do one operation with probability `p`."""

    p: float

    def __post_init__(self) -> None:
        check_probability(self, self.p)

    def draw(self, size: Size, rng: SampleRandom) -> Sequence[Operation]:
        """Return the operation, or none."""
        return [self.operation()] if rng.uniform() < self.p else []

    def operation(self) -> Operation:
        """Return what is done."""
        raise NotImplementedError


def check_probability(transform: object, p: object) -> None:
    if not is_number(p) or not 0 <= p <= 1:  # type: ignore[operator]
        raise ArgumentError(f"{transform}: p is a probability from 0 to 1.")


def check_colour(transform: object, name: str, value: object, channels: int) -> None:
    """Refuse a colour with another number of values than images have channels."""
    if isinstance(value, Sequence) and len(value) not in (1, channels):
        raise ArgumentError(
            f"{transform}: {name} has {len(value)} values, but images have {channels} "
            f"channel{'s' if channels > 1 else ''}. Give one number, or one for each channel."
        )


def interval(
    transform: object, name: str, given: Any, center: float, low: float, high: float
) -> tuple[float, float] | None:
    """Return (least, most) of a factor, given as such or as a distance from `center`.

    None if it is always `center`, which changes nothing.
    """
    ends: Any = given
    if given is None:
        return None
    if is_number(given) and given >= 0:
        ends = max(center - given, 0) if low == 0 else center - given, center + given
    if (
        not isinstance(ends, Sequence)
        or len(ends) != 2
        or not all(map(is_number, ends))
        or not low <= ends[0] <= ends[1] <= high
    ):
        wide = "at least 0" if math.isinf(high) else f"from {low:g} to {high:g}"
        raise ArgumentError(
            f"{type(transform).__name__}: {name} is a number of at least 0, or (least, most), "
            f"each {wide}, not {given!r:.200}."
        )
    return None if ends[0] == ends[1] == center else (float(ends[0]), float(ends[1]))
