"""What a rank will read, and when each sample is read next: for who fetches ahead (pure)."""

from dataclasses import dataclass
from math import gcd
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reader.order.blocks import BlockShuffled
from reader.order.shuffle import Order
from reader.order.steps import Steps
from reader.order.streams import Streamed

NEVER = np.iinfo(np.int64).max


class Piece(NamedTuple):
    """Rows of a shard that are wanted together.

    Attributes:
        shard, first, stop: which rows.
        last: the step after which they are not needed any more.
    """

    shard: int
    first: int
    stop: int
    last: int


@dataclass(frozen=True)
class Ahead:
    """The steps of one rank, over a dataset's shards.

    Attributes:
        sizes: samples of each shard.
        chosen: the place of each sample among those of all shards; None: its number.
    """

    order: Order
    steps: Steps
    sizes: tuple[int, ...]
    chosen: NDArray[np.int64] | None = None

    @property
    def is_by_shard(self) -> bool:
        """Whether whole shards, or parts of them, are read within a short time of each other."""
        return isinstance(self.order, (BlockShuffled, Streamed)) and self.chosen is None

    @property
    def open_shards(self) -> int:
        """How many are read at a time, of an order by shard."""
        assert isinstance(self.order, (BlockShuffled, Streamed))
        return self.order.shards * (self.order.streams // self._apart)

    @property
    def _apart(self) -> int:
        """The streams of which this rank reads one: those whose positions it has."""
        assert isinstance(self.order, (BlockShuffled, Streamed))
        return gcd(self.order.streams, self.steps.world_size)

    @property
    def span(self) -> int:
        """Positions that a step moves on, of all ranks together."""
        return self.steps.batch_size * self.steps.world_size

    def position(self, step: int) -> int:
        """Where a step begins, counted over all epochs."""
        return self.steps.start + step * self.span

    def pieces(self, step: int) -> list[Piece]:
        """What a step reads that no step before it asked for."""
        if self.is_by_shard:
            return self._blocks(step)
        ends = np.cumsum(self.sizes)
        pieces = []
        places = np.sort(np.concatenate(self._places(self.steps[step].positions)))
        shards = np.searchsorted(ends, places, side="right")
        rows = places - (ends - self.sizes)[shards]
        is_begin = (np.diff(rows, prepend=-9) > 1) | (np.diff(shards, prepend=-1) != 0)
        begins = np.flatnonzero(is_begin)
        stops = [*begins[1:].tolist(), len(rows)]
        for begin, stop in zip(begins.tolist(), stops, strict=True):
            first, last = int(rows[begin]), int(rows[stop - 1])
            pieces.append(Piece(int(shards[begin]), first, last + 1, step))
        return pieces

    def uses(self, epoch: int) -> NDArray[np.int64]:
        """The first position of `epoch` at which each place is read, counted over all epochs.

        By shard: the last one of its window, up to which all of its shard is needed.
        """
        count = self.order.count
        if self.is_by_shard:
            assert isinstance(self.order, (BlockShuffled, Streamed))
            blocks = self.order.blocks(epoch)
            in_turn = np.argsort(blocks.start)
            return epoch * count + np.repeat(blocks.last[in_turn], blocks.size[in_turn])
        found = np.full(sum(self.sizes), NEVER)
        [places] = self._places(epoch * count + np.arange(count))
        found[places[::-1]] = (epoch * count + np.arange(count))[::-1]
        return found

    def _places(self, positions: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """What lies at positions counted over all epochs, epoch by epoch."""
        epochs = positions // self.order.count
        found = []
        for epoch in range(int(epochs[0]), int(epochs[-1]) + 1):
            inside = positions[epochs == epoch] - epoch * self.order.count
            samples = self.order.samples(inside, epoch)
            found.append(samples if self.chosen is None else self.chosen[samples])
        return found

    def _blocks(self, step: int) -> list[Piece]:
        """What is read of the windows that begin in a step; for the first step, also its own."""
        assert isinstance(self.order, (BlockShuffled, Streamed))
        begin, end = self.position(step), min(self.position(step + 1), self.steps.stop)
        ends, count, pieces = np.cumsum(self.sizes), self.order.count, []
        for epoch in range(begin // count, (end - 1) // count + 1):
            blocks = self.order.blocks(epoch)
            first, last = epoch * count + blocks.first, epoch * count + blocks.last
            is_now = (begin <= first) & (first < end)
            if step == 0:
                is_now |= (first < begin) & (begin <= last)
            is_now &= (first - (self.steps.residue or 0)) % self._apart == 0
            for number in np.flatnonzero(is_now).tolist():
                start, size = int(blocks.start[number]), int(blocks.size[number])
                shard = int(np.searchsorted(ends, start, side="right"))
                row = start - int(ends[shard]) + self.sizes[shard]
                until = (int(last[number]) - self.steps.start) // self.span
                pieces.append(Piece(shard, row, row + size, until))
        return pieces
