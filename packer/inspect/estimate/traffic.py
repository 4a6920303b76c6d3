"""Requests of a node to the store in each epoch, and the hits of its cache (pure).

The cache is that of `reader.cache`, and the rules of requests, prefetching and room are the
reader's own (`reader.order.access`, `reader.cache.ranges`). Full, it evicts what the order needs
last, never what is read next. The store is assumed to keep up with the window that is prefetched.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from packer.inspect.estimate.reading import Parts, Reading
from packer.inspect.estimate.setting import Stored
from reader.cache.ranges import EVICTED, Window, kept_bytes
from reader.store.limits import MOST_IN_FLIGHT

Places = NDArray[np.int64]

_FEWEST = 1024  # requests that are looked at together


@dataclass(frozen=True)
class Traffic:
    """An epoch of one node."""

    requests: int  # requests, bytes: of the store
    bytes: int
    samples: int  # that are asked of the cache
    hits: int  # those of them that are there
    in_flight: int  # requests that may be under way at a time

    @property
    def hit_share(self) -> float:
        """0 to 1."""
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
            room = None if kept + stored.disk_bytes <= limit else limit - kept
        cache = cache or _Cache(stored, room, limit or 0)
        yield cache.epoch(reading, window.wanted)


class _Cache:
    """The samples in a node's cache; `room` is the limit in bytes, None for no limit."""

    def __init__(self, stored: Stored, room: int | None, limit: int) -> None:
        self._stored = stored
        self._room = room
        self._chosen = limit // EVICTED
        self._present = np.zeros(len(stored), bool)
        self._taken = 0  # bytes
        self._asked = np.empty(len(stored), np.int64)  # by which row of some parts, the first

    def epoch(self, reading: Reading, window: int) -> Traffic:
        """Read an epoch through the cache, so many bytes ahead."""
        if self._present.all():
            return Traffic(0, 0, reading.rows, reading.rows, 0)
        spans = self._stored.whole_spans if reading.is_by_shard else self._stored.spans
        needs = None if self._room is None else _Needs(reading, self._present, window)
        requests = size = samples = hits = 0
        fitting = reading.parts()
        if needs is not None:
            fitting = (some for parts in fitting for some in self._fitting(parts, needs))
        for some in fitting:
            places, first, last = self._missing(some)
            self._change(places, is_there=True)
            if needs is not None:
                needs.came(places)
            requests += len(first)
            size += int((spans.end[last] - spans.begin[first]).sum())
            rows = int((some.end - some.begin).sum())
            samples += rows
            hits += rows - int((last - first + 1).sum())
        each = size // max(requests, 1) or 1
        in_flight = reading.setting.ranks * min(MOST_IN_FLIGHT, -(-window // each))
        return Traffic(requests, size, samples, hits, in_flight)

    def _fitting(self, parts: Parts, needs: "_Needs") -> Iterator[Parts]:
        """The parts, as many at a time as there is room for, which is made where there is none."""
        own, _ = self._stored.blocks
        mean, at = max(int(own.mean()), 1), 0
        while at < len(parts):
            free = (self._room or 0) - self._taken
            some = parts.some(at, at + max(_FEWEST, 2 * free // mean))
            number, places = some.rows()
            need = np.bincount(number, np.where(self._present[places], 0, own[places]), len(some))
            fitting = int(np.searchsorted(np.cumsum(need), free, side="right"))
            if not fitting:
                most = max(int(need[0]), self._chosen) // mean + 2
                victims = needs.victims(int(some.step[0]), int(some.begin[0]), most)
                if len(victims):
                    self._change(victims, is_there=False)
                    continue
                fitting = 1  # in the place of what would be read next
            yield parts.some(at, at + fitting)
            at += fitting

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

    def _change(self, places: Places, *, is_there: bool) -> None:
        """Add places that are missing, or remove some, and count what that takes."""
        if self._room is not None:  # otherwise nobody asks what they take
            own, shared = self._stored.blocks
            self._present[places] = False
            left = shared[places - 1][self._present[places - 1]].sum()  # the last shares nothing
            self._present[places] = True
            right = shared[places][self._present[(places + 1) % len(own)]].sum()
            taken = int(own[places].sum() - left - right)
            self._taken += taken if is_there else -taken
        self._present[places] = is_there


class _Needs:
    """When what a cache has is needed next; `_is_here`: by turn of this epoch, then of the next."""

    def __init__(self, reading: Reading, present: NDArray[np.bool_], window: int) -> None:
        following = replace(reading, epoch=reading.epoch + 1)
        now, self._positions = reading.turns()
        then, _ = following.turns()
        self._count = len(now)
        self._places = np.concatenate([now, then])
        self._now, self._then = np.empty_like(now), np.empty_like(then)
        self._now[now] = self._then[then] = np.arange(self._count)
        self._is_here = np.zeros(2 * self._count, bool)
        self._is_here[: self._count] = present[now]
        self._taken = 0  # turns
        self._ahead = reading.aheads[0]
        stored = reading.stored
        step = stored.bytes / reading.steps
        if not reading.is_by_shard:
            step = reading.setting.batch_size * stored.bytes / len(stored)
        self._steps_ahead = int(window / step)

    def came(self, places: Places) -> None:
        """These are there from now on."""
        now = self._now[places]
        turns = np.where(now < self._taken, self._count + self._then[places], now)
        self._is_here[turns] = True

    def victims(self, step: int, place: int, most: int) -> Places:
        """Up to so many places that are needed last, while a part of a step is fetched."""
        self._take(self._turn(self._ahead.position(max(step - self._steps_ahead, 0))))
        reach = self._turn(self._ahead.position(step + 1))
        horizon = max(reach, int(self._now[place]) + 1)
        for begin in (horizon, self._taken):  # what is read next, if nothing else is there
            turns = begin + np.flatnonzero(self._is_here[begin:])[-most:]
            if len(turns):
                break
        self._is_here[turns] = False
        return self._places[turns]

    def _turn(self, position: int) -> int:
        return int(np.searchsorted(self._positions, position))

    def _take(self, turn: int) -> None:
        """Move samples that were needed before that turn to the next epoch."""
        if turn > self._taken:
            gone = slice(self._taken, turn)
            places = self._places[gone][self._is_here[gone]]
            self._is_here[gone] = False
            self._is_here[self._count + self._then[places]] = True
            self._taken = turn
