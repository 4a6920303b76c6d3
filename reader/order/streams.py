"""Streams: parts of the shards that are shuffled separately, so that ranks read different shards.

Position p, counted over all epochs, belongs to stream ``p % streams``, and a rank has every
``world_size``-th position: whole streams, or a share of one, for any first position of a step. A
stream has the same samples in every epoch: a machine's cache needs only its own ranks' samples.
"""

from collections.abc import Sequence
from itertools import chain, pairwise
from math import gcd

import numpy as np

from reader.dataset.locator import grouped
from reader.errors import ArgumentError
from reader.order.blocks import BlockOrder, Blocks, BlockShuffle, BlockShuffled
from reader.order.shuffle import GlobalShuffle, Numbers
from reader.rng import mix64

_M64 = 2**64 - 1


class Streamed(BlockOrder):
    """The order of a `BlockShuffle` with streams.

    The shards, in an order that depends only on the seed, are divided into streams of equal length.
    The remainder, fewer samples than streams, comes at an epoch's end. Each stream has `shards`
    open.
    """

    def __init__(
        self,
        shard_sizes: Sequence[int],
        shuffle: BlockShuffle,
        seed: int,
        numbers: Numbers | None = None,
    ) -> None:
        assert shuffle.streams is not None
        self.shards, self.streams = shuffle.shards, shuffle.streams
        self._shuffle = shuffle
        self._numbers = numbers
        self._seed = mix64(seed & _M64)
        sizes = np.array([size for size in shard_sizes if size], np.int64)
        self.count = int(sizes.sum())
        self._length = self.count // self.streams  # of a stream
        starts, sizes = self._cut(sizes)
        ends = np.cumsum(sizes)
        stops = np.searchsorted(ends, np.arange(self.streams + 1) * self._length, side="right")
        self._streams = [
            BlockShuffled(
                sizes[begin:stop],
                self.shards,
                mix64(self._seed + number & _M64),
                None,
                starts[begin:stop],
            )
            for number, (begin, stop) in enumerate(pairwise(stops.tolist()))
            if self._length
        ]
        rest = slice(stops[-1], None)
        lasts = zip(starts[rest].tolist(), sizes[rest].tolist(), strict=True)
        self._rest = np.array(
            [*chain(*(range(start, start + size) for start, size in lasts))], np.int64
        )
        self._blocks: tuple[int, Blocks] | None = None  # of an epoch

    def _cut(self, sizes: Numbers) -> tuple[Numbers, Numbers]:
        """Return the starts and sizes of the streams' parts of shards, stream after stream."""
        shards = GlobalShuffle(len(sizes), self._seed).samples(np.arange(len(sizes)), 0)
        begins = np.cumsum(sizes[shards]) - sizes[shards]
        cuts = np.arange(self.streams + 1) * self._length
        edges = np.unique(np.concatenate([begins, cuts]))
        of_part = np.searchsorted(begins, edges, side="right") - 1
        starts = (np.cumsum(sizes) - sizes)[shards[of_part]] + edges - begins[of_part]
        return starts, np.diff(edges, append=self.count)

    def samples(self, positions: Numbers, epoch: int) -> Numbers:
        turns = positions // self.streams
        streams = np.where(
            turns < self._length, (positions + self._first(epoch)) % self.streams, -1
        )
        found = np.empty_like(positions)
        for stream, chosen in grouped(streams):
            if stream < 0:
                inside = positions[chosen] - self._length * self.streams
                found[chosen] = self._rest[self._shuffled_rest(inside, epoch)]
            else:
                found[chosen] = self._streams[stream].samples(turns[chosen], epoch)
        return found if self._numbers is None else self._numbers[found]

    def blocks(self, epoch: int) -> Blocks:
        """Return the blocks, stream by stream; a block's positions are `streams` apart."""
        if self._blocks is None or self._blocks[0] != epoch:
            found = []
            for number, stream in enumerate(self._streams):
                inside = stream.blocks(epoch)
                offset = (number - self._first(epoch)) % self.streams
                first, last = (turns * self.streams + offset for turns in inside[:2])
                found.append(inside._replace(first=first, last=last))
            positions = np.arange(self._length * self.streams, self.count)
            rest = self._rest[self._shuffled_rest(np.arange(len(self._rest)), epoch)]
            found.append(Blocks(positions, positions, rest, np.ones_like(rest)))
            self._blocks = epoch, Blocks(*map(np.concatenate, zip(*found, strict=True)))
        return self._blocks[1]

    def options(self, epoch: int | None) -> dict[str, str]:
        return {"shuffle": repr(self._shuffle)}

    def residue(self, rank: int, world_size: int) -> int:
        streams = self.streams
        if gcd(streams, world_size) < min(streams, world_size):
            fitting = max(round(streams / world_size), 1) * world_size
            raise ArgumentError(
                f"{self._shuffle!r} cannot be divided among {world_size} ranks: the world size "
                f"must divide {streams}, or be a multiple of it. Set streams= to a multiple of "
                f"all world sizes that you use, such as {fitting}."
            )
        if world_size <= streams:
            return rank
        together = world_size // streams  # ranks of a stream, which are neighbours
        return rank // together + rank % together * streams

    def _first(self, epoch: int) -> int:
        return epoch * self.count % self.streams

    def _shuffled_rest(self, places: Numbers, epoch: int) -> Numbers:
        return GlobalShuffle(len(self._rest), self._seed).samples(places, epoch)
