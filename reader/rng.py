"""Random numbers without a state: pure functions of (seed, epoch, position).

splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014) gives the
round functions of a shuffle and the random numbers of a sample's augmentations. Any of them is
computed directly, so a resume needs no generator state.
"""

import math
import sys
from functools import lru_cache
from typing import Any, TypeVar
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

_M64 = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15

Word = TypeVar("Word", int, NDArray[Any])


def mix64(x: Word) -> Word:
    """Apply splitmix64's finalizer to a Python integer below 2**64 or an array of uint64."""
    if isinstance(x, int):
        x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & _M64
        x = (x ^ (x >> 27)) * 0x94D049BB133111EB & _M64
        return x ^ (x >> 31)
    x = x ^ (x >> 30)  # a new array, changed in place below
    x *= 0xBF58476D1CE4E5B9
    x ^= x >> 27
    x *= 0x94D049BB133111EB
    x ^= x >> 31
    return x


class SampleRandom:
    """The random numbers of one sample: a stream determined by (seed, epoch, position)."""

    __slots__ = ("_state",)

    def __init__(self, seed: int, epoch: int, position: int) -> None:
        self._state = mix64((round_keys(seed, epoch, 1)[0] + position * GOLDEN) & _M64)

    def uniform(self, low: float = 0.0, high: float = 1.0) -> float:
        return low + (high - low) * (self._next() >> 11) * 2.0**-53

    def integer(self, bound: int) -> int:
        return self._next() * bound >> 64

    def permutation(self, count: int) -> list[int]:
        """Return the numbers below `count` in a random order."""
        order = list(range(count))
        for last in range(count - 1, 0, -1):
            other = self.integer(last + 1)
            order[last], order[other] = order[other], order[last]
        return order

    def dirichlet(self, alpha: float, count: int) -> list[float]:
        """Return `count` random shares with the sum 1, of equal concentration `alpha`."""
        parts = [self._gamma(alpha) for _ in range(count)]
        total = sum(parts)
        return [part / total for part in parts]

    def key(self) -> int:
        """Return a random integer below 2**64, from which many numbers can be made."""
        return self._next()

    def copy(self) -> "SampleRandom":
        """Return a stream that draws the same numbers from here on."""
        copied = SampleRandom.__new__(SampleRandom)
        copied._state = self._state
        return copied

    def _gamma(self, shape: float) -> float:
        """Return a gamma variate (Marsaglia, Tsang, "A simple method", 2000)."""
        if shape < 1:
            power = (1 - self.uniform()) ** (1 / shape)
            return max(self._gamma(shape + 1) * power, sys.float_info.min)
        d = shape - 1 / 3
        while True:
            radius = math.sqrt(-2 * math.log(1 - self.uniform()))
            normal = radius * math.cos(2 * math.pi * self.uniform())
            v = (1 + normal / math.sqrt(9 * d)) ** 3
            if v > 0 and math.log(1 - self.uniform()) < normal**2 / 2 + d * (1 - v + math.log(v)):
                return d * v

    def _next(self) -> int:
        self._state = (self._state + GOLDEN) & _M64
        return mix64(self._state)


class BatchRandom(SampleRandom):
    """The random numbers of many samples: each draw is an array of the samples' own draws."""

    __slots__ = ()
    _state: Any

    def __init__(self, seed: int, epoch: int, positions: NDArray[np.int64]) -> None:
        with np.errstate(over="ignore"):
            state = round_keys(seed, epoch, 1)[0] + positions.astype(np.uint64) * np.uint64(GOLDEN)
            self._state = mix64(state)

    def integer(self, bound: Any) -> Any:
        """Return int64 integers in [0, bound), bound below 2**32 or an uint64 array of bounds."""
        draw = self._next()
        low = (draw & 0xFFFFFFFF) * bound >> 32
        return ((draw >> 32) * bound + low >> 32).astype(np.int64)

    def beta(self, alpha: float) -> Any:
        """Return variates of Beta(alpha, alpha), as shares of two gamma variates.

        Their logarithms are drawn: of a small `alpha`, variates themselves are often 0.
        """
        ratio = self._log_gamma(alpha) - self._log_gamma(alpha)
        return 1 / (1 + np.exp(np.clip(ratio, -700, 700)))

    def _log_gamma(self, shape: float) -> Any:
        """Return logarithms of gamma variates, drawn as `SampleRandom` draws one."""
        d = shape + (shape < 1) - 1 / 3
        found = np.full(len(self._state), np.nan)
        while (is_left := np.isnan(found)).any():
            radius = np.sqrt(-2 * np.log(1 - self.uniform()))
            normal = radius * np.cos(2 * math.pi * self.uniform())
            v = np.maximum(1 + normal / math.sqrt(9 * d), sys.float_info.min ** (1 / 3)) ** 3
            is_fit = np.log(1 - self.uniform()) < normal**2 / 2 + d * (1 - v + np.log(v))
            found[is_left & is_fit] = np.log(d * v)[is_left & is_fit]
        return found + np.log(1 - self.uniform()) / shape if shape < 1 else found

    def _next(self) -> Any:
        with np.errstate(over="ignore"):
            self._state = self._state + np.uint64(GOLDEN)
            return mix64(self._state)


@lru_cache(maxsize=64)
def round_keys(seed: int, epoch: int, count: int) -> tuple[int, ...]:
    state = mix64(mix64((seed + GOLDEN) & _M64) ^ (epoch & _M64))
    return tuple(mix64((state + number * GOLDEN) & _M64) for number in range(1, count + 1))


@lru_cache(maxsize=64)
def seed_of(seed: int, what: str) -> int:
    """Return a seed for what is drawn under a name, so that two names draw different numbers."""
    return mix64((seed + crc32(what.encode()) * GOLDEN) & _M64)
