"""Holds one large thing in memory, so that a process loads it once and not for every sample."""

import threading
from collections.abc import Callable
from functools import lru_cache, wraps
from typing import TypeVar

T = TypeVar("T")


def held(load: Callable[..., T]) -> Callable[..., T]:
    """`load`, with its last result kept; threads that ask for the same wait for one another."""
    cached = lru_cache(maxsize=1)(load)
    lock = threading.Lock()

    @wraps(load)
    def call(*args: object) -> T:
        with lock:
            return cached(*args)

    return call
