"""Transforms that keep a box of an image."""

import math
from dataclasses import dataclass

from reader.checks import is_flag, is_integer
from reader.errors import ArgumentError, ReaderError
from reader.geometry import Geometry
from reader.rng import SampleRandom
from reader.transforms.geometry.resizes import Interpolation, Resizing
from reader.transforms.geometry.sizes import Size, check_fill, check_size, is_range, middle, pair


@dataclass(frozen=True)
class RandomResizedCrop(Resizing):
    """A random box of `scale` of the area and a `ratio` of width to height, resized to `size`.

    It follows torchvision's algorithm: ten tries, then the largest central box within the ratios.
    `Resize` describes `interpolation` and `antialias`.

    Example:
        >>> transforms = [reader.RandomResizedCrop(48, scale=(0.2, 1.0))]
        >>> loader = reader.Loader("shards", batch_size=4, transforms=transforms)
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 48, 48])
    """

    __module__ = "reader"

    size: Size
    scale: tuple[float, float] = (0.08, 1.0)
    ratio: tuple[float, float] = (3 / 4, 4 / 3)
    interpolation: Interpolation = "bilinear"
    antialias: bool = False

    def __post_init__(self) -> None:
        check_size(self, self.size)
        self.check_filter()
        if not (is_range(self.scale) and is_range(self.ratio)):
            raise ArgumentError(f"{self}: scale and ratio are (least, most), numbers above 0.")

    def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
        """Draw the box and resize."""
        geometry.crop(*self._box(geometry.height, geometry.width, rng))
        geometry.resize(*pair(self.size), self.filter)

    def _box(self, height: int, width: int, rng: SampleRandom) -> tuple[int, int, int, int]:
        area = height * width
        low, high = math.log(self.ratio[0]), math.log(self.ratio[1])
        for _ in range(10):
            target = area * rng.uniform(*self.scale)
            aspect = math.exp(rng.uniform(low, high))
            w = round(math.sqrt(target * aspect))
            h = round(math.sqrt(target / aspect))
            if 0 < w <= width and 0 < h <= height:
                return rng.integer(height - h + 1), rng.integer(width - w + 1), h, w
        w, h = width, height
        if width / height < self.ratio[0]:
            h = round(w / self.ratio[0])
        elif width / height > self.ratio[1]:
            w = round(h * self.ratio[1])
        return (height - h) // 2, (width - w) // 2, h, w


@dataclass(frozen=True)
class CenterCrop:
    """The central box of `size`; a smaller image is padded with black.

    Example:
        >>> loader = reader.Loader("shards", batch_size=4, transforms=[reader.CenterCrop(40)])
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 40, 40])
    """

    __module__ = "reader"
    is_fixed = takes_arrays = True

    size: Size

    def __post_init__(self) -> None:
        check_size(self, self.size)

    def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
        """Crop."""
        height, width = pair(self.size)
        top, left = middle(geometry.height, height), middle(geometry.width, width)
        geometry.crop(top, left, height, width, fill=0)


@dataclass(frozen=True)
class RandomCrop:
    """A random box of `size`, after `padding` pixels of the grey value `fill` on every side.

    `pad_if_needed` pads an image that is smaller than the box; otherwise this is a ReaderError.

    Example:
        >>> transforms = [reader.RandomCrop(32, padding=4)]
        >>> loader = reader.Loader("shards", batch_size=4, transforms=transforms)
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 32, 32])
    """

    __module__ = "reader"
    takes_arrays = True

    size: Size
    padding: int = 0
    pad_if_needed: bool = False
    fill: int = 0

    def __post_init__(self) -> None:
        check_size(self, self.size)
        check_fill(self, self.fill)
        if not is_integer(self.padding) or self.padding < 0:
            raise ArgumentError(f"{self}: padding is a number of pixels of at least 0.")
        if not is_flag(self.pad_if_needed):
            raise ArgumentError(f"{self}: pad_if_needed is True or False.")

    def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
        """Draw the box."""
        height, width = pair(self.size)
        top = self._start(geometry.height, height, rng)
        left = self._start(geometry.width, width, rng)
        geometry.crop(top, left, height, width, self.fill)

    def _start(self, length: int, size: int, rng: SampleRandom) -> int:
        padding = self.padding
        if length + 2 * padding < size:
            if not self.pad_if_needed:
                raise ReaderError(
                    f"{self} is larger than an image side of {length} pixels: "
                    "give it pad_if_needed=True"
                )
            padding += size - length - 2 * padding  # on both sides, as torchvision does
        return rng.integer(length + 2 * padding - size + 1) - padding
