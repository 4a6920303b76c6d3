"""timm's automatic augmentation and its resize, with timm's magnitudes, draws and filters."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from reader.geometry import Geometry
from reader.rng import SampleRandom
from reader.transforms.foreign.pillow import PillowBlur, PillowWarp
from reader.transforms.geometry.resizes import Resizing
from reader.transforms.operations.linear import Brightness, Contrast, Saturation
from reader.transforms.operations.mixtures import Mixture
from reader.transforms.operations.neighbours import Sharpness
from reader.transforms.operations.operation import Operation, Pixels, Size
from reader.transforms.operations.values import (
    AutoContrast,
    Equalize,
    Invert,
    Posterize,
    Solarize,
)
from reader.transforms.operations.warps import Matrix, turned
from reader.transforms.pixels.pixel_transform import PixelTransform, check_colour

_LEVELS = 10  # of a magnitude, whose highest makes an operation strongest
_MOST_DEPTH = 3

Value = Callable[[float], float]

_FACTORS: dict[str, Callable[[float], Operation]] = {
    "Brightness": Brightness,
    "Color": Saturation,
    "Contrast": Contrast,
    "Sharpness": Sharpness,
}
_PLAIN: dict[str, Callable[[], Operation]] = {
    "AutoContrast": AutoContrast,
    "Equalize": Equalize,
    "Invert": Invert,
}
_BITS: dict[str, Value] = {
    "Posterize": lambda level: int(level * 4),
    "PosterizeIncreasing": lambda level: 4 - int(level * 4),
    "PosterizeOriginal": lambda level: int(level * 4) + 4,
}
_THRESHOLDS: dict[str, Value] = {
    "Solarize": lambda level: min(256, int(level * 256)),
    "SolarizeIncreasing": lambda level: 256 - min(256, int(level * 256)),
}
_WARPS = (
    *("Rotate", "ShearX", "ShearY", "TranslateX", "TranslateY", "TranslateXRel", "TranslateYRel"),
)
NAMES = {
    *_PLAIN,
    *_FACTORS,
    *(f"{name}Increasing" for name in _FACTORS),
    *_BITS,
    *_THRESHOLDS,
    *_WARPS,
    *("SolarizeAdd", "Desaturate", "GaussianBlur", "GaussianBlurRand"),
}


@dataclass(frozen=True)
class SolarizeAdd(Operation):
    """Values below 128 raised by a number of levels."""

    added: int

    def change(self, pixels: Pixels) -> None:
        """Change an image in place."""
        np.add(pixels, np.uint8(self.added), out=pixels, where=pixels < 128)


@dataclass(frozen=True)
class AugmentOp:
    """One of timm's operations, by its name.

    Attributes:
        p: probability of doing it.
        deviation: of the magnitude, which is normal; infinite for one from 0 to `magnitude`.
        most: upper limit of the magnitude.
        filters: one of them is drawn for a warp.
        shift: pixels of the largest translation, and `share` of the side in its place.
    """

    name: str
    p: float
    magnitude: float
    deviation: float = 0
    most: float = _LEVELS
    fill: tuple[int, ...] = (128, 128, 128)
    filters: tuple[str, ...] = ("bilinear", "bicubic")
    shift: float = 250
    share: float = 0.45

    def draw(self, size: Size, rng: SampleRandom) -> Sequence[Operation]:
        """Draw whether it is done, and how."""
        if rng.uniform() >= self.p:
            return []
        name, level = self.name, self._level(rng)
        kept = min(level, 1.0)
        if name in _PLAIN:
            return [_PLAIN[name]()]
        if name in _BITS:
            bits = int(_BITS[name](level))
            return [Posterize(max(bits, 0))] if bits < 8 else []
        if name in _THRESHOLDS:
            return [Solarize(threshold)] if (threshold := _THRESHOLDS[name](level)) < 256 else []
        if name == "SolarizeAdd":
            return [SolarizeAdd(min(128, int(level * 110)))]
        if name in _FACTORS:
            return [_FACTORS[name](level * 1.8 + 0.1)]
        if name == "Desaturate":
            return [Saturation(0.5 - 0.5 * kept)]
        if name == "GaussianBlur":
            return [PillowBlur(0.1 + 1.9 * kept)]
        if name == "GaussianBlurRand":
            return [PillowBlur(rng.uniform(0.1, 2.0 * kept))]
        level = -level if rng.uniform() > 0.5 else level
        if name not in _WARPS:
            return [_FACTORS[name.removesuffix("Increasing")](max(0.1, 1 + level * 0.9))]
        return [self._warp(self._matrix(level, size), rng)]

    def _level(self, rng: SampleRandom) -> float:
        magnitude = self.magnitude
        if math.isinf(self.deviation):
            magnitude = rng.uniform(0, magnitude)
        elif self.deviation:
            radius = math.sqrt(-2 * math.log(1 - rng.uniform()))
            magnitude += self.deviation * radius * math.cos(2 * math.pi * rng.uniform())
        return max(0.0, min(magnitude, self.most)) / _LEVELS

    def _matrix(self, level: float, size: Size) -> Matrix:
        name = self.name
        if name == "Rotate":
            return turned(level * 30, size)
        if name == "ShearX":
            return 1, level * 0.3, 0, 0, 1, 0
        if name == "ShearY":
            return 1, 0, 0, level * 0.3, 1, 0
        is_across = name.startswith("TranslateX")
        side = size[1] if is_across else size[0]
        moved = float(level * (self.share * side if name.endswith("Rel") else self.shift))
        return (1, 0, moved, 0, 1, 0) if is_across else (1, 0, 0, 0, 1, moved)

    def _warp(self, matrix: Matrix, rng: SampleRandom) -> Operation:
        return PillowWarp(matrix, self.filters[rng.integer(len(self.filters))], self.fill)


class _OfOps(PixelTransform):
    """Base of the transforms that choose operations."""

    moves_pixels = True

    ops: tuple[AugmentOp, ...]

    def check(self, channels: int) -> None:
        """Refuse a fill with another number of channels."""
        for op in self.ops:
            check_colour(type(self).__name__, "fillcolor", op.fill, channels)


@dataclass(frozen=True)
class TimmRandAugment(_OfOps):
    """`num_layers` of the operations: any, or different ones by their weights."""

    ops: tuple[AugmentOp, ...]
    num_layers: int = 2
    weights: tuple[float, ...] = ()

    def draw(self, size: Size, rng: SampleRandom) -> Sequence[Operation]:
        """Draw the operations."""
        left, found = list(self.weights), list[Operation]()
        for _ in range(self.num_layers):
            number = _weighted(left, rng) if left else rng.integer(len(self.ops))
            if left:
                left[number] = 0.0
            found += self.ops[number].draw(size, rng)
        return found


def _weighted(weights: Sequence[float], rng: SampleRandom) -> int:
    """Draw a place with a probability in proportion to its weight."""
    rest = rng.uniform() * sum(weights)
    for number, weight in enumerate(weights):
        rest -= weight
        if rest < 0:
            return number
    return max(range(len(weights)), key=weights.__getitem__)  # rounding left nothing


@dataclass(frozen=True)
class TimmAutoAugment(_OfOps):
    """The operations of one row of a policy."""

    policy: tuple[tuple[AugmentOp, ...], ...]

    @property
    def ops(self) -> tuple[AugmentOp, ...]:  # type: ignore[override]
        """All operations."""
        return tuple(op for row in self.policy for op in row)

    def draw(self, size: Size, rng: SampleRandom) -> Sequence[Operation]:
        """Draw the row, and its operations."""
        row = self.policy[rng.integer(len(self.policy))]
        return [operation for op in row for operation in op.draw(size, rng)]


@dataclass(frozen=True)
class TimmAugMix(_OfOps):
    """A random mixture of the image and of `width` chains of operations on it."""

    ops: tuple[AugmentOp, ...]
    alpha: float = 1.0
    width: int = 3
    depth: int = -1

    def draw(self, size: Size, rng: SampleRandom) -> Sequence[Operation]:
        """Draw the weights and the chains."""
        own, rest = rng.dirichlet(self.alpha, 2)
        chains = []
        for weight in rng.dirichlet(self.alpha, self.width):
            depth = self.depth if self.depth > 0 else 1 + rng.integer(_MOST_DEPTH)
            chosen = [self.ops[rng.integer(len(self.ops))] for _ in range(depth)]
            chain = [operation for op in chosen for operation in op.draw(size, rng)]
            chains.append((weight * rest, chain))
        return [Mixture(own, chains)]


@dataclass(frozen=True)
class ResizeKeepRatio(Resizing):
    """The image resized with its aspect ratio kept, to fill `size`; with `longest` 1, within it."""

    is_fixed = True

    size: tuple[int, int]
    longest: float = 0.0
    interpolation: str = "bilinear"
    antialias: bool = True

    def __post_init__(self) -> None:
        self.check_filter()

    def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
        """Resize."""
        ratios = geometry.height / self.size[0], geometry.width / self.size[1]
        ratio = max(ratios) * self.longest + min(ratios) * (1 - self.longest)
        height, width = round(geometry.height / ratio), round(geometry.width / ratio)
        geometry.resize(height, width, self.filter)
