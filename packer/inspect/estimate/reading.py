"""Samples that each rank reads in an epoch: steps, padding, and mixing (pure)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from packer.inspect.estimate.setting import Setting, Stored
from reader.cache.ranges import Part
from reader.order.access import AccessPattern, runs
from reader.order.shuffle import Order
from reader.order.steps import Steps
from reader.store.limits import PART

_ROWS = 1 << 20  # samples that are looked at together; all of 10^8 take many gigabytes


@dataclass(frozen=True)
class Parts:
    """Requests in order: the step of each, and the places that it fetches."""

    step: NDArray[np.int64]
    begin: NDArray[np.int64]
    end: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.step)

    def some(self, first: int, stop: int) -> "Parts":
        return Parts(self.step[first:stop], self.begin[first:stop], self.end[first:stop])

    def portions(self) -> Iterator["Parts"]:
        rows, at = np.cumsum(self.end - self.begin), 0
        while at < len(self):
            most = (int(rows[at - 1]) if at else 0) + _ROWS
            stop = max(int(np.searchsorted(rows, most, side="right")), at + 1)
            yield self.some(at, stop)
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
        begin = int(self.aheads[0].position(self.steps - 1))
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
        return self.aheads[0].is_by_shard

    def _parts_of(self, ahead: AccessPattern, first: int, stop: int) -> Sequence[NDArray[np.int64]]:
        if ahead.is_by_shard:
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
