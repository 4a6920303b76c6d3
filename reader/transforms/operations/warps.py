"""Warps of an image within its frame, with torchvision's matrices."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from reader.transforms.operations.operation import Operation, Pixels, Size

Matrix = tuple[float, float, float, float, float, float]  # a b c, d e f: x = a * x' + b * y' + c

Fill = float | Sequence[float] | None

_FLAGS = {"nearest": cv2.INTER_NEAREST, "bilinear": cv2.INTER_LINEAR}


def sheared_across(slope: float) -> Matrix:
    return 1, slope, 0, 0, 1, 0


def sheared_down(slope: float) -> Matrix:
    return 1, 0, 0, slope, 1, 0


def moved(right: int, down: int) -> Matrix:
    return 1, 0, -right, 0, 1, -down


def turned(degrees: float, size: Size) -> Matrix:
    """Return a turn to the left about the middle of an image."""
    angle = math.radians(degrees)
    sine, cosine, y, x = math.sin(angle), math.cos(angle), size[0] / 2, size[1] / 2
    return cosine, -sine, x - cosine * x + sine * y, sine, cosine, y - sine * x - cosine * y


@dataclass(frozen=True)
class Warp(Operation):
    """Each pixel from where the matrix leads, in coordinates in which a pixel's middle is 0.5."""

    matrix: Matrix
    interpolation: str
    fill: Fill

    def change(self, pixels: Pixels) -> None:
        """Change an image in place."""
        a, b, c, d, e, f = self.matrix
        colour = np.ravel(self.fill or 0).tolist()
        if (a, b, d, e) == (1, 0, 0, 1) and isinstance(c, int) and isinstance(f, int):
            _move(pixels, c, f, colour)
            return
        # OpenCV has the middle of a pixel at 0.
        c, f = c + (a + b - 1) / 2, f + (d + e - 1) / 2
        pixels[...] = cv2.warpAffine(
            pixels,
            np.array([[a, b, c], [d, e, f]]),
            pixels.shape[1::-1],
            flags=_FLAGS[self.interpolation] | cv2.WARP_INVERSE_MAP,
            borderValue=colour * 3 if len(colour) == 1 else colour,
        )


def _move(pixels: Pixels, left: int, up: int, colour: Sequence[float]) -> None:
    """Move an image by whole pixels, in a tenth of a warp's time."""
    height, width = pixels.shape[:2]
    before = pixels.copy()
    pixels[...] = colour if pixels.ndim == 3 else colour[0]
    if abs(left) < width and abs(up) < height:
        top, bottom = max(up, 0), height + min(up, 0)
        first, last = max(left, 0), width + min(left, 0)
        place = np.s_[top - up : bottom - up, first - left : last - left]
        pixels[place] = before[top:bottom, first:last]
