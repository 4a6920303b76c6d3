"""Transforms that swap the sides of an image."""

from dataclasses import dataclass

from reader.checks import is_number
from reader.errors import ArgumentError
from reader.geometry import Geometry
from reader.rng import SampleRandom


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
