"""Compute a rank's next reads, for prefetching."""

from dataclasses import dataclass
from functools import cached_property
from math import gcd
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reader.order.blocks import BlockOrder, Blocks
from reader.order.shuffle import Numbers, Order
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
    order: Order | None  # None: its samples are announced step by step
    steps: Steps
    sizes: tuple[int, ...]  # samples of each shard
    chosen: NDArray[Any] | None = None  # the place of each sample; None: its number
    own: range | None = None  # the shards of one dataset of several, if only these are looked at

    @property
    def by_shard(self) -> BlockOrder | None:
        """The order, if the samples of a shard are read close together."""
        return self.order if isinstance(self.order, BlockOrder) and self.chosen is None else None

    @property
    def open_shards(self) -> int:
        """Number of shards that are read at once, if the order is by shard."""
        order = self.by_shard
        return order.shards * (order.streams // self.parts) if order else 0

    @property
    def parts(self) -> int:
        """Number of separate parts of the dataset that ranks read, if the order is by shard."""
        return gcd(self.by_shard.streams, self.steps.world_size) if self.by_shard else 1

    @property
    def group(self) -> object:
        """What is equal for ranks that read the same shards, if the order is by shard."""
        if self.by_shard is None:
            return None
        blocks, part = self.by_shard.blocks(0), (self.steps.residue or 0) % self.parts
        return blocks.start.tobytes(), blocks.last.tobytes(), part

    def pieces(self, step: int) -> list[Piece]:
        if self.by_shard is not None:
            found = self._blocks(self.by_shard, step)
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
        assert self.order is not None
        positions, steps = self.steps.positions(first, stop)
        epochs, inside = np.divmod(positions, self.order.count)
        found = []
        for epoch in range(int(epochs[0]), int(epochs[-1]) + 1):
            samples = self.order.samples(inside[epochs == epoch], epoch)
            found.append(samples if self.chosen is None else self.chosen[samples].astype(np.int64))
        return Rows(steps, np.concatenate(found))

    @cached_property
    def ends(self) -> Numbers:
        return np.cumsum(self.sizes)

    @cached_property
    def starts(self) -> Numbers:
        return self.ends - self.sizes

    def _blocks(self, order: BlockOrder, step: int) -> list[Piece]:
        """Return the blocks of windows that begin in a step; for the first, also its own."""
        begin = self.steps.begin(step)
        end = min(begin + self.steps.span, self.steps.stop)
        ends, count, pieces = self.ends, order.count, []
        for epoch in range(begin // count, (end - 1) // count + 1):
            blocks, turns = self._blocks_of(order, epoch)
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
                until = (last - self.steps.start) // self.steps.span
                pieces.append(Piece(shard, row, row + size, until))
        return pieces

    def _blocks_of(self, order: BlockOrder, epoch: int) -> tuple[Blocks, Numbers]:
        """Return the blocks of `epoch`, and their numbers in the order in which they begin."""
        if epoch not in self._epochs:
            blocks = order.blocks(epoch)
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
