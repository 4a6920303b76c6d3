"""Transforms that resize an image."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from reader.checks import is_flag, is_integer
from reader.errors import ArgumentError
from reader.geometry import Geometry
from reader.rng import SampleRandom
from reader.transforms.geometry.sizes import Size, check_fill, check_size, middle, pair, within

Interpolation = str | int | Enum

# torchvision's names, and Pillow's numbers, which torchvision also accepts.
_INTERPOLATIONS = {"nearest": 0, "bilinear": 2, "bicubic": 3}


class Resizing:
    """Base of the transforms that resize; `Resize` describes the arguments."""

    interpolation: Interpolation
    antialias: bool

    @property
    def filter(self) -> str | None:
        """The `filter` of `Geometry.resize`."""
        name = str(self.interpolation)
        return name if self.antialias or name != "bilinear" else None

    def check_filter(self) -> None:
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
class Resize(Resizing):
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
        check_size(self, self.longest if self.size is None else self.size)
        self.check_filter()

    def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
        """Resize."""
        geometry.resize(*self._target(geometry.height, geometry.width), self.filter)

    def _target(self, height: int, width: int) -> tuple[int, int]:
        """Return the new (height, width) of an image."""
        if self.longest is not None:
            return within(self.longest, self.longest, height, width)
        assert self.size is not None
        if isinstance(self.size, Sequence) and len(self.size) > 1:
            return pair(self.size)
        size, (short, long) = pair(self.size)[0], sorted((height, width))
        other = int(size * long / short)
        return (size, other) if height <= width else (other, size)


@dataclass(frozen=True)
class Letterbox(Resizing):
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
        check_size(self, self.size)
        check_fill(self, self.fill)
        self.check_filter()

    def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
        """Resize and pad."""
        height, width = pair(self.size)
        geometry.resize(*within(height, width, geometry.height, geometry.width), self.filter)
        top, left = middle(geometry.height, height), middle(geometry.width, width)
        geometry.crop(top, left, height, width, self.fill)
