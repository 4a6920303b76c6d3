"""Limits of requests: their number, the size of an answer, and its time."""

import time
from dataclasses import dataclass
from operator import sub
from typing import NamedTuple

from reader.store.errors import Failure, Passing

PART = 8 << 20  # bytes of a request for adjacent samples
MOST_IN_FLIGHT = 256  # requests of a process

_FIRST_IN_FLIGHT = 64
_CALM_SECONDS = 1.0  # between two halvings: the requests of one moment fail together
_SLOW = (
    "The network is slow or the server busy. Open the dataset again to continue: fetched samples "
    "are in the cache."
)


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


@dataclass(frozen=True)
class Pace:
    grace: float = 10.0  # seconds in which no bytes are expected
    rate: int = 16 << 10  # bytes that are expected in each second after them
    seconds: float = 60.0  # for all of an answer, plus its bytes at four times `rate`


class Body:
    def __init__(self, size: int, most: int, pace: Pace | None) -> None:
        self._size = size
        self._most = most
        self._pace = pace
        self._began = time.monotonic()
        self._chunks: list[bytes] = []
        self._came = 0
        self._check_size(size)

    @property
    def chunk(self) -> int:
        return 1 if self._pace is not None else max(self._size, 1)

    @property
    def content(self) -> memoryview:
        return memoryview(self._chunks[0] if len(self._chunks) == 1 else b"".join(self._chunks))

    def add(self, chunk: bytes) -> bool:
        """Add bytes, and return whether they were the last ones."""
        self._chunks.append(chunk)
        self._came += len(chunk)
        self._check_size(self._came)
        if self._came < self._size and self._pace is not None:
            self._check_time(self._pace, time.monotonic() - self._began)
        return self._came >= self._size

    def _check_size(self, size: int) -> None:
        if size > self._most:
            raise Failure(
                f"it has {size:,} bytes, but at most {self._most:,} are read. It was replaced, or "
                "is not a file of a dataset. Upload the dataset again."
            )

    def _check_time(self, pace: Pace, seconds: float) -> None:
        expected = (seconds - pace.grace) * pace.rate
        if self._came < expected or seconds > pace.seconds + self._size / (4 * pace.rate):
            what = f"{self._came:,} of {self._size:,} bytes in {seconds:.0f} seconds"
            raise Passing(f"the server sends too slowly ({what})", _SLOW, is_answer=True)
