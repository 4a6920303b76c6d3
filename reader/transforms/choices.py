"""Transforms that choose among others: whether, which, and in which order."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations

from reader.checks import is_number
from reader.errors import ArgumentError
from reader.geometry import Geometry
from reader.rng import SampleRandom
from reader.transforms.transform import Transform


class Choice:
    """Base of the transforms that choose among others."""

    transforms: Sequence[Transform]

    def __post_init__(self) -> None:
        given = self.transforms
        if (
            not isinstance(given, Sequence)
            or not given
            or not all(hasattr(one, "apply") and not callable(one) for one in given)
        ):
            raise ArgumentError(
                f"{type(self).__name__}: transforms is a list of at least one of reader's "
                f"transforms, not {given!r:.200}."
            )
        object.__setattr__(self, "transforms", tuple(given))

    def chosen(self, rng: SampleRandom) -> Sequence[Transform]:
        """Draw the transforms to apply, in their order."""
        raise NotImplementedError

    def alternatives(self) -> Iterator[Sequence[Transform]]:
        """Yield all that may be chosen."""
        raise NotImplementedError

    def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
        """Draw, and apply what is chosen."""
        for transform in self.chosen(rng):
            transform.apply(geometry, rng)


@dataclass(frozen=True)
class RandomApply(Choice):
    """All of `transforms`, with probability `p`.

    Example:
        >>> jitter = reader.RandomApply([reader.ColorJitter(0.4, 0.4, 0.4, 0.1)], p=0.8)
        >>> transforms = [reader.CenterCrop(40), jitter]
        >>> loader = reader.Loader("shards", batch_size=4, transforms=transforms)
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 40, 40])
    """

    __module__ = "reader"

    transforms: Sequence[Transform]
    p: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        if not is_number(self.p) or not 0 <= self.p <= 1:
            raise ArgumentError(f"{self}: p is a probability from 0 to 1.")

    def chosen(self, rng: SampleRandom) -> Sequence[Transform]:
        """Draw whether they are applied."""
        return self.transforms if rng.uniform() < self.p else ()

    def alternatives(self) -> Iterator[Sequence[Transform]]:
        """Yield all of them, and none."""
        if self.p > 0:
            yield self.transforms
        if self.p < 1:
            yield ()


@dataclass(frozen=True)
class RandomChoice(Choice):
    """One of `transforms`, with the probabilities `p`, or all alike.

    Example:
        >>> one = reader.RandomChoice([reader.RandomSolarize(128, 1), reader.RandomInvert(1)])
        >>> transforms = [reader.CenterCrop(40), one]
        >>> loader = reader.Loader("shards", batch_size=4, transforms=transforms)
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 40, 40])
    """

    __module__ = "reader"

    transforms: Sequence[Transform]
    p: Sequence[float] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.p is None:
            return
        is_fit = isinstance(self.p, Sequence) and len(self.p) == len(self.transforms)
        if not is_fit or not all(is_number(p) and p >= 0 for p in self.p) or not sum(self.p):
            raise ArgumentError(f"{self}: p has a number of at least 0 for each of transforms.")

    def chosen(self, rng: SampleRandom) -> Sequence[Transform]:
        """Draw one."""
        if self.p is None:
            return (self.transforms[rng.integer(len(self.transforms))],)
        left = rng.uniform() * sum(self.p)
        for transform, p in zip(self.transforms, self.p, strict=True):
            left -= p
            if left < 0:
                return (transform,)
        return (self._possible[-1],)  # rounding left nothing

    def alternatives(self) -> Iterator[Sequence[Transform]]:
        """Yield each."""
        return ((transform,) for transform in self._possible)

    @property
    def _possible(self) -> Sequence[Transform]:
        if self.p is None:
            return self.transforms
        return [one for one, p in zip(self.transforms, self.p, strict=True) if p > 0]


@dataclass(frozen=True)
class RandomOrder(Choice):
    """All of `transforms`, in a random order.

    Example:
        >>> both = reader.RandomOrder([reader.RandomEqualize(), reader.GaussianBlur(5)])
        >>> transforms = [reader.CenterCrop(40), both]
        >>> loader = reader.Loader("shards", batch_size=4, transforms=transforms)
        >>> next(iter(loader))[0].shape
        torch.Size([4, 3, 40, 40])
    """

    __module__ = "reader"

    transforms: Sequence[Transform]

    def chosen(self, rng: SampleRandom) -> Sequence[Transform]:
        """Draw the order."""
        return [self.transforms[number] for number in rng.permutation(len(self.transforms))]

    def alternatives(self) -> Iterator[Sequence[Transform]]:
        """Yield each order."""
        return permutations(self.transforms)
