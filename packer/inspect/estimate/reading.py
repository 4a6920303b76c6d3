"""Inputs of an estimate, and the samples that each rank reads in an epoch (pure)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from packer.storage.dataset import Finished
from reader.cache.quota import BLOCK
from reader.cache.ranges import Part, Spans, index_runs
from reader.format import ShardEntry
from reader.format.manifest import FILENAME
from reader.order.access import AccessPattern, runs
from reader.order.blocks import BlockShuffle
from reader.order.shuffle import Order
from reader.order.steps import Steps
from reader.store.limits import PART

_ROWS = 1 << 20  # samples that are looked at together; all of 10^8 take many gigabytes
_TRAIN = "train"


@dataclass(frozen=True)
class Known:
    """A number, and where it comes from; None: not known."""

    value: float | None = None
    source: str = ""


@dataclass(frozen=True)
class Setting:
    batch_size: int = 256
    nodes: int = 1  # machines, each with a cache of its own
    ranks: int = 1  # processes of a node, a GPU each
    workers: int = 1  # processes that decode for each rank
    cores: int | None = None  # of a node; None: enough for any number of workers
    shuffle: bool | BlockShuffle = True
    seed: int = 0
    drop_last: bool = False
    epochs: int = 2
    cache_limit: int | None = None  # bytes that a node's cache may take; None: as many as there are
    size: tuple[int, int] = (224, 224)  # (height, width) of the images that the transforms give
    latency: Known = field(default_factory=Known)  # seconds of a request to the store
    bandwidth: Known = field(default_factory=Known)  # bytes a second of a node
    rate: Known = field(default_factory=Known)  # images a second, of all workers of a node
    gpu_rate: Known = field(default_factory=Known)  # images a second that a GPU takes
    vram: int = 80 * 10**9  # bytes of a GPU

    @property
    def working(self) -> int:
        """Workers of a node that have a core each."""
        workers = self.workers * self.ranks
        return workers if self.cores is None else min(workers, self.cores)

    @property
    def world_size(self) -> int:
        return self.nodes * self.ranks


@dataclass(frozen=True)
class Stored:
    """The samples of a split, one shard after the other."""

    shards: tuple[ShardEntry, ...]
    manifest_bytes: int  # of dataset.json
    index_requests: int  # by which all indexes come
    spans: Spans  # of each sample in its tar, without what is between them
    pixels: int  # of all images
    disk_bytes: int  # what all samples take together

    @classmethod
    def of(cls, dataset: Finished, split: str | None) -> "Stored":
        manifest = dataset.content
        manifest.check_images(dataset.folder)
        shards = tuple(dataset.shards(split))
        largest = max((shard.bytes for shard in shards), default=0)
        kind = np.min_scalar_type(largest)  # four bytes, unless a shard has more than 4 GiB
        begin, end = np.empty((2, sum(shard.samples for shard in shards)), kind)
        start = pixels = disk_bytes = 0
        for shard, index in dataset.indexes(split):
            spans, rows = Spans.of(index), slice(start, start + shard.samples)
            begin[rows], end[rows] = spans
            start += shard.samples
            disk_bytes += _taken(spans)
            height, width = (index.columns[name].astype(np.int64) for name in ("height", "width"))
            pixels += int((height * width).sum())
        size = (dataset.folder / FILENAME).stat().st_size
        requests = sum(1 for _ in index_runs(manifest, {shard.file for shard in shards}))
        return cls(shards, size, requests, Spans(begin, end), pixels, disk_bytes)

    def __len__(self) -> int:
        return len(self.spans.begin)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(shard.samples for shard in self.shards)

    @property
    def bytes(self) -> int:
        return sum(shard.bytes for shard in self.shards)

    @property
    def index_bytes(self) -> int:
        return sum(shard.index_bytes for shard in self.shards)

    @cached_property
    def shard_of(self) -> NDArray[Any]:
        numbers = np.arange(len(self.shards), dtype=np.min_scalar_type(len(self.shards)))
        return np.repeat(numbers, self.sizes)

    def fetched(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> int:
        """Return bytes from the first to the last place of each request."""
        begin, end = self.spans.begin[first], self.spans.end[last]
        return int((end.astype(np.int64) - begin.astype(np.int64)).sum())

    def taken(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return bytes of disk that samples take, without those that the next one takes, too."""
        following = np.minimum(places + 1, len(self) - 1)
        is_last = (following == places) | (self.shard_of[following] != self.shard_of[places])
        of_next = self.spans.begin[following].astype(np.int64) // BLOCK
        last = -(-self.spans.end[places].astype(np.int64) // BLOCK)
        shared = np.where(is_last, 0, (last - of_next).clip(0))
        return (last - self.spans.begin[places].astype(np.int64) // BLOCK - shared) * BLOCK


def usual_split(dataset: Finished) -> str | None:
    return _TRAIN if _TRAIN in dataset.content.splits else None


def _taken(spans: Spans) -> int:
    first, last = spans.begin // BLOCK, -(-spans.end // BLOCK)
    return int((last - first).sum() - (last[:-1] - first[1:]).clip(0).sum()) * BLOCK


@dataclass(frozen=True)
class Parts:
    """Requests in order: the step of each, and the places that it fetches."""

    step: NDArray[np.int64]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.step)

    def portions(self) -> Iterator["Parts"]:
        rows, at = np.cumsum(self.end - self.begin), 0
        while at < len(self):
            most = (int(rows[at - 1]) if at else 0) + _ROWS
            stop = max(int(np.searchsorted(rows, most, side="right")), at + 1)
            yield Parts(self.step[at:stop], self.begin[at:stop], self.end[at:stop])
            at = stop

    def rows(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        lengths = self.end - self.begin
        number = np.repeat(np.arange(len(self)), lengths)
        inside = np.arange(len(number)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return number, self.begin[number] + inside


@dataclass(frozen=True)
class Reading:
    stored: Stored
    setting: Setting
    order: Order
    epoch: int

    @cached_property
    def aheads(self) -> tuple[AccessPattern, ...]:
        start, given, order, ranks = self._begin, self.setting, self.order, self.setting.world_size
        found, stop = [], start + order.count
        for rank in range(given.ranks):
            how = stop, given.batch_size, rank, ranks, given.drop_last, start
            steps = Steps(*how, residue=order.residue(rank, ranks))
            found.append(AccessPattern(order, steps, self.stored.sizes))
        return tuple(found)

    @property
    def steps(self) -> int:
        return len(self.aheads[0].steps)

    @property
    def padding(self) -> int:
        if not self.steps:
            return 0
        last = self.aheads[0].steps[self.steps - 1]
        begin = int(self.aheads[0].steps.begin(self.steps - 1))
        return last.rows * self.setting.world_size - (last.end - begin)

    @property
    def dropped(self) -> int:
        read = self.aheads[0].steps[self.steps - 1].end if self.steps else self._begin
        return self._begin + self.order.count - read

    @property
    def samples(self) -> int:
        return sum(ahead.steps.samples for ahead in self.aheads)

    @property
    def rows(self) -> int:
        last = self.aheads[0].steps[self.steps - 1].rows
        return self.setting.ranks * ((self.steps - 1) * self.setting.batch_size + last)

    @property
    def _begin(self) -> int:
        return self.epoch * self.order.count

    def mixing(self) -> float:
        distinct, shards = 0, len(self.stored.shards)
        for first, stop in self._spans_of_steps():
            for ahead in self.aheads:
                step, place = ahead.rows(first, stop)
                pairs = np.sort(step * shards + self.stored.shard_of[place])
                distinct += 1 + int(np.count_nonzero(np.diff(pairs)))
        return distinct / max(self.steps * len(self.aheads), 1)

    def parts(self) -> Iterator[Parts]:
        """Yield what its ranks ask the store for, as requests, as if nothing were there yet."""
        if self.is_by_shard:
            yield from self._parts(0, self.steps).portions()
            return
        for first, stop in self._spans_of_steps():
            yield self._parts(first, stop)

    def _spans_of_steps(self) -> Iterator[tuple[int, int]]:
        at_once = max(_ROWS // (self.setting.batch_size * self.setting.ranks), 1)
        for first in range(0, self.steps, at_once):
            yield first, min(first + at_once, self.steps)

    def _parts(self, first: int, stop: int) -> Parts:
        found = [self._parts_of(ahead, first, stop) for ahead in self.aheads]
        step, begin, end = (np.concatenate(of) for of in zip(*found, strict=True))
        if len(found) == 1:
            return Parts(step, begin, end)
        turn = np.argsort(step, kind="stable")
        if self.is_by_shard:  # what several ranks ask for, who share a cache, comes once
            turn = turn[np.sort(np.unique(begin[turn], return_index=True)[1])]
        return Parts(step[turn], begin[turn], end[turn])

    @property
    def is_by_shard(self) -> bool:
        return self.aheads[0].by_shard is not None

    def _parts_of(self, ahead: AccessPattern, first: int, stop: int) -> Sequence[NDArray[np.int64]]:
        if ahead.by_shard:
            starts = ahead.starts
            pieces = [
                (starts[piece.shard] + piece.first, starts[piece.shard] + piece.stop, step)
                for step in range(first, stop)
                for piece in ahead.pieces(step)
            ]
            last = ahead.steps[stop - 1]
            if last.valid < last.rows:
                # What pads may be of a shard that another rank reads.
                place = int(ahead.rows(stop - 1, stop).place[-1])
                pieces.append((place, place + 1, stop - 1))
            begin, end, step = np.array(pieces, np.int64).reshape(-1, 3).T
        else:
            begin, end, step = runs(ahead.rows(first, stop), ahead.ends)
        spans = self.stored.spans
        is_large = spans.end[end - 1] - spans.begin[begin] > PART
        cut = [
            (at, part.first, part.stop)
            for at in np.flatnonzero(is_large).tolist()
            for part in spans.cut(Part(0, int(begin[at]), int(end[at])))
        ]
        whole = np.stack([np.arange(len(begin)), begin, end], axis=1)[~is_large]
        parts = np.concatenate([whole, np.array(cut, np.int64).reshape(-1, 3)])
        number, begin, end = parts[np.argsort(parts[:, 0], kind="stable")].T
        return step[number], begin, end
