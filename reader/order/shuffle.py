"""The order of samples as a pure function of (seed, epoch, position).

Guarantees: any position of any epoch is computed directly, so a resume needs one integer, and
neither workers nor world size can change an order.

The shuffle is Black and Rogaway's generalized Feistel cipher with cycle walking ("Ciphers with
arbitrary finite domains", 2002), so it is a bijection of [0, N) by construction. A cipher of
rotations favours even or odd permutations for some N (7 to 9, 21 to 25, ...), which would be
visible with few elements: up to 64 are shuffled by Fisher and Yates instead.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from reader.rng import SampleRandom, mix64, round_keys

_ROUNDS = 8  # four would do for large halves; eight also mix the few bits of a small set
_FEW = 64  # elements that are shuffled by a table
_BLOCK = 1 << 17  # positions at a time: their words stay in the processor's cache


Numbers = NDArray[np.int64]
Words = NDArray[np.uint64]


def _wrapped(x: Words, length: int) -> Words:
    return np.minimum(x, x - length)  # what is below zero wraps to a large one: no slow division


class Order:
    """A function of epoch and position."""

    count: int  # positions in an epoch
    is_in_turn = False  # whether samples come in the order of their numbers

    def samples(self, positions: Numbers, epoch: int) -> Numbers:
        raise NotImplementedError

    def options(self, epoch: int | None) -> dict[str, str]:
        """Return what determines this order besides the seed, by argument; also the `epoch`'s."""
        raise NotImplementedError

    def residue(self, rank: int, world_size: int) -> int | None:
        """Return a rank's positions modulo the world size; None if they are contiguous."""
        return None


@dataclass(frozen=True)
class Sequential(Order):
    count: int
    is_in_turn = True

    def samples(self, positions: Numbers, epoch: int) -> Numbers:
        return positions

    def options(self, epoch: int | None) -> dict[str, str]:
        return {"shuffle": "False"}


@dataclass(frozen=True)
class GlobalShuffle(Order):
    """A permutation of [0, count) for each epoch, with O(1) memory.

    For up to 64 elements, all permutations are equally likely. For more, no statistic of all but
    two elements of an epoch distinguishes it from a uniform permutation.
    """

    count: int
    seed: int

    def samples(self, positions: Numbers, epoch: int) -> Numbers:
        """Return the sample numbers at `positions` (all in [0, count)) of `epoch`."""
        if self.count <= _FEW:
            return np.array(_permutation(self.count, self.seed, epoch), np.int64)[positions]
        if len(positions) > _BLOCK:
            parts = (positions[at : at + _BLOCK] for at in range(0, len(positions), _BLOCK))
            return np.concatenate([self.samples(part, epoch) for part in parts])
        keys = round_keys(self.seed, epoch, _ROUNDS)
        with np.errstate(over="ignore"):
            found = self._encrypt(positions.astype(np.uint64), keys)
            while (outside := np.flatnonzero(found >= self.count)).size:
                found[outside] = self._encrypt(found[outside], keys)
        return found.astype(np.int64)

    def options(self, epoch: int | None) -> dict[str, str]:
        return {"shuffle": "True"}

    def _encrypt(self, x: Words, keys: tuple[int, ...]) -> Words:
        """Encrypt once in a rectangle of `highs` times `lows` numbers, hardly more than `count`.

        Each round adds to one side a random function of the other: 32 bits times its length, over
        2**32.
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


@lru_cache(maxsize=64)
def _permutation(count: int, seed: int, epoch: int) -> tuple[int, ...]:
    """Return a permutation of [0, count) by Fisher and Yates; position -1 is no sample's."""
    rng = SampleRandom(seed, epoch, -1)
    found = list(range(count))
    for last in range(count - 1, 0, -1):
        other = rng.integer(last + 1)
        found[last], found[other] = found[other], found[last]
    return tuple(found)
