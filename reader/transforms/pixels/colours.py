"""Transforms of colours: jitter, grey, and channels in another order."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from reader.errors import ArgumentError
from reader.rng import SampleRandom
from reader.transforms.operations.hue import Hue
from reader.transforms.operations.linear import Brightness, Contrast, Grey, Saturation
from reader.transforms.operations.operation import Operation, Size
from reader.transforms.operations.values import Permutation
from reader.transforms.pixels.pixel_transform import (
    Chance,
    PixelTransform,
    check_probability,
    interval,
)

Factor = float | Sequence[float] | None

_KINDS = {"brightness": Brightness, "contrast": Contrast, "saturation": Saturation, "hue": Hue}
_CHANNELS = 3


def _check_factors(transform: object) -> None:
    """Store each factor as (least, most), or None."""
    for name in _KINDS:
        bounds = (0, -0.5, 0.5) if name == "hue" else (1, 0, math.inf)
        found = interval(transform, name, getattr(transform, name), *bounds)
        object.__setattr__(transform, name, found)


@dataclass(frozen=True)
class ColorJitter(PixelTransform):
    """Brightness, contrast, saturation and hue, changed by random factors in a random order.

    Attributes:
        brightness, contrast, saturation: a factor is drawn from ``1 - value`` to ``1 + value``, or
            from ``(least, most)``. 0 changes nothing.
        hue: a share of the circle of colours, from ``-value`` to ``value``, or from
            ``(least, most)``.

    Example:
        >>> transforms = [reader.CenterCrop(40), reader.ColorJitter(0.4, 0.4, 0.4, 0.1)]
        >>> loader = reader.Loader("shards", batch_size=4, transforms=transforms)
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 40, 40])
    """

    __module__ = "reader"

    brightness: Factor = 0
    contrast: Factor = 0
    saturation: Factor = 0
    hue: Factor = 0

    def __post_init__(self) -> None:
        _check_factors(self)

    def draw(self, size: Size, rng: SampleRandom) -> Sequence[Operation]:
        """Draw the order, and each factor."""
        names = [*_KINDS]
        order = [names[number] for number in rng.permutation(len(names))]
        factors = {name: rng.uniform(*ends) for name in names if (ends := getattr(self, name))}
        return [_KINDS[name](factors[name]) for name in order if name in factors]


@dataclass(frozen=True)
class RandomPhotometricDistort(PixelTransform):
    """The distortion of colours of the detector SSD: each of five changes with probability `p`.

    The factors are drawn from ``(least, most)``; contrast comes before or after saturation and hue.

    Example:
        >>> transforms = [reader.CenterCrop(40), reader.RandomPhotometricDistort()]
        >>> loader = reader.Loader("shards", batch_size=4, transforms=transforms)
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 40, 40])
    """

    __module__ = "reader"

    brightness: Factor = (0.875, 1.125)
    contrast: Factor = (0.5, 1.5)
    saturation: Factor = (0.5, 1.5)
    hue: Factor = (-0.05, 0.05)
    p: float = 0.5

    def __post_init__(self) -> None:
        _check_factors(self)
        check_probability(self, self.p)

    def draw(self, size: Size, rng: SampleRandom) -> Sequence[Operation]:
        """Draw which of them are done, and their factors."""
        drawn = {}
        for name, kind in _KINDS.items():
            if rng.uniform() < self.p and (ends := getattr(self, name)):
                drawn[name] = kind(rng.uniform(*ends))
        is_before = rng.uniform() < 0.5
        order = ["brightness", "contrast", "saturation", "hue", "contrast"]
        del order[4 if is_before else 1]
        found: list[Operation] = [drawn[name] for name in order if name in drawn]
        if rng.uniform() < self.p:
            found.append(Permutation(tuple(rng.permutation(_CHANNELS))))
        return found


@dataclass(frozen=True)
class Grayscale(PixelTransform):
    """Grey in all channels; the images keep their number of channels.

    For images of one channel, open them as such: ``reader.Dataset("shards", channels=1)``.

    Example:
        >>> transforms = [reader.CenterCrop(40), reader.Grayscale(3)]
        >>> loader = reader.Loader("shards", batch_size=4, transforms=transforms)
        >>> images, labels = next(iter(loader))
        >>> bool((images[:, 0] == images[:, 2]).all())
        True
    """

    __module__ = "reader"

    num_output_channels: int = 1

    def __post_init__(self) -> None:
        if self.num_output_channels not in (1, 3):
            raise ArgumentError(f"{self}: num_output_channels is 1 or 3.")

    def draw(self, size: Size, rng: SampleRandom) -> Sequence[Operation]:
        """Return the one operation."""
        return [Grey()]

    def check(self, channels: int) -> None:
        """Refuse another number of channels than images have."""
        if self.num_output_channels != channels:
            raise ArgumentError(
                f"{self}: images have {channels} channel{'s' if channels > 1 else ''}, and a "
                "transform keeps them. Write reader.Grayscale(3) for grey in three channels, or "
                'open reader.Dataset("shards", channels=1) for images of one.'
            )


@dataclass(frozen=True)
class RandomGrayscale(Chance):
    """Grey in all channels, with probability `p`.

    Example:
        >>> transforms = [reader.CenterCrop(40), reader.RandomGrayscale(p=0.2)]
        >>> loader = reader.Loader("shards", batch_size=4, transforms=transforms)
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 40, 40])
    """

    __module__ = "reader"

    p: float = 0.1

    def operation(self) -> Operation:
        """Return what is done."""
        return Grey()


@dataclass(frozen=True)
class RandomChannelPermutation(PixelTransform):
    """The channels in a random order.

    Example:
        >>> transforms = [reader.CenterCrop(40), reader.RandomChannelPermutation()]
        >>> loader = reader.Loader("shards", batch_size=4, transforms=transforms)
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 40, 40])
    """

    __module__ = "reader"

    def draw(self, size: Size, rng: SampleRandom) -> Sequence[Operation]:
        """Draw the order."""
        return [Permutation(tuple(rng.permutation(_CHANNELS)))]
