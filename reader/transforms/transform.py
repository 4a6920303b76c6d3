"""What a transform is: a step of a pipeline, with what its class states of it."""

from typing import Protocol

from reader.geometry import Geometry
from reader.rng import SampleRandom


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
