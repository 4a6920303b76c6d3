"""What a rank will read, and when each sample is read next: for who fetches ahead (pure)."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reader.order.samplers import BlockShuffled
from reader.order.shuffle import Order
from reader.order.steps import Steps

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
        """Whether whole shards are read within a short time of each other."""
        return isinstance(self.order, BlockShuffled) and self.chosen is None

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
            return self._windows(step)
        found = self.steps[step]
        positions = np.minimum(found.position + np.arange(found.rows), found.end - 1)
        ends = np.cumsum(self.sizes)
        pieces = []
        places = np.sort(np.concatenate(self._places(positions)))
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

        By shard: the last one at which its shard is, up to which all of it is needed.
        """
        count = self.order.count
        found = np.full(sum(self.sizes), NEVER)
        [places] = self._places(epoch * count + np.arange(count))
        found[places[::-1]] = (epoch * count + np.arange(count))[::-1]
        if self.is_by_shard:
            filled = np.array([size for size in self.sizes if size])
            last = np.maximum.reduceat(found, np.cumsum(filled) - filled)
            found = np.repeat(last, filled)
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

    def _windows(self, step: int) -> list[Piece]:
        """The shards of the windows that begin in a step; for the first step, also its own."""
        assert isinstance(self.order, BlockShuffled)
        begin, end = self.position(step), min(self.position(step + 1), self.steps.stop)
        filled = np.flatnonzero(self.sizes)
        count, pieces = self.order.count, []
        for epoch in range(begin // count, (end - 1) // count + 1):
            start = epoch * count
            for stop, shards in self.order.windows(epoch):
                stop += epoch * count
                if begin <= start < end or (step == 0 and start < begin < stop):
                    last = (stop - 1 - self.steps.start) // self.span
                    for shard in filled[shards].tolist():
                        pieces.append(Piece(shard, 0, self.sizes[shard], last))
                start = stop
        return pieces
