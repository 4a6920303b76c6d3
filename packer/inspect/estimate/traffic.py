"""Requests of a node to the store in each epoch, and the hits of its cache (pure).

The cache is that of `reader.cache`, and the rules of requests, prefetching and room are the
reader's own (`reader.order.access`, `reader.cache.ranges`). It keeps what came first; what comes
when it is full passes through the transit window, and is fetched anew in each epoch.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from packer.inspect.estimate.reading import Parts, Reading, Stored
from reader.cache.ranges import Window, kept_bytes
from reader.store.limits import MOST_IN_FLIGHT

Places = NDArray[np.int64]


@dataclass(frozen=True)
class Traffic:
    requests: int  # requests, bytes: of the store
    bytes: int
    samples: int  # that are asked of the cache
    hits: int  # those of them that are there
    in_flight: int  # requests that may be under way at a time

    @property
    def hit_share(self) -> float:
        return self.hits / max(self.samples, 1)


def traffic(readings: Iterator[Reading], limit: int | None, depth: int) -> Iterator[Traffic]:
    """Epoch by epoch, of one node whose cache has a `limit`, with `depth` steps under way."""
    cache: _Cache | None = None
    for reading in readings:
        if not reading.steps:
            yield Traffic(0, 0, 0, 0, 0)
            continue
        stored = reading.stored
        window = Window.of(reading.aheads[0], stored.shards, depth)
        kept, room = kept_bytes(stored.shards), None
        if limit is not None:
            window = window.within(stored.shards, limit)
            is_whole = kept + stored.disk_bytes <= limit
            room = None if is_whole else limit - kept - window.transit
        cache = cache or _Cache(stored, room)
        yield cache.epoch(reading, window.ahead if room is None else window.transit)


class _Cache:
    """What a node's cache keeps: up to `room` bytes, or all if it is None."""

    def __init__(self, stored: Stored, room: int | None) -> None:
        self._stored = stored
        self._room = room
        self._present = np.zeros(len(stored), bool)
        self._asked = np.empty(len(stored), np.int32)  # by which row of some parts, the first

    def epoch(self, reading: Reading, ahead: int) -> Traffic:
        """Read an epoch through the cache, so many bytes ahead."""
        if self._present.all():
            return Traffic(0, 0, reading.rows, reading.rows, 0)
        requests = size = samples = hits = 0
        for some in reading.parts():
            places, first, last = self._missing(some)
            self._keep(places)
            requests += len(first)
            size += self._stored.fetched(first, last, is_whole=reading.is_by_shard)
            rows = int((some.end - some.begin).sum())
            samples += rows
            hits += rows - int((last - first + 1).sum())
        each = size // max(requests, 1) or 1
        in_flight = reading.setting.ranks * min(MOST_IN_FLIGHT, -(-ahead // each))
        return Traffic(requests, size, samples, hits, in_flight)

    def _keep(self, places: Places) -> None:
        if self._room is not None:
            taken = np.cumsum(self._stored.taken(places))
            places = places[: np.searchsorted(taken, self._room, side="right")]
            self._room -= int(taken[len(places) - 1]) if len(places) else 0
        self._present[places] = True

    def _missing(self, parts: Parts) -> tuple[Places, Places, Places]:
        """Return what is asked of the store, and the first and the last place of each request."""
        number, places = parts.rows()
        rows = np.arange(len(places))
        self._asked[places[::-1]] = rows[::-1]
        is_missing = ~self._present[places] & (self._asked[places] == rows)
        number, places = number[is_missing], places[is_missing]
        begins = np.flatnonzero(np.diff(number, prepend=-1))
        lasts = np.append(begins[1:], len(places))[: len(begins)] - 1
        return places, places[begins], places[lasts]
