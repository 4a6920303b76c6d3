"""Normal noise and erased boxes; noise is a pure function of a key, the same on each device."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reader.rng import GOLDEN, mix64
from reader.transforms.operations.operation import Operation, Pixels


def normals(key: int, count: int) -> NDArray[np.float32]:
    """Return `count` standard normal numbers (Box, Muller)."""
    half = (count + 1) // 2
    with np.errstate(over="ignore"):
        words = mix64(np.arange(half, dtype=np.uint64) * np.uint64(GOLDEN) + np.uint64(key))
    # From 0 (excluded) to 1, so that no logarithm is infinite.
    first = ((words >> 40).astype(np.float32) + 0.5) * np.float32(2**-24)
    angle = (words & 0xFFFFFF).astype(np.float32) * np.float32(2 * math.pi * 2**-24)
    radius = np.sqrt(np.float32(-2) * np.log(first))
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[:count]


@dataclass(frozen=True)
class Noise(Operation):
    """Normal noise with a `mean` and deviation `sigma` in levels of 255."""

    key: int
    mean: float
    sigma: float
    is_clipped: bool

    def change(self, pixels: Pixels) -> None:
        """Change an image in place."""
        noise = normals(self.key, pixels.size).reshape(pixels.shape)
        changed = (noise * np.float32(self.sigma) + np.float32(self.mean)).astype(np.int16) + pixels
        pixels[...] = changed.clip(0, 255) if self.is_clipped else changed.astype(np.uint8)


@dataclass(frozen=True)
class Erase(Operation):
    """A box of one colour, or of normal noise with a mean and deviation for each channel."""

    top: int
    left: int
    height: int
    width: int
    colour: Sequence[float]
    key: int | None = None  # of the noise
    deviation: Sequence[float] = ()

    def change(self, pixels: Pixels) -> None:
        """Change an image in place."""
        box = pixels[self.top : self.top + self.height, self.left : self.left + self.width]
        colour = np.array(self.colour, np.float32)
        if pixels.ndim == 2:
            colour = colour.mean()
        if self.key is not None:
            deviation = np.array(self.deviation, np.float32)
            spread = deviation if pixels.ndim == 3 else deviation.mean()
            colour = normals(self.key, box.size).reshape(box.shape) * spread + colour
        box[...] = np.clip(colour, 0, 255)  # truncated
