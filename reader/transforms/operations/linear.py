"""Operations that are linear in a pixel and its grey, fused as long as nothing clips between them.

Each makes ``own * value + grey * (the pixel's grey) + added`` of every value. Two that follow each
other are one of the same form, because the grey of a pixel is linear and that of a grey is itself.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import cv2
import numpy as np

from reader.transforms.operations.operation import Operation, Pixels

_RED, _GREEN, _BLUE = 0.299, 0.587, 0.114

# torchvision truncates after each step: that is rounding after almost 0.5 less. An integer remains.
TRUNCATE = 1 / 256 - 0.5


class Terms(NamedTuple):
    own: float
    grey: float
    added: float

    def after(self, first: "Terms") -> "Terms":
        """Return the terms of both, one after the other."""
        both = self.own + self.grey
        grey = self.own * first.grey + self.grey * (first.own + first.grey)
        return Terms(self.own * first.own, grey, both * first.added + self.added)

    def reach(self, low: float, high: float) -> tuple[float, float]:
        """Return bounds of the result for values between `low` and `high`."""
        ends = [(one * low, one * high) for one in self[:2]]
        return sum(map(min, ends)) + self.added, sum(map(max, ends)) + self.added

    def apply(self, pixels: Pixels) -> None:
        own, grey, added = self
        if pixels.ndim == 2:
            matrix = [[own + grey, added]]
        else:
            red, green, blue = grey * _RED, grey * _GREEN, grey * _BLUE
            matrix = [
                [own + red, green, blue, added],
                [red, own + green, blue, added],
                [red, green, own + blue, added],
            ]
        cv2.transform(pixels, np.array(matrix, np.float32), dst=pixels)


class Linear(Operation):
    """An operation that is linear in a pixel and its grey."""

    needs_mean = False

    def terms(self, mean: float) -> Terms:
        """Return the terms for an image with this mean grey, 0 without `needs_mean`."""
        raise NotImplementedError

    def change(self, pixels: Pixels) -> None:
        """Change an image in place."""
        change_linearly([self], pixels)


@dataclass(frozen=True)
class Brightness(Linear):
    """Times `factor`."""

    factor: float

    def terms(self, mean: float) -> Terms:
        """Return the terms."""
        return Terms(self.factor, 0, TRUNCATE)


@dataclass(frozen=True)
class Contrast(Linear):
    """Away from the mean grey of the image, or towards it."""

    factor: float
    needs_mean = True

    def terms(self, mean: float) -> Terms:
        """Return the terms."""
        return Terms(self.factor, 0, (1 - self.factor) * int(mean + 0.5) + TRUNCATE)


@dataclass(frozen=True)
class Saturation(Linear):
    """Away from the grey of each pixel, or towards it."""

    factor: float

    def terms(self, mean: float) -> Terms:
        """Return the terms."""
        return Terms(self.factor, 1 - self.factor, TRUNCATE)


@dataclass(frozen=True)
class Grey(Linear):
    """The grey of each pixel in all its channels."""

    def terms(self, mean: float) -> Terms:
        """Return the terms."""
        return Terms(0, 1, 0)


def change_linearly(operations: Sequence[Linear], pixels: Pixels) -> None:
    """Do several operations, in as few passes as clipping between them allows."""
    total: Terms | None = None
    bounds: tuple[float, float] | None = None
    for operation in operations:
        if total is not None:
            bounds = bounds or _bounds(pixels)
            low, high = total.reach(*bounds)
            if low < -0.5 or high >= 255.5:
                total.apply(pixels)
                total, bounds = None, (max(low, 0), min(high, 255))
        mean = 0.0
        if operation.needs_mean:
            mean = _mean_grey(pixels)
            if total is not None:
                mean = (total.own + total.grey) * mean + total.added
        step = operation.terms(mean)
        if step.own == 1 and not step.grey:
            continue  # a factor of 1
        total = step if total is None else step.after(total)
    if total is not None:
        total.apply(pixels)


def _bounds(pixels: Pixels) -> tuple[float, float]:
    low, high, _, _ = cv2.minMaxLoc(pixels.reshape(len(pixels), -1))
    return low, high


def _mean_grey(pixels: Pixels) -> float:
    mean = cv2.mean(pixels)
    if pixels.ndim == 2:
        return mean[0]
    return _RED * mean[0] + _GREEN * mean[1] + _BLUE * mean[2]
