"""Compute a rank's next reads, for prefetching."""

from dataclasses import dataclass
from functools import cached_property
from math import gcd
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reader.order.shuffle import Blocks, Numbers, Order
from reader.order.steps import Steps

_KEPT_EPOCHS = 2  # a step may reach from one epoch into the next


class Piece(NamedTuple):
    shard: int
    first: int  # row
    stop: int
    last: int  # the last step that needs it


class Rows(NamedTuple):
    step: Numbers
    place: Numbers  # counted over all shards


@dataclass(frozen=True)
class AccessPattern:
    order: Order
    steps: Steps
    sizes: tuple[int, ...]  # samples of each shard
    chosen: NDArray[Any] | None = None  # the place of each sample; None: its number
    own: range | None = None  # the shards of one dataset of several, if only these are looked at

    @property
    def is_by_shard(self) -> bool:
        """Whether the samples of a shard are read close together."""
        return self.order.shards > 0 and self.chosen is None

    @property
    def open_shards(self) -> int:
        """Number of shards that are read at once, if the order is by shard."""
        return self.order.shards * (self.order.streams // self.parts)

    @property
    def parts(self) -> int:
        """Number of separate parts of the dataset that ranks read, if the order is by shard."""
        return gcd(self.order.streams, self.steps.world_size)

    @property
    def span(self) -> int:
        return self.steps.batch_size * self.steps.world_size

    def position(self, step: Any) -> Any:
        """Return the first position of a step, or of an array of steps, over all epochs."""
        return self.steps.start + step * self.span

    def pieces(self, step: int) -> list[Piece]:
        if self.is_by_shard:
            found = self._blocks(step)
        else:
            begins, stops, _ = runs(self.rows(step, step + 1), self.ends)
            shards = np.searchsorted(self.ends, begins, side="right")
            starts = self.starts[shards]
            runs_of = zip(
                shards.tolist(), (begins - starts).tolist(), (stops - starts).tolist(), strict=True
            )
            found = [Piece(shard, first, stop, step) for shard, first, stop in runs_of]
        if self.own is None:
            return found
        return [p._replace(shard=p.shard - self.own.start) for p in found if p.shard in self.own]

    def rows(self, first: int, stop: int) -> Rows:
        """Return the rows of the steps from `first` to `stop`, in the order of their batches."""
        steps = np.arange(first, stop)
        begins = self.position(steps)
        ends = np.minimum(begins + self.span, self.steps.stop)
        world_size, residue, stride = self.steps.world_size, self.steps.residue, 1
        count = -(-(ends - begins) // world_size)  # from here on as in `Steps`
        if residue is None:
            begins = np.minimum(begins + self.steps.rank * count, ends)
        else:
            begins, stride = begins + (residue - begins) % world_size, world_size
        inside = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        # Padding repeats a sample of the step.
        positions = np.repeat(begins, count) + stride * inside
        positions = np.minimum(positions, np.repeat(ends, count) - 1)
        return Rows(np.repeat(steps, count), np.concatenate(self._places(positions)))

    @cached_property
    def ends(self) -> Numbers:
        return np.cumsum(self.sizes)

    @cached_property
    def starts(self) -> Numbers:
        return self.ends - self.sizes

    def _places(self, positions: Numbers) -> list[Numbers]:
        epochs = positions // self.order.count
        found = []
        for epoch in range(int(epochs[0]), int(epochs[-1]) + 1):
            inside = positions[epochs == epoch] - epoch * self.order.count
            samples = self.order.samples(inside, epoch)
            found.append(samples if self.chosen is None else self.chosen[samples].astype(np.int64))
        return found

    def _blocks(self, step: int) -> list[Piece]:
        """Return the blocks of windows that begin in a step; for the first, also its own."""
        begin, end = self.position(step), min(self.position(step + 1), self.steps.stop)
        ends, count, pieces = self.ends, self.order.count, []
        for epoch in range(begin // count, (end - 1) // count + 1):
            blocks, turns = self._blocks_of(epoch)
            inside = np.array([begin, end]) - epoch * count
            now = turns[slice(*np.searchsorted(blocks.first, inside, sorter=turns))]
            if step == 0:
                is_open = (blocks.first < inside[0]) & (inside[0] <= blocks.last)
                now = np.append(now, np.flatnonzero(is_open))
            first = epoch * count + blocks.first[now]
            now = now[(first - (self.steps.residue or 0)) % self.parts == 0]
            for number in np.sort(now).tolist():
                start, size = int(blocks.start[number]), int(blocks.size[number])
                shard = int(np.searchsorted(ends, start, side="right"))
                row = start - int(self.starts[shard])
                last = epoch * count + int(blocks.last[number])
                until = (last - self.steps.start) // self.span
                pieces.append(Piece(shard, row, row + size, until))
        return pieces

    def _blocks_of(self, epoch: int) -> tuple[Blocks, Numbers]:
        """Return the blocks of `epoch`, and their numbers in the order in which they begin."""
        if epoch not in self._epochs:
            blocks = self.order.blocks(epoch)
            self._epochs[epoch] = blocks, np.argsort(blocks.first, kind="stable")
            for old in [*self._epochs][:-_KEPT_EPOCHS]:
                del self._epochs[old]
        return self._epochs[epoch]

    @cached_property
    def _epochs(self) -> dict[int, tuple[Blocks, Numbers]]:
        return {}


def runs(rows: Rows, ends: Numbers) -> tuple[Numbers, Numbers, Numbers]:
    """Return begin, end and step of each run of adjacent places in a shard that a step reads."""
    total = int(ends[-1])
    steps, places = np.divmod(np.sort(rows.step * total + rows.place), total)
    is_begin = np.diff(places, prepend=-9) > 1
    is_begin |= np.diff(steps, prepend=-1) != 0
    adjacent = np.flatnonzero(~is_begin)  # unless a shard ends between two of them
    is_begin[adjacent] = ends[np.searchsorted(ends, places[adjacent])] == places[adjacent]
    # A sample that comes twice in a step, for padding, is at the end of its run.
    is_begin[1:] &= (places[1:] != places[:-1]) | (steps[1:] != steps[:-1])
    begins = np.flatnonzero(is_begin)
    lasts = np.append(begins[1:], len(places)) - 1
    return places[begins], places[lasts] + 1, steps[begins]
