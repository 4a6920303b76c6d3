"""Erase boxes of the float images of a batch.

Boxes and noise are pure functions of (seed, epoch, position): the same in any batch, for any number
of workers, after a resume and on each device.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from reader.rng import BatchRandom, seed_of
from reader.transforms.batches.channels import Channels, by_channel

_TRIES = 10  # to find a box that fits, as torchvision has it
_M32 = 0xFFFFFFFF


class Rows(NamedTuple):
    """Where the rows of a batch are in the order of samples."""

    seed: int
    epochs: NDArray[np.int64]
    positions: NDArray[np.int64]

    def random(self, what: str, rows: NDArray[np.int64]) -> Iterator[tuple[Any, BatchRandom]]:
        """Yield indexes into `rows` and their random numbers, for each epoch of the batch."""
        seed, epochs, positions = seed_of(self.seed, what), self.epochs[rows], self.positions[rows]
        for epoch in np.unique(epochs).tolist():
            places = np.flatnonzero(epochs == epoch)
            yield places, BatchRandom(seed, epoch, positions[places])


class Boxes(NamedTuple):
    """A box in each of some rows."""

    rows: NDArray[np.int64]
    places: NDArray[np.int64]  # (N, 4): top, left, height, width
    keys: NDArray[np.int64]  # of the noise, below 2**32


@dataclass(frozen=True)
class BatchErasing:
    """Random boxes, with probability `p`, of a colour and of normal noise around it.

    Attributes:
        scale: share of the image's area, for all boxes together, from ``(least, most)``.
        ratio: height to width, from ``(least, most)`` on a logarithmic scale.
        counts: number of boxes, from ``(least, most)``.
        colour: in the values of the batch, for each channel or one for all.
        deviation: of the noise; empty for none.
        is_per_pixel: noise for each pixel, not one colour for a box.
    """

    p: float
    scale: Sequence[float]
    ratio: Sequence[float]
    counts: tuple[int, int] = (1, 1)
    colour: Channels = (0.0,)
    deviation: Channels = ()
    is_per_pixel: bool = False

    def normalised(self, mean: Channels, std: Channels) -> "BatchErasing":
        """Return the erasing for ``(x - mean) / std``."""
        colour = tuple((one - m) / s for one, m, s in by_channel(self.colour, mean, std))
        deviation = self.deviation and tuple(one / s for one, s in by_channel(self.deviation, std))
        return replace(self, colour=colour, deviation=deviation)

    def draw(
        self, sizes: NDArray[np.int64], rows: Rows, what: str = "RandomErasing"
    ) -> Iterator[Boxes]:
        """Yield boxes for images of `sizes`, (B, 2): the first of each row, the second, ..."""
        least, most = self.counts
        drawn = np.zeros((len(sizes), 2))
        for places, rng in rows.random(what, np.arange(len(sizes))):
            drawn[places, 0] = rng.uniform() < self.p
            drawn[places, 1] = least + rng.integer(most - least + 1)
        counts = drawn[:, 1] * drawn[:, 0]
        for number in range(most):
            chosen = np.flatnonzero(counts > number)
            found = np.zeros((len(chosen), 5), np.int64)
            for places, rng in rows.random(f"{what}/{number}", chosen):
                found[places] = self._boxes(sizes[chosen[places]], counts[chosen[places]], rng)
            is_found = found[:, 2] > 0
            if is_found.any():
                yield Boxes(chosen[is_found], found[is_found, :4], found[is_found, 4])

    def _boxes(
        self, sizes: NDArray[np.int64], counts: NDArray[np.float64], rng: BatchRandom
    ) -> NDArray[np.int64]:
        heights, widths = sizes.T
        low, high = map(math.log, self.ratio)
        found = np.zeros((len(sizes), 5), np.int64)
        found[:, 4] = rng.integer(_M32)
        for _ in range(_TRIES):
            area = heights * widths * rng.uniform(*self.scale) / counts
            aspect = np.exp(rng.uniform(low, high))
            tall = np.rint(np.sqrt(area * aspect)).astype(np.int64)
            wide = np.rint(np.sqrt(area / aspect)).astype(np.int64)
            tops = rng.integer(np.maximum(heights - tall + 1, 1).astype(np.uint64))
            lefts = rng.integer(np.maximum(widths - wide + 1, 1).astype(np.uint64))
            is_new = (found[:, 2] == 0) & (tall > 0) & (wide > 0) & (tall < heights)
            is_new &= wide < widths
            found[is_new, :4] = np.column_stack([tops, lefts, tall, wide])[is_new]
            if found[:, 2].all():
                break
        return found

    def apply(self, images: "torch.Tensor | Sequence[torch.Tensor]", boxes: Boxes) -> None:
        """Erase boxes in a batch (B, C, H, W), or in a list of images (C, H, W), in place."""
        if isinstance(images, torch.Tensor) and images.device.type != "cpu":
            self.apply_at_once(images, boxes)
            return
        keys = torch.from_numpy(boxes.keys)
        for row, key, (top, left, tall, wide) in zip(
            boxes.rows.tolist(), keys, boxes.places.tolist(), strict=True
        ):
            box = images[row][:, top : top + tall, left : left + wide]
            down = torch.arange(top, top + tall).reshape(-1, 1)
            across = torch.arange(left, left + wide)
            box.copy_(self._values(box, key, down, across).expand(box.shape))

    def apply_at_once(self, images: torch.Tensor, boxes: Boxes) -> None:
        """Erase boxes in a batch without a loop over its images: a fixed number of kernels."""
        found = np.zeros((len(images), 5), np.int64)
        found[boxes.rows] = np.column_stack([boxes.places, boxes.keys])
        moved = torch.from_numpy(found).to(images.device, non_blocking=True)
        top, left, tall, wide, key = moved.T.reshape(5, -1, 1, 1, 1)
        down = torch.arange(images.shape[2], device=images.device).reshape(-1, 1)
        across = torch.arange(images.shape[3], device=images.device)
        is_inside = (down >= top) & (down < top + tall) & (across >= left) & (across < left + wide)
        images.copy_(torch.where(is_inside, self._values(images, key, down, across), images))

    def _values(self, like: torch.Tensor, key: Any, down: Any, across: Any) -> torch.Tensor:
        """Return what images (..., C, H, W) have in their boxes, in a shape that broadcasts."""
        colour = _on(like.device, self.colour)
        if not self.deviation:
            return colour.to(like.dtype)
        channel = torch.arange(like.shape[-3], device=like.device).reshape(-1, 1, 1)
        place = down * 65536 + across if self.is_per_pixel else torch.zeros_like(down[:1])
        return (_normals(key, channel, place) * _on(like.device, self.deviation) + colour).to(
            like.dtype
        )


@lru_cache(maxsize=16)
def _on(device: torch.device, values: tuple[float, ...]) -> torch.Tensor:
    """Return values of channels on a device; making such a tensor there waits for the device."""
    return torch.tensor(values, device=device).reshape(-1, 1, 1)


def _normals(key: torch.Tensor, channel: torch.Tensor, place: torch.Tensor) -> torch.Tensor:
    """Return standard normal numbers (Box, Muller) of a key, a channel and a place."""
    word = _mixed(_mixed(key ^ place) + (channel + 1) * 0x9E3779B9)
    first, second = _mixed(word ^ 0x5BD1E995) >> 8, _mixed(word + 0x6C8E9CF5) >> 8
    # From 0 (excluded) to 1, so that no logarithm is infinite.
    radius = torch.sqrt(torch.log((first.float() + 0.5) * 2**-24) * -2)
    return radius * torch.cos(second.float() * (2 * math.pi * 2**-24))


def _mixed(word: torch.Tensor) -> torch.Tensor:
    """Apply MurmurHash3's finalizer to the low 32 bits of int64 words."""
    word = word & _M32
    word = ((word ^ (word >> 16)) * 0x85EBCA6B) & _M32
    word = ((word ^ (word >> 13)) * 0xC2B2AE35) & _M32
    return word ^ (word >> 16)
