"""Random numbers without a state: pure functions of (seed, epoch, position).

splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014) gives the
round functions of a shuffle and the random numbers of a sample's augmentations. Any of them is
computed directly, so a resume needs no generator state.
"""

from functools import lru_cache
from typing import Any, TypeVar

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

    def integer(self, bound: int) -> Any:
        """Return int64 integers in [0, bound), bound below 2**32."""
        draw = self._next()
        low = (draw & 0xFFFFFFFF) * bound >> 32
        return ((draw >> 32) * bound + low >> 32).astype(np.int64)

    def _next(self) -> Any:
        with np.errstate(over="ignore"):
            self._state = self._state + np.uint64(GOLDEN)
            return mix64(self._state)


@lru_cache(maxsize=64)
def round_keys(seed: int, epoch: int, count: int) -> tuple[int, ...]:
    state = mix64(mix64((seed + GOLDEN) & _M64) ^ (epoch & _M64))
    return tuple(mix64((state + number * GOLDEN) & _M64) for number in range(1, count + 1))
