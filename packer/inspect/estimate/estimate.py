"""A training run's needs in numbers, what holds it back, what another setting would do (pure).

The requests of a node are those of its cache, `reader.cache`, whose rules of requests, prefetching
and room are the reader's own (`reader.order.access`, `reader.cache.ranges`). It keeps what came
first; what comes when it is full passes through the transit window, and is fetched anew in each
epoch.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from packer.inspect.estimate.reading import Parts, Reading, Setting, Stored
from reader.batch.layout import chunk_size, depth_of, slots_of
from reader.cache.ranges import Window, kept_bytes
from reader.errors import StoreError
from reader.fields.columns import BatchSchema
from reader.order.blocks import BlockShuffle
from reader.order.samplers import plain_order
from reader.store.limits import MOST_IN_FLIGHT

_SHARDS = 8  # of a BlockShuffle that is proposed
_NOTABLE = 0.05  # of a figure: changes below are not proposed
_CHANNELS = 3
_ON_THE_GPU = 3  # batches: the one that is computed with, and those that a CUDAPrefetcher has ahead

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


def traffic(readings: Iterator[Reading], limit: int | None) -> Iterator[Traffic]:
    """Epoch by epoch, of one node whose cache has a `limit`."""
    cache: _Cache | None = None
    for reading in readings:
        if not reading.steps:
            yield Traffic(0, 0, 0, 0, 0)
            continue
        stored = reading.stored
        window = Window.of(reading.aheads[0], stored.shards)
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
            size += self._stored.fetched(first, last)
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


@dataclass(frozen=True)
class Times:
    """Seconds of an epoch, by who needs them, as far as known; all work at a time."""

    seconds: dict[str, float]

    @property
    def longest(self) -> float | None:
        return max(self.seconds.values(), default=None)

    @property
    def bound_by(self) -> str:
        return max(self.seconds, key=self.seconds.__getitem__, default="")


@dataclass(frozen=True)
class Memory:
    batch: int  # a batch of images, uint8, with labels, of one rank
    depth: int  # batches that a rank decodes ahead
    ring: int  # the memory for these, shared by a rank's workers
    indexes: int  # mapped by all processes of a node, once
    decoded: int  # what ``cache="decoded"`` takes of a node at most: all images whole
    decoded_fixed: int  # the same where the transforms always show the same, of `size`
    gpu: dict[str, int]  # batches of float16 and of float32 on the GPU, with what making them takes
    vram: int

    @property
    def vram_share(self) -> dict[str, float]:
        return {name: taken / self.vram for name, taken in self.gpu.items()}


@dataclass(frozen=True)
class Estimate:
    """The estimate for a setting; traffic and times are of the first node, epoch by epoch."""

    steps: int  # of an epoch, on every rank
    samples: int  # that the first rank reads in it, without padding
    padding: int  # rows of the last step that only pad it, on all ranks
    dropped: int  # samples left out, on all ranks
    mixing: float  # different shards in a batch, on average
    shards: int
    opening: tuple[int, int]  # requests, bytes: of dataset.json and the indexes
    traffic: tuple[Traffic, ...]
    times: tuple[Times, ...]
    memory: Memory

    @property
    def seconds(self) -> float | None:
        return sum(t.longest or 0 for t in self.times) if self.times[0].seconds else None

    def content(self) -> dict[str, Any]:
        found = asdict(self)
        found["opening"] = dict(zip(("requests", "bytes"), self.opening, strict=True))
        found["times"] = [
            {**asdict(t), "longest": t.longest, "bound_by": t.bound_by} for t in self.times
        ]
        found["memory"]["vram_share"] = self.memory.vram_share
        return {**found, "seconds": self.seconds}


def estimate(stored: Stored, setting: Setting) -> Estimate:
    """Count what a run will do; StoreError: the cache is too small for what is read at a time."""
    order = plain_order(setting.shuffle, setting.seed, stored.sizes)
    first, held = Reading(stored, setting, order, 0), _memory(stored, setting)
    others = (Reading(stored, setting, order, epoch) for epoch in range(1, setting.epochs))
    moved = tuple(traffic(chain([first], others), setting.cache_limit))
    return Estimate(
        first.steps,
        first.aheads[0].steps.samples,
        first.padding,
        first.dropped,
        first.mixing(),
        len(stored.shards),
        (1 + stored.index_requests, stored.manifest_bytes + stored.index_bytes),
        moved,
        tuple(_times(setting, first.samples, each) for each in moved),
        held,
    )


def _times(setting: Setting, samples: int, traffic: Traffic) -> Times:
    found = {}
    if rate := setting.rate.value:
        found["decode"] = samples / rate
    if traffic.requests and (bandwidth := setting.bandwidth.value):
        found["store, bytes"] = traffic.bytes / bandwidth
    if traffic.requests and (latency := setting.latency.value):
        rounds = max(traffic.requests / max(traffic.in_flight, 1), 1)  # no answer comes sooner
        found["store, requests"] = rounds * latency
    if gpu_rate := setting.gpu_rate.value:
        found["consumer"] = samples / (gpu_rate * setting.ranks)
    return Times(found)


def _memory(stored: Stored, setting: Setting) -> Memory:
    layout = BatchSchema.of_images(setting.batch_size, setting.size).layout
    chunk = chunk_size(setting.batch_size, setting.workers, is_gathered=False)
    depth = depth_of(layout, setting.workers * chunk)
    height, width = setting.size
    image = height * width * _CHANNELS
    raw = setting.batch_size * image
    # While a batch is made there are its bytes, and its values in float32.
    gpu = {"float16": raw + 4 * raw + _ON_THE_GPU * 2 * raw, "float32": raw + _ON_THE_GPU * 4 * raw}
    return Memory(
        layout.slot_bytes,
        depth,
        slots_of(depth) * layout.slot_bytes,
        stored.index_bytes,
        stored.pixels * _CHANNELS,
        len(stored) * image,
        gpu,
        setting.vram,
    )


def alternatives(
    stored: Stored, setting: Setting, found: Estimate, *, is_far: bool = True
) -> Iterator[tuple[str, Estimate | None]]:
    """Estimate single changes that matter to what was `found`; None: the cache is too small."""
    for name, changed in _changed(stored, setting, is_far):
        try:
            other = estimate(stored, changed)
        except StoreError:
            yield name, None
            continue
        both = zip(_figures(other), _figures(found), strict=True)
        if any(abs(one - now) > _NOTABLE * max(one, now) for one, now in both):
            yield name, other


def _figures(each: Estimate) -> Iterator[float]:
    yield each.mixing
    for moved, took in zip(each.traffic, each.times, strict=True):
        yield from (moved.requests, moved.bytes, moved.hit_share, took.longest or 0)


def _changed(stored: Stored, setting: Setting, is_far: bool) -> Iterator[tuple[str, Setting]]:
    shards = min(_SHARDS, len(stored.shards))
    blocks, ranks = f"block:{shards}", setting.world_size
    shuffles: dict[str, bool | BlockShuffle] = {"global": True, blocks: BlockShuffle(shards)}
    if ranks > 1:
        shuffles[f"{blocks}:{ranks}"] = BlockShuffle(shards, ranks)
    for name, shuffle in shuffles.items():
        if shuffle != setting.shuffle:
            yield f"--shuffle {name}", replace(setting, shuffle=shuffle)
    every = kept_bytes(stored.shards) + stored.disk_bytes
    limit = min(setting.cache_limit or every, every)
    for other in (limit // 2, min(2 * limit, every)):
        if is_far and other != limit:
            size = -(-other // 10**6)
            yield f"--cache-limit {size}MB", replace(setting, cache_limit=size * 10**6)
    more = replace(setting, workers=2 * setting.workers)
    if rate := setting.rate.value:
        faster = replace(setting.rate, value=rate * more.working / setting.working)
        more = replace(more, rate=faster)
    yield f"--workers {more.workers}", more
