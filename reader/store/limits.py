"""Limits of requests: their number, the size of an answer, and its time."""

import asyncio
import time
from collections.abc import Awaitable
from operator import sub
from typing import NamedTuple, TypeVar

from reader.store.errors import Failure, Passing

PART = 8 << 20  # bytes of a request for adjacent samples
MOST_IN_FLIGHT = 256  # requests of a process

GRACE = 10.0  # seconds in which no bytes are expected
RATE = 16 << 10  # bytes that are expected in each second after them

_FIRST_IN_FLIGHT = 64
_CALM_SECONDS = 1.0  # between two halvings: the requests of one moment fail together
_SLOW = (
    "The network is slow or the server busy. Open the dataset again to continue: fetched samples "
    "are in the cache."
)

T = TypeVar("T")


class Gate:
    """The number of simultaneous requests: one more after a success, half after throttling."""

    def __init__(self) -> None:
        self.most = float(_FIRST_IN_FLIGHT)
        self._halved = 0.0

    def passed(self) -> None:
        self.most = min(self.most + 1, MOST_IN_FLIGHT)

    def throttled(self) -> None:
        if time.monotonic() - self._halved > _CALM_SECONDS:
            self._halved = time.monotonic()
            self.most = max(self.most / 2, 1)


class Requests(NamedTuple):
    fetched_bytes: int = 0
    requests: int = 0
    retries: int = 0
    asking: float = 0.0  # seconds of all requests, added up
    in_flight: int = 0  # current requests
    latency: float = 0.0  # recent seconds of a request

    def since(self, before: "Requests") -> "Requests":
        return Requests(*map(sub, self[:4], before[:4]))._replace(
            in_flight=self.in_flight, latency=self.latency
        )


def check_size(size: int, most: int) -> None:
    if size > most:
        raise Failure(
            f"it has {size:,} bytes, but at most {most:,} are read. It was replaced, or is not a "
            "file of a dataset. Upload the dataset again."
        )


async def within_time(content: Awaitable[T], size: int) -> T:
    """Await the content of an answer, unless it comes too slowly."""
    seconds = GRACE + size / RATE
    try:
        return await asyncio.wait_for(content, seconds)
    except asyncio.TimeoutError:
        what = f"{size:,} bytes are not there after {seconds:.0f} seconds"
        reason = f"the server sends too slowly ({what})"
        raise Passing(reason, _SLOW, is_answer=True) from None
