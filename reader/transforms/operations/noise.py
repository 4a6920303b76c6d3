"""Normal noise and erased boxes; noise is a pure function of a key, the same on each device."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reader.transforms.operations.operation import Operation, Pixels


def normals(key: int, count: int) -> NDArray[np.float32]:
    """Return `count` standard normal numbers (Box, Muller)."""
    half = (count + 1) // 2
    words = np.arange(2 * half, dtype=np.uint32)
    for part in (key, key >> 32):
        words ^= np.uint32(part & 0xFFFFFFFF)
        _scramble(words)
    words >>= 8  # what a float32 holds
    shares = words.astype(np.float32)
    shares *= np.float32(2**-24)
    # Above 0, so that no logarithm is infinite.
    radius = np.sqrt(np.float32(-2) * np.log(shares[:half] + np.float32(2**-25)))
    angle = shares[half:] * np.float32(2 * math.pi)
    return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[:count]


def _scramble(words: NDArray[np.uint32]) -> None:
    """Apply a hash of 32 bits in place (Wellons, "Prospecting for hash functions", 2018)."""
    words ^= words >> 16
    words *= np.uint32(0x7FEB352D)
    words ^= words >> 15
    words *= np.uint32(0x846CA68B)
    words ^= words >> 16


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
