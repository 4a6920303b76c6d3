"""Orders dealt out in proportion: a mix of datasets, or one order in epochs of another length.

Position p of an epoch belongs to a part by Bresenham's line, one part after the other against the
rest of them, so each part's share of any batch is even. A part goes on in the next epoch where it
stopped: after as many of its passes each of its samples has come equally often.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from reader.dataset.locator import grouped
from reader.errors import ArgumentError
from reader.order.blocks import BlockOrder, Blocks
from reader.order.shuffle import Numbers, Order

_MOST = 3 * 10**9  # positions, whose squares fit into int64


class MixPart(NamedTuple):
    order: Order  # of its samples, in each pass over them
    share: int  # positions an epoch, above 0
    start: int = 0  # the number of its first sample, if they follow each other
    numbers: Numbers | None = None  # otherwise the numbers of all


class Mixed(Order):
    """Orders, of which each part has `share` positions an epoch, in runs of as many as streams."""

    streams = 1

    def __init__(self, parts: Sequence[MixPart], description: str | None = None) -> None:
        self._parts = parts
        self._description = description
        self.count = sum(part.share for part in parts)
        self.is_in_turn = parts[0].order.is_in_turn
        if len(parts) > 1 and self.count > _MOST:
            raise ArgumentError(f"An epoch of a Mix has at most {_MOST:,} samples, not more.")
        # Turns of each part and of those after it: runs of one position of each stream.
        self._turns = [part.share // self.streams for part in parts] if len(parts) > 1 else [0]
        self._left = np.cumsum(self._turns[::-1])[::-1].tolist()

    @staticmethod
    def of(parts: Sequence[MixPart], description: str | None = None) -> "Mixed":
        """Return the order of parts that are alike."""
        is_by_shard = isinstance(parts[0].order, BlockOrder)
        return (MixedBlocks if is_by_shard else Mixed)(parts, description)

    def samples(self, positions: Numbers, epoch: int) -> Numbers:
        found = np.empty_like(positions)
        for part, chosen, drawn in self._dealt(positions):
            passes, inside = np.divmod(epoch * part.share + drawn, part.order.count)
            for number, which in grouped(passes):
                samples = part.order.samples(inside[which], number)
                samples = samples + part.start if part.numbers is None else part.numbers[samples]
                found[chosen[which]] = samples
        return found

    def options(self, epoch: int | None) -> dict[str, str]:
        options = self._parts[0].order.options(epoch)
        return options if self._description is None else {**options, "weights": self._description}

    def residue(self, rank: int, world_size: int) -> int | None:
        return self._parts[0].order.residue(rank, world_size)

    def _dealt(self, positions: Numbers) -> Iterator[tuple[MixPart, Numbers, Numbers]]:
        """Yield each part, which of `positions` are its own, and how many it has had before."""
        chosen = np.arange(len(positions))
        turns, stream = np.divmod(positions, self.streams)
        for part, own, left in zip(self._parts[:-1], self._turns, self._left, strict=False):
            before, after = ((at * own + left // 2) // left for at in (turns, turns + 1))
            is_own = after > before
            yield part, chosen[is_own], before[is_own] * self.streams + stream[is_own]
            others = ~is_own
            chosen, stream, turns = chosen[others], stream[others], (turns - before)[others]
        yield self._parts[-1], chosen, turns * self.streams + stream


class MixedBlocks(Mixed, BlockOrder):
    def __init__(self, parts: Sequence[MixPart], description: str | None = None) -> None:
        self._orders = [part.order for part in parts if isinstance(part.order, BlockOrder)]
        self.shards, self.streams = self._orders[0].shards, self._orders[0].streams
        super().__init__(parts, description)

    def blocks(self, epoch: int) -> Blocks:
        """Return the parts' blocks that are read in `epoch`, also those that began before it."""
        found = []
        for number, (part, order) in enumerate(zip(self._parts, self._orders, strict=True)):
            count = order.count
            begin, end = epoch * part.share, (epoch + 1) * part.share
            for at in range(begin // count, (end - 1) // count + 1):
                blocks = order.blocks(at)
                first, last = (
                    self._positions(number, at * count + inside) - epoch * self.count
                    for inside in blocks[:2]
                )
                is_read = (last >= 0) & (first < self.count)
                blocks = Blocks(first, last, blocks.start + part.start, blocks.size)
                found.append(Blocks(*(column[is_read] for column in blocks)))
        return Blocks(*map(np.concatenate, zip(*found, strict=True)))

    def _positions(self, number: int, drawn: Numbers) -> Numbers:
        """Return the position, over all epochs, at which a part has what it draws after others."""
        epochs, inside = np.divmod(drawn, self._parts[number].share)
        turns, stream = np.divmod(inside, self.streams)
        if number < len(self._parts) - 1:
            own, left = self._turns[number], self._left[number]
            turns = -(-((turns + 1) * left - left // 2) // own) - 1
        for own, left in zip(self._turns[:number][::-1], self._left[:number][::-1], strict=True):
            turns = (turns * left + left // 2) // (left - own)
        return epochs * self.count + turns * self.streams + stream
