"""Transforms that change each value by itself, or by its channel's histogram."""

from dataclasses import dataclass

from reader.checks import is_integer, is_number
from reader.errors import ArgumentError
from reader.transforms.operations.operation import Operation
from reader.transforms.operations.values import (
    AutoContrast,
    Equalize,
    Invert,
    Posterize,
    Solarize,
)
from reader.transforms.pixels.pixel_transform import Chance

_BITS = 8


@dataclass(frozen=True)
class RandomInvert(Chance):
    """The negative, with probability `p`.

    Example:
        >>> transforms = [reader.CenterCrop(40), reader.RandomInvert(p=0.5)]
        >>> loader = reader.Loader("shards", batch_size=4, transforms=transforms)
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 40, 40])
    """

    __module__ = "reader"

    p: float = 0.5

    def operation(self) -> Operation:
        """Return what is done."""
        return Invert()


@dataclass(frozen=True)
class RandomSolarize(Chance):
    """The negative of all values from `threshold` on, with probability `p`.

    Example:
        >>> transforms = [reader.CenterCrop(40), reader.RandomSolarize(threshold=128, p=0.2)]
        >>> loader = reader.Loader("shards", batch_size=4, transforms=transforms)
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 40, 40])
    """

    __module__ = "reader"

    threshold: float
    p: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_number(self.threshold) or self.threshold > 255:
            raise ArgumentError(f"{self}: threshold is a number of at most 255.")

    def operation(self) -> Operation:
        """Return what is done."""
        return Solarize(self.threshold)


@dataclass(frozen=True)
class RandomPosterize(Chance):
    """Only the highest `bits` of each value, with probability `p`.

    Example:
        >>> transforms = [reader.CenterCrop(40), reader.RandomPosterize(bits=3)]
        >>> loader = reader.Loader("shards", batch_size=4, transforms=transforms)
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 40, 40])
    """

    __module__ = "reader"

    bits: int
    p: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_integer(self.bits) or not 0 <= self.bits <= _BITS:
            raise ArgumentError(f"{self}: bits is an integer from 0 to 8.")

    def operation(self) -> Operation:
        """Return what is done."""
        return Posterize(self.bits)


@dataclass(frozen=True)
class RandomEqualize(Chance):
    """Each channel with its values spread evenly, with probability `p`.

    Example:
        >>> transforms = [reader.CenterCrop(40), reader.RandomEqualize(p=0.5)]
        >>> loader = reader.Loader("shards", batch_size=4, transforms=transforms)
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 40, 40])
    """

    __module__ = "reader"

    p: float = 0.5

    def operation(self) -> Operation:
        """Return what is done."""
        return Equalize()


@dataclass(frozen=True)
class RandomAutocontrast(Chance):
    """Each channel stretched to all values from 0 to 255, with probability `p`.

    Example:
        >>> transforms = [reader.CenterCrop(40), reader.RandomAutocontrast(p=0.5)]
        >>> loader = reader.Loader("shards", batch_size=4, transforms=transforms)
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 40, 40])
    """

    __module__ = "reader"

    p: float = 0.5

    def operation(self) -> Operation:
        """Return what is done."""
        return AutoContrast()
