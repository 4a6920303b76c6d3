"""What to do with an image, as geometry: nothing here touches a pixel.

The classes carry torchvision's names, arguments and rules. A pipeline of them is applied to a
`Geometry`, which remembers which box of the upright source image ends up where; the decoder then
decodes only that box and resizes it once, however many transforms there were.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from reader.order import SampleRandom

Size = int | Sequence[int]


@dataclass
class Geometry:
    """An image on its way through a pipeline.

    Attributes:
        height, width: pixels of the image as the next transform sees it.
        top, left, box_height, box_width: the box of the upright source that it shows, in source
            pixels; outside the source it is black.
        hflip, vflip: whether it is mirrored after all else.
    """

    height: int
    width: int
    top: float
    left: float
    box_height: float
    box_width: float
    hflip: bool = False
    vflip: bool = False

    @classmethod
    def of(cls, height: int, width: int) -> "Geometry":
        """The whole of an upright image."""
        return cls(height, width, 0, 0, height, width)

    def crop(self, top: int, left: int, height: int, width: int) -> None:
        """Keep a box, given in pixels of the image as it is now; it may reach over the edge."""
        if self.vflip:
            top = self.height - top - height
        if self.hflip:
            left = self.width - left - width
        down, across = self.box_height / self.height, self.box_width / self.width
        self.top += top * down
        self.left += left * across
        self.box_height, self.box_width = height * down, width * across
        self.height, self.width = height, width

    def resize(self, height: int, width: int) -> None:
        """Scale to a new size."""
        self.height, self.width = height, width


class Transform(Protocol):
    """A step of a pipeline."""

    def apply(self, geometry: Geometry, dice: SampleRandom) -> None:
        """Change `geometry`; all chance comes from `dice`."""


@dataclass(frozen=True)
class RandomResizedCrop:
    """A random box of `scale` of the area and a `ratio` of width to height, resized to `size`.

    torchvision's algorithm: ten tries, then the largest central box within the ratios.
    """

    size: Size
    scale: tuple[float, float] = (0.08, 1.0)
    ratio: tuple[float, float] = (3 / 4, 4 / 3)

    def apply(self, geometry: Geometry, dice: SampleRandom) -> None:
        """Draw the box and resize."""
        geometry.crop(*self._box(geometry.height, geometry.width, dice))
        geometry.resize(*_pair(self.size))

    def _box(self, height: int, width: int, dice: SampleRandom) -> tuple[int, int, int, int]:
        area = height * width
        low, high = math.log(self.ratio[0]), math.log(self.ratio[1])
        for _ in range(10):
            target = area * dice.uniform(*self.scale)
            aspect = math.exp(dice.uniform(low, high))
            w = round(math.sqrt(target * aspect))
            h = round(math.sqrt(target / aspect))
            if 0 < w <= width and 0 < h <= height:
                return dice.integer(height - h + 1), dice.integer(width - w + 1), h, w
        w, h = width, height
        if width / height < self.ratio[0]:
            h = round(w / self.ratio[0])
        elif width / height > self.ratio[1]:
            w = round(h * self.ratio[1])
        return (height - h) // 2, (width - w) // 2, h, w


@dataclass(frozen=True)
class CenterCrop:
    """The central box of `size`; where the image is smaller, it is padded with black."""

    size: Size

    def apply(self, geometry: Geometry, dice: SampleRandom) -> None:
        """Crop."""
        height, width = _pair(self.size)
        top, left = _middle(geometry.height, height), _middle(geometry.width, width)
        geometry.crop(top, left, height, width)


@dataclass(frozen=True)
class Resize:
    """To ``(height, width)``, or its shorter side to `size` with the aspect ratio kept."""

    size: Size

    def apply(self, geometry: Geometry, dice: SampleRandom) -> None:
        """Resize."""
        if not isinstance(self.size, int) and len(self.size) > 1:
            geometry.resize(*_pair(self.size))
            return
        size = _pair(self.size)[0]
        short, long = sorted((geometry.height, geometry.width))
        other = int(size * long / short)
        if geometry.height <= geometry.width:
            geometry.resize(size, other)
        else:
            geometry.resize(other, size)


@dataclass(frozen=True)
class RandomHorizontalFlip:
    """Mirror left and right with probability `p`."""

    p: float = 0.5

    def apply(self, geometry: Geometry, dice: SampleRandom) -> None:
        """Flip, or not."""
        if dice.uniform() < self.p:
            geometry.hflip = not geometry.hflip


def largest_output(
    transforms: Sequence[Transform], sizes: Callable[[], Iterable[tuple[int, int]]]
) -> tuple[tuple[int, int], bool]:
    """The largest (height, width), by area, that a pipeline gives, and whether it gives no other.

    Args:
        sizes: called only if the result depends on the images' size; gives their upright sizes.
    """
    found = {_output(transforms, size) for size in ((487, 1031), (1031, 487), (11, 13))}
    if len(found) > 1:
        found = {_output(transforms, size) for size in sizes()}
    return max(found, key=lambda size: size[0] * size[1]), len(found) == 1


def _output(transforms: Sequence[Transform], size: tuple[int, int]) -> tuple[int, int]:
    geometry = Geometry.of(*size)
    dice = SampleRandom(0, 0, 0)
    for transform in transforms:
        transform.apply(geometry, dice)
    return geometry.height, geometry.width


def _middle(length: int, crop: int) -> int:
    """Where torchvision's center_crop begins along one axis; padding has its own rounding."""
    return round((length - crop) / 2) if crop <= length else -((crop - length) // 2)


def _pair(size: Size) -> tuple[int, int]:
    height, width = (size, size) if isinstance(size, int) else (size[0], size[-1])
    return int(height), int(width)
