"""Operations that map each value to another one, the same for all pixels of a channel."""

import math
from dataclasses import dataclass

import cv2
import numpy as np

from reader.transforms.operations.linear import TRUNCATE
from reader.transforms.operations.operation import Operation, Pixels


@dataclass(frozen=True)
class Invert(Operation):
    """The negative."""

    def change(self, pixels: Pixels) -> None:
        """Change an image in place."""
        np.invert(pixels, out=pixels)


@dataclass(frozen=True)
class Solarize(Operation):
    """The negative of all values from `threshold` on."""

    threshold: float

    def change(self, pixels: Pixels) -> None:
        """Change an image in place."""
        is_above = pixels >= max(math.ceil(self.threshold), 0)
        np.bitwise_xor(pixels, is_above.view(np.uint8) * np.uint8(255), out=pixels)


@dataclass(frozen=True)
class Posterize(Operation):
    """Only the highest `bits` of each value."""

    bits: int

    def change(self, pixels: Pixels) -> None:
        """Change an image in place."""
        np.bitwise_and(pixels, np.uint8(256 - (1 << (8 - self.bits))), out=pixels)


@dataclass(frozen=True)
class AutoContrast(Operation):
    """Each channel stretched to all values from 0 to 255."""

    def change(self, pixels: Pixels) -> None:
        """Change an image in place."""
        channels = pixels.shape[2] if pixels.ndim == 3 else 1
        lines = pixels.reshape(len(pixels), -1)  # numpy is slow over two axes
        low = lines.min(0).reshape(-1, channels).min(0).astype(np.float64)
        high = lines.max(0).reshape(-1, channels).max(0).astype(np.float64)
        is_flat = low == high
        scale = np.where(is_flat, 1, 255 / np.where(is_flat, 1, high - low))
        added = np.where(is_flat, 0, TRUNCATE - low * scale)
        cv2.transform(pixels, np.column_stack([np.diag(scale), added]), dst=pixels)


@dataclass(frozen=True)
class Equalize(Operation):
    """Each channel with as many pixels of each value as possible, by Pillow's rule."""

    def change(self, pixels: Pixels) -> None:
        """Change an image in place."""
        if pixels.ndim == 2:
            _equalize(pixels)
            return
        channels = cv2.split(pixels)  # each by itself takes less time than all at once
        for channel in channels:
            _equalize(channel)
        cv2.merge(channels, dst=pixels)


def _equalize(channel: Pixels) -> None:
    counts = cv2.calcHist([channel], [0], None, [256], [0, 256]).ravel().astype(np.int64)
    last = int(counts[np.flatnonzero(counts)[-1]])
    if step := (channel.size - last) // 255:
        below = np.cumsum(counts) - counts
        table = np.minimum((below + step // 2) // step, 255).astype(np.uint8)
        cv2.LUT(channel, table, dst=channel)


@dataclass(frozen=True)
class Permutation(Operation):
    """The channels in another order."""

    order: tuple[int, ...]

    def change(self, pixels: Pixels) -> None:
        """Change an image in place."""
        if pixels.ndim == 3:
            cv2.merge([cv2.extractChannel(pixels, channel) for channel in self.order], dst=pixels)
