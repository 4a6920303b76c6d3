"""Transforms as pure geometry; none of them touches a pixel.

The classes have torchvision's names, arguments and rules. A pipeline of them changes a
`reader.geometry.Geometry`, from which the decoder gets its crop plan.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, Protocol

from reader.checks import is_count, is_flag, is_integer, is_number
from reader.errors import ArgumentError, ReaderError
from reader.format.sizes import SizeBounds
from reader.geometry import Geometry
from reader.rng import SampleRandom

Size = int | Sequence[int]
Interpolation = str | int | Enum

# torchvision's names, and Pillow's numbers, which torchvision also accepts.
_INTERPOLATIONS = {"nearest": 0, "bilinear": 2, "bicubic": 3}


class Transform(Protocol):
    """A step of a pipeline.

    Example:
        >>> class TopHalf:
        ...     def apply(self, geometry, rng):
        ...         geometry.crop(0, 0, geometry.height // 2, geometry.width)
        >>> with reader.Loader("shards", transforms=[TopHalf()]) as loader:
        ...     images, labels = next(iter(loader))
        >>> images.shape
        torch.Size([1, 3, 30, 80])
    """

    def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
        """Change `geometry`; take all random numbers from `rng`."""


Transform.__module__ = "reader"  # in the body it would belong to the protocol


def states(transform: Transform, trait: str) -> bool:
    """Whether the class of a transform states a trait itself; a derived class may do anything.

    - ``is_fixed``: it is the same in every epoch.
    - ``is_mirror``: it only swaps sides.
    - ``takes_arrays``: `apply` also takes a `Geometry` of arrays, with one entry for each sample.
    """
    return bool(vars(type(transform)).get(trait))


class _Resizing:
    """Base of the transforms that resize; `Resize` describes the arguments."""

    interpolation: Interpolation
    antialias: bool

    @property
    def filter(self) -> str | None:
        """The `filter` of `Geometry.resize`."""
        name = str(self.interpolation)
        return name if self.antialias or name != "bilinear" else None

    def _check_filter(self) -> None:
        """Store `interpolation` as a name: with torchvision's enum, workers would import it."""
        given = getattr(self.interpolation, "value", self.interpolation)
        for name, number in _INTERPOLATIONS.items():
            if given == name or (is_integer(given) and given == number):
                object.__setattr__(self, "interpolation", name)
                break
        else:
            raise ArgumentError(f"{self}: interpolation is one of {', '.join(_INTERPOLATIONS)}.")
        if not is_flag(self.antialias):
            raise ArgumentError(f"{self}: antialias is True or False.")


@dataclass(frozen=True)
class RandomResizedCrop(_Resizing):
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
        _check_size(self, self.size)
        self._check_filter()
        if not (_is_range(self.scale) and _is_range(self.ratio)):
            raise ArgumentError(f"{self}: scale and ratio are (least, most), numbers above 0.")

    def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
        """Draw the box and resize."""
        geometry.crop(*self._box(geometry.height, geometry.width, rng))
        geometry.resize(*_pair(self.size), self.filter)

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
        _check_size(self, self.size)

    def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
        """Crop."""
        height, width = _pair(self.size)
        top, left = _middle(geometry.height, height), _middle(geometry.width, width)
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
        _check_size(self, self.size)
        _check_fill(self, self.fill)
        if not is_integer(self.padding) or self.padding < 0:
            raise ArgumentError(f"{self}: padding is a number of pixels of at least 0.")
        if not is_flag(self.pad_if_needed):
            raise ArgumentError(f"{self}: pad_if_needed is True or False.")

    def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
        """Draw the box."""
        height, width = _pair(self.size)
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


@dataclass(frozen=True)
class Resize(_Resizing):
    """The image resized to ``(height, width)``, or with its aspect ratio kept.

    One number is the length of the shorter side in pixels; ``Resize(longest=640)`` sets the longer
    side.

    Attributes:
        interpolation: "bilinear"; "bicubic" or "nearest", always as in Pillow; or torchvision's
            ``InterpolationMode`` of these.
        antialias: bilinear as in Pillow and torchvision, with a filter that widens with the
            reduction. Without it, a JPEG that shrinks to half or less is decoded at a reduced
            scale, and then resized without a filter: faster, with some aliasing.

    Example:
        >>> loader = reader.Loader("shards", batch_size=4, transforms=[reader.Resize((48, 64))])
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 48, 64])
    """

    __module__ = "reader"
    is_fixed = True

    size: Size | None = None
    interpolation: Interpolation = "bilinear"
    longest: int | None = field(default=None, kw_only=True)
    antialias: bool = field(default=False, kw_only=True)

    def __post_init__(self) -> None:
        if (self.size is None) == (self.longest is None):
            raise ArgumentError("Resize takes either a size or longest=, a number of pixels.")
        _check_size(self, self.longest if self.size is None else self.size)
        self._check_filter()

    def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
        """Resize."""
        geometry.resize(*self._target(geometry.height, geometry.width), self.filter)

    def _target(self, height: int, width: int) -> tuple[int, int]:
        """Return the new (height, width) of an image."""
        if self.longest is not None:
            return _within(self.longest, self.longest, height, width)
        assert self.size is not None
        if isinstance(self.size, Sequence) and len(self.size) > 1:
            return _pair(self.size)
        size, (short, long) = _pair(self.size)[0], sorted((height, width))
        other = int(size * long / short)
        return (size, other) if height <= width else (other, size)


@dataclass(frozen=True)
class Letterbox(_Resizing):
    """The whole image in the middle of `size`, its aspect ratio kept, with `fill` around it.

    YOLO detectors use it; 114 is their grey. `Resize` describes `interpolation` and `antialias`.

    Example:
        >>> loader = reader.Loader("shards", batch_size=4, transforms=[reader.Letterbox(96)])
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 96, 96])
    """

    __module__ = "reader"
    is_fixed = True

    size: Size
    fill: int = 114
    interpolation: Interpolation = "bilinear"
    antialias: bool = False

    def __post_init__(self) -> None:
        _check_size(self, self.size)
        _check_fill(self, self.fill)
        self._check_filter()

    def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
        """Resize and pad."""
        height, width = _pair(self.size)
        geometry.resize(*_within(height, width, geometry.height, geometry.width), self.filter)
        top, left = _middle(geometry.height, height), _middle(geometry.width, width)
        geometry.crop(top, left, height, width, self.fill)


@dataclass(frozen=True)
class _Flip:
    p: float = 0.5

    def __post_init__(self) -> None:
        if not is_number(self.p) or not 0 <= self.p <= 1:
            raise ArgumentError(f"{self}: p is a probability from 0 to 1.")


class RandomHorizontalFlip(_Flip):
    """A swap of left and right with probability `p`.

    Example:
        >>> transforms = [reader.RandomHorizontalFlip(p=0.5)]
        >>> loader = reader.Loader("shards", batch_size=4, transforms=transforms)
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 60, 80])
    """

    __module__ = "reader"
    is_mirror = takes_arrays = True

    def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
        """Flip, or not."""
        geometry.hflip = geometry.hflip ^ (rng.uniform() < self.p)


class RandomVerticalFlip(_Flip):
    """A swap of top and bottom with probability `p`.

    Example:
        >>> transforms = [reader.RandomVerticalFlip(p=0.5)]
        >>> loader = reader.Loader("shards", batch_size=4, transforms=transforms)
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 60, 80])
    """

    __module__ = "reader"
    is_mirror = takes_arrays = True

    def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
        """Flip, or not."""
        geometry.vflip = geometry.vflip ^ (rng.uniform() < self.p)


def transformed(
    size: tuple[int, int], transforms: Iterable[Transform], rng: SampleRandom
) -> Geometry:
    geometry = Geometry.of(*size)
    for transform in transforms:
        transform.apply(geometry, rng)
    return geometry


class Images(Protocol):
    """The sizes of images as (height, width)."""

    @property
    def size_bounds(self) -> SizeBounds: ...

    def sizes(self) -> Iterable[tuple[int, int]]:
        """Return all sizes, which takes longer."""


def largest_output(transforms: Sequence[Transform], images: Images) -> tuple[tuple[int, int], bool]:
    """Return the largest output (height, width) of a pipeline, and whether it is the only one."""
    try:
        found = {_output(transforms, size) for size in ((487, 1031), (1031, 487), (11, 13))}
    except ReaderError:  # the images may not have the size that failed
        found = set()
    if len(found) != 1:
        bounds = images.size_bounds
        if bounds.is_one or all(states(transform, "is_mirror") for transform in transforms):
            return _output(transforms, bounds.largest), bounds.is_one
        found = {_output(transforms, size) for size in images.sizes()}
    return max(found, key=lambda size: (size[0] * size[1], size)), len(found) == 1


def _output(transforms: Sequence[Transform], size: tuple[int, int]) -> tuple[int, int]:
    geometry = transformed(size, transforms, SampleRandom(0, 0, 0))
    return geometry.height, geometry.width


def _middle(length: int, crop: int) -> int:
    """Return the start of torchvision's center_crop on one axis; padding has its own rounding."""
    return round((length - crop) / 2) if crop <= length else -((crop - length) // 2)


def _pair(size: Size) -> tuple[int, int]:
    height, width = (size[0], size[-1]) if isinstance(size, Sequence) else (size, size)
    return int(height), int(width)


def _within(room: int, across: int, height: int, width: int) -> tuple[int, int]:
    scale = min(room / height, across / width)
    return max(round(height * scale), 1), max(round(width * scale), 1)


def _is_range(value: Any) -> bool:
    is_pair = isinstance(value, Sequence) and len(value) == 2 and all(map(is_number, value))
    return is_pair and 0 < value[0] <= value[1]


def _check_size(transform: Transform, size: Any) -> None:
    sides = size if isinstance(size, Sequence) and not isinstance(size, str) else [size]
    if not 1 <= len(sides) <= 2 or not all(map(is_count, sides)):
        raise ArgumentError(
            f"{transform}: a size is a number of pixels, or (height, width), each at least 1."
        )


def _check_fill(transform: Transform, fill: int) -> None:
    if not is_integer(fill) or not 0 <= fill <= 255:
        raise ArgumentError(f"{transform}: fill is a grey value from 0 to 255.")
