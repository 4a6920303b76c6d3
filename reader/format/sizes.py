"""Bounds of the sizes of images, as people see them; dataset.json has those of each split."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reader.format.columns import Column

_TURNED = 4  # EXIF orientations above it swap height and width

Pair = tuple[int, int]


@dataclass(frozen=True)
class SizeBounds:
    """Bounds of the (height, width) of images; `least` and `most` may be of several images."""

    least: Pair
    most: Pair
    largest: Pair  # of an image with the most pixels, the highest one if there are several

    def __post_init__(self) -> None:
        for name in ("least", "most", "largest"):
            pair = tuple(getattr(self, name))
            if len(pair) != 2 or not all(type(length) is int for length in pair):
                raise ValueError(
                    f"sizes has {name}={list(pair)}, which is not a height and a width"
                )
            object.__setattr__(self, name, pair)
        for low, middle, high in zip(self.least, self.largest, self.most, strict=True):
            if not 1 <= low <= middle <= high < 2**31:
                raise ValueError("sizes has bounds that no images have")

    @classmethod
    def of(cls, heights: NDArray[np.int64], widths: NDArray[np.int64]) -> "SizeBounds | None":
        """Return the bounds of some images; None if there is none."""
        if not len(heights):
            return None
        pixels = heights * widths
        highest = int(heights[pixels == pixels.max()].max())
        least, most = ((int(of(heights)), int(of(widths))) for of in (np.min, np.max))
        return cls(least, most, (highest, int(pixels.max()) // highest))

    def __or__(self, other: "SizeBounds | None") -> "SizeBounds":
        if other is None or other == self:
            return self
        both = self, other
        return SizeBounds(
            (min(one.least[0] for one in both), min(one.least[1] for one in both)),
            (max(one.most[0] for one in both), max(one.most[1] for one in both)),
            max((one.largest for one in both), key=lambda size: (size[0] * size[1], size)),
        )

    @property
    def is_one(self) -> bool:
        """Whether all images have one size."""
        return self.least == self.most

    @property
    def pixels(self) -> int:
        """The most pixels of an image."""
        return self.largest[0] * self.largest[1]


def upright_sizes(
    columns: Mapping[str, Column], upright: bool = True
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the heights and widths of images by an index's columns, turned if `upright`."""
    height, width = (columns[name].astype(np.int64) for name in ("height", "width"))
    turned = columns["orientation"] > _TURNED
    if not upright or not turned.any():
        return height, width
    return np.where(turned, width, height), np.where(turned, height, width)


def united(one: Mapping[str, SizeBounds], other: Mapping[str, SizeBounds]) -> dict[str, SizeBounds]:
    """Return the bounds of both, split by split."""
    return {**one, **{split: bounds | one.get(split) for split, bounds in other.items()}}
