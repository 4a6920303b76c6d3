"""Transforms that replace pixels: noise and erased boxes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from reader.checks import is_flag, is_number
from reader.errors import ArgumentError
from reader.rng import SampleRandom
from reader.transforms.operations.noise import Erase, Noise
from reader.transforms.operations.operation import Operation, Size
from reader.transforms.pixels.pixel_transform import (
    PixelTransform,
    check_colour,
    check_probability,
)

_MOST = 255

# Noise around the mean of ImageNet's colours, with their deviation: standard normal once it is
# normalised.
_MEAN = (0.485 * _MOST, 0.456 * _MOST, 0.406 * _MOST)
_DEVIATION = (0.229 * _MOST, 0.224 * _MOST, 0.225 * _MOST)


@dataclass(frozen=True)
class GaussianNoise(PixelTransform):
    """Normal noise, in shares of 255; `clip` keeps values from 0 to 255.

    Example:
        >>> transforms = [reader.CenterCrop(40), reader.GaussianNoise(sigma=0.05)]
        >>> loader = reader.Loader("shards", batch_size=4, transforms=transforms)
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 40, 40])
    """

    __module__ = "reader"

    mean: float = 0.0
    sigma: float = 0.1
    clip: bool = True

    def __post_init__(self) -> None:
        if not is_number(self.mean) or not is_number(self.sigma) or self.sigma < 0:
            raise ArgumentError(f"{self}: mean is a number, and sigma one of at least 0.")
        if not is_flag(self.clip):
            raise ArgumentError(f"{self}: clip is True or False.")

    def draw(self, size: Size, rng: SampleRandom) -> Sequence[Operation]:
        """Draw the key of the noise."""
        return [Noise(rng.key(), self.mean * _MOST, self.sigma * _MOST, bool(self.clip))]


@dataclass(frozen=True)
class RandomErasing(PixelTransform):
    """A random box of one colour, with probability `p`.

    Attributes:
        scale: share of the image's area, drawn from ``(least, most)``.
        ratio: height to width, drawn from ``(least, most)`` on a logarithmic scale.
        value: a level from 0 to 255, or one for each channel; "random" for noise with the mean and
            deviation of ImageNet's colours, which is standard normal after normalising.

    Example:
        >>> transforms = [reader.CenterCrop(40), reader.RandomErasing(value=(124, 116, 104))]
        >>> loader = reader.Loader("shards", batch_size=4, transforms=transforms)
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 40, 40])
    """

    __module__ = "reader"

    p: float = 0.5
    scale: Sequence[float] = (0.02, 0.33)
    ratio: Sequence[float] = (0.3, 3.3)
    value: float | Sequence[float] | str = 0

    def __post_init__(self) -> None:
        check_probability(self, self.p)
        for name, most in (("scale", 1), ("ratio", math.inf)):
            ends = getattr(self, name)
            if (
                not isinstance(ends, Sequence)
                or len(ends) != 2
                or not all(map(is_number, ends))
                or not (0 if name == "scale" else 1e-9) <= ends[0] <= ends[1] <= most
            ):
                wide = "from 0 to 1" if name == "scale" else "above 0"
                raise ArgumentError(f"{self}: {name} is (least, most), numbers {wide}.")
        if self.value != "random" and not all(map(_is_level, self._colour)):
            raise ArgumentError(
                f'{self}: value is a number from 0 to 255, one for each channel, or "random".'
            )

    @property
    def _colour(self) -> Sequence[float]:
        value = self.value
        return value if isinstance(value, Sequence) and not isinstance(value, str) else (value,)  # type: ignore[return-value]

    def draw(self, size: Size, rng: SampleRandom) -> Sequence[Operation]:
        """Draw the box: ten tries, as torchvision has it, then none."""
        if rng.uniform() >= self.p:
            return []
        height, width = size
        low, high = map(math.log, self.ratio)
        for _ in range(10):
            area = height * width * rng.uniform(*self.scale)
            aspect = math.exp(rng.uniform(low, high))
            tall, wide = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
            if tall < height and wide < width:
                box = rng.integer(height - tall + 1), rng.integer(width - wide + 1), tall, wide
                if self.value == "random":
                    return [Erase(*box, _MEAN, rng.key(), _DEVIATION)]
                return [Erase(*box, self._colour)]
        return []

    def check(self, channels: int) -> None:
        """Refuse a colour with another number of channels."""
        if self.value != "random":
            check_colour(self, "value", self._colour, channels)


def _is_level(value: object) -> bool:
    return is_number(value) and 0 <= value <= _MOST  # type: ignore[operator]
