"""Operations that mix a pixel with those around it."""

import math
from dataclasses import dataclass

import cv2
import numpy as np

from reader.transforms.operations.linear import TRUNCATE
from reader.transforms.operations.operation import Operation, Pixels

_LEAST_WEIGHT = 1 / 512  # of a kernel: less changes no value of 8 bits by itself

# Pillow's smooth filter: 5 of 13 parts are the pixel itself, and one each of its neighbours.
_SMOOTH = np.array([[1, 1, 1], [1, 5, 1], [1, 1, 1]], np.float32) / 13


@dataclass(frozen=True)
class Sharpness(Operation):
    """Away from a smoothed image, or towards it; pixels at the edge stay as they are."""

    factor: float

    def change(self, pixels: Pixels) -> None:
        """Change an image in place."""
        inside, smoothed = pixels[1:-1, 1:-1], 1 - self.factor
        if not inside.size:
            return
        # The mean of nine and the pixel make the same filter, in a fifth of the time. Its rounding
        # may be a level if it is enlarged.
        if abs(smoothed) <= 1:
            blurred = cv2.blur(pixels, (3, 3))[1:-1, 1:-1]
            own, other = self.factor + smoothed * 4 / 13, smoothed * 9 / 13
        else:
            blurred = cv2.filter2D(pixels, -1, _SMOOTH)[1:-1, 1:-1]
            own, other = self.factor, smoothed
        inside[...] = cv2.addWeighted(inside, own, blurred, other, TRUNCATE)


@dataclass(frozen=True)
class Blur(Operation):
    """A Gaussian kernel with an odd number of `columns` and `rows`, mirrored at the edges."""

    columns: int
    rows: int
    sigma: float

    def change(self, pixels: Pixels) -> None:
        """Change an image in place."""
        across, down = _kernel(self.columns, self.sigma), _kernel(self.rows, self.sigma)
        if len(across) > 1 or len(down) > 1:
            border = cv2.BORDER_REFLECT_101
            cv2.sepFilter2D(pixels, -1, across, down, dst=pixels, borderType=border)


def _kernel(length: int, sigma: float) -> "np.ndarray[tuple[int], np.dtype[np.float32]]":
    """Return the weights of a Gaussian kernel that reach the least weight."""
    # The weight of the middle is about 0.4 / sigma: this many can reach it.
    reach = min(length // 2, math.ceil(sigma * 3.5))
    places = np.arange(-reach, reach + 1)
    weights = np.exp(places * places / (-2 * sigma * sigma))
    weights /= weights.sum()
    weights = weights[weights >= _LEAST_WEIGHT]
    return (weights / weights.sum()).astype(np.float32)
