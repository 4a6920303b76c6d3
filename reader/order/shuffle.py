"""Who comes when, and with which dice: pure functions of (seed, epoch, position).

Nothing is stored: any position of any epoch is computed at once, so resuming is one integer and
neither workers nor world size can change an order.

The shuffle is Black and Rogaway's generalized Feistel cipher with cycle walking ("Ciphers with
arbitrary finite domains", 2002), so it is a bijection of [0, N) by construction. Its round
function, and the dice of the augmentations, are splitmix64 (Steele, Lea, Flood, "Fast splittable
pseudorandom number generators", 2014). Where a rectangle of odd sides has no or few numbers to
spare (7 to 9, 21 to 25, 43 to 49, ...), a cipher of rotations favours even permutations or the odd
ones. Few elements would show that, so up to 64 of them are drawn by Fisher and Yates instead.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

_M64 = 2**64 - 1
_GOLDEN = 0x9E3779B97F4A7C15
_ROUNDS = 8  # four would do for large halves; eight also mix the few bits of a small set
_FEW = 64  # elements that are shuffled by a table

Word = TypeVar("Word", int, NDArray[Any])


def mix64(x: Word) -> Word:
    """splitmix64's finalizer, on a Python integer below 2**64 or an array of uint64."""
    if isinstance(x, int):
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & _M64
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB & _M64
        return x ^ (x >> 31)
    x = x ^ (x >> 30)  # a new array, on which the rest is done in place
    x *= 0xBF58476D1CE4E5B9
    x ^= x >> 27
    x *= 0x94D049BB133111EB
    x ^= x >> 31
    return x


def _wrapped(x: Word, length: int) -> Word:
    """`x` modulo `length`, of numbers below twice that."""
    if isinstance(x, int):
        return x % length
    return np.minimum(x, x - length)  # what is below zero wraps to a large one: no slow division


class Order(Protocol):
    """An order of `count` samples in each epoch."""

    @property
    def count(self) -> int:
        """Positions an epoch."""

    def samples(self, positions: NDArray[np.int64], epoch: int) -> NDArray[np.int64]:
        """The sample numbers at `positions` of `epoch`."""

    def options(self, epoch: int | None) -> dict[str, str]:
        """What makes this order beside the seed, by the Loader's argument, to be compared.

        Args:
            epoch: one that has been begun and is to be the same; None if there is none.
        """


@dataclass(frozen=True)
class Sequential:
    """Position i is sample i."""

    count: int

    def samples(self, positions: NDArray[np.int64], epoch: int) -> NDArray[np.int64]:
        """The sample numbers at `positions` of `epoch`."""
        return positions

    def options(self, epoch: int | None) -> dict[str, str]:
        """See `Order.options`."""
        return {"shuffle": "False"}


@dataclass(frozen=True)
class GlobalShuffle:
    """Every epoch its own permutation of [0, count), with O(1) memory.

    Of up to 64 elements all permutations are equally likely. With more, as long as two elements of
    an epoch have not come, no statistic of the others tells this from a uniform permutation.
    """

    count: int
    seed: int

    def samples(self, positions: NDArray[np.int64], epoch: int) -> NDArray[np.int64]:
        """The sample numbers at `positions` (all in [0, count)) of `epoch`."""
        if self.count <= _FEW:
            return np.array(_permutation(self.count, self.seed, epoch), np.int64)[positions]
        keys = _keys(self.seed, epoch, _ROUNDS)
        with np.errstate(over="ignore"):
            found = self._encrypt(positions.astype(np.uint64), keys)
            while (outside := np.flatnonzero(found >= self.count)).size:
                found[outside] = self._encrypt(found[outside], keys)
        return found.astype(np.int64)

    def sample(self, position: int, epoch: int) -> int:
        """`samples` for one position, in plain integers."""
        if self.count <= _FEW:
            return _permutation(self.count, self.seed, epoch)[position]
        keys = _keys(self.seed, epoch, _ROUNDS)
        position = self._encrypt(position, keys)
        while position >= self.count:
            position = self._encrypt(position, keys)
        return position

    def options(self, epoch: int | None) -> dict[str, str]:
        """See `Order.options`."""
        return {"shuffle": "True"}

    def _encrypt(self, x: Word, keys: tuple[int, ...]) -> Word:
        """One pass over a rectangle of `highs` times `lows` numbers, hardly more than `count`.

        Each side is added to by a random function of the other: 32 random bits times the side's
        length, over 2**32. So `count` may be up to 2**62.
        """
        highs = math.isqrt(self.count - 1) + 1
        lows = -(-self.count // highs)
        high = x // lows
        low = x - high * lows
        for number, key in enumerate(keys):
            if number % 2:
                low = _wrapped(low + ((mix64(high ^ key) >> 32) * lows >> 32), lows)
            else:
                high = _wrapped(high + ((mix64(low ^ key) >> 32) * highs >> 32), highs)
        return high * lows + low


class SampleRandom:
    """The dice for one sample: a stream of numbers that (seed, epoch, position) determine."""

    __slots__ = ("_state",)

    def __init__(self, seed: int, epoch: int, position: int) -> None:
        self._state = mix64((_keys(seed, epoch, 1)[0] + position * _GOLDEN) & _M64)

    def uniform(self, low: float = 0.0, high: float = 1.0) -> float:
        """A float in [low, high)."""
        return low + (high - low) * (self._next() >> 11) * 2.0**-53

    def integer(self, bound: int) -> int:
        """An integer in [0, bound)."""
        return self._next() * bound >> 64

    def _next(self) -> int:
        self._state = (self._state + _GOLDEN) & _M64
        return mix64(self._state)


class BatchRandom(SampleRandom):
    """The dice of many samples: each draw is an array of what each would have drawn."""

    __slots__ = ()
    _state: Any

    def __init__(self, seed: int, epoch: int, positions: NDArray[np.int64]) -> None:
        with np.errstate(over="ignore"):
            state = _keys(seed, epoch, 1)[0] + positions.astype(np.uint64) * np.uint64(_GOLDEN)
            self._state = mix64(state)

    def integer(self, bound: int) -> Any:
        """Integers in [0, bound), bound below 2**32; int64."""
        draw = self._next()
        low = (draw & 0xFFFFFFFF) * bound >> 32
        return ((draw >> 32) * bound + low >> 32).astype(np.int64)

    def _next(self) -> Any:
        with np.errstate(over="ignore"):
            self._state = self._state + np.uint64(_GOLDEN)
            return mix64(self._state)


@lru_cache(maxsize=64)
def _keys(seed: int, epoch: int, count: int) -> tuple[int, ...]:
    state = mix64(mix64((seed + _GOLDEN) & _M64) ^ (epoch & _M64))
    return tuple(mix64((state + number * _GOLDEN) & _M64) for number in range(1, count + 1))


@lru_cache(maxsize=64)
def _permutation(count: int, seed: int, epoch: int) -> tuple[int, ...]:
    """A permutation of [0, count) by Fisher and Yates, from the dice before the first sample's."""
    dice = SampleRandom(seed, epoch, -1)
    found = list(range(count))
    for last in range(count - 1, 0, -1):
        other = dice.integer(last + 1)
        found[last], found[other] = found[other], found[last]
    return tuple(found)


@dataclass(frozen=True)
class Step:
    """What one rank takes in one step.

    Attributes:
        position: of its first sample.
        rows: samples in its batch, the same on every rank.
        valid: how many of them are its own; the rest pad.
        end: position up to which all ranks together have then read.
    """

    position: int
    rows: int
    valid: int
    end: int


@dataclass(frozen=True)
class Steps:
    """The positions from `start` to `stop`, cut into steps of `world_size` batches.

    Positions count on from epoch to epoch: epoch e begins at e times the samples of an epoch. A
    step takes the next ``batch_size * world_size`` positions, rank after rank, so the global order
    does not depend on the world size. What is left for the last step is shared evenly.
    """

    stop: int
    batch_size: int
    rank: int
    world_size: int
    drop_last: bool
    start: int = 0

    def __len__(self) -> int:
        left, span = self.stop - self.start, self.batch_size * self.world_size
        return left // span if self.drop_last else -(-left // span)

    def __getitem__(self, number: int) -> Step:
        span = self.batch_size * self.world_size
        first = self.start + number * span
        end = min(first + span, self.stop)
        rows = -(-(end - first) // self.world_size)
        position = min(first + self.rank * rows, end)
        return Step(position, rows, min(rows, end - position), end)
