"""Shuffle within a few open shards at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from reader.checks import is_count
from reader.dataset.locator import grouped
from reader.errors import ArgumentError
from reader.order.shuffle import GlobalShuffle, Numbers, Order
from reader.rng import mix64


@dataclass(frozen=True, repr=False)
class BlockShuffle:
    """A shuffle in windows: shards in random order, `shards` of them open at a time.

    Use it for disks and networks that prefer long reads. Each epoch puts the shards in a random
    order, divides it into windows of `shards`, and shuffles the samples of each window. All windows
    together have every sample once.

    A batch reads from `shards` shards, or twice as many if it spans two windows. Every worker keeps
    as many open, with two descriptors each; outside workers, at most 128 stay open. Samples of one
    shard meet in a batch more often than by chance, here for 1,024 shards of 1,250 samples and
    batches of 256 (1.0 is chance):

    ============================  ====  ====  ====  ====  ======
    shards                           1     4    16    64  global
    ============================  ====  ====  ====  ====  ======
    distinct shards in a batch     1.2   4.2  16.2  62.9   226.7
    a pair meets again next time   954    62   5.0   1.2     1.0
    ============================  ====  ====  ====  ====  ======

    With `streams`, each of several machines reads its own shards, the same ones in every epoch. The
    samples are divided into that number of streams, each shuffled as above, and position p belongs
    to stream ``p % streams``. The world size must divide `streams`, and each rank reads whole
    streams; or it is a multiple of `streams`, and neighbouring ranks share one. The order does not
    depend on the world size. All ranks together have ``shards * streams`` shards open.

    Example:
        >>> order = dict(shuffle=reader.BlockShuffle(shards=8))
        >>> with reader.Loader("shards", batch_size=7, fields=("index",), **order) as loader:
        ...     len(loader)
        4
    """

    __module__ = "reader"

    shards: int
    streams: int | None = None

    def __post_init__(self) -> None:
        if not is_count(self.shards):
            raise ArgumentError(f"{self}: shards is an integer of at least 1.")
        if self.streams is not None and not is_count(self.streams):
            raise ArgumentError(f"{self}: streams is an integer of at least 1, or None.")

    def __repr__(self) -> str:  # recorded in states
        streams = "" if self.streams is None else f", streams={self.streams}"
        return f"BlockShuffle(shards={self.shards}{streams})"


class Blocks(NamedTuple):
    """Runs of adjacent samples, and the first and last position of the window that reads each."""

    first: Numbers
    last: Numbers
    start: Numbers
    size: Numbers


class BlockOrder(Order):
    """An order that reads the samples of a shard close together."""

    shards: int  # that a stream has open
    streams = 1

    def blocks(self, epoch: int) -> Blocks:
        """Return the blocks of shards that `epoch` reads."""
        raise NotImplementedError


class BlockShuffled(BlockOrder):
    def __init__(
        self,
        shard_sizes: Sequence[int] | Numbers,
        shards: int,
        seed: int,
        numbers: Numbers | None = None,
        starts: Numbers | None = None,
    ) -> None:
        sizes = np.array(shard_sizes, np.int64)
        starts = np.cumsum(sizes) - sizes if starts is None else starts
        self._sizes, self._starts = sizes[sizes > 0], starts[sizes > 0]
        self._numbers = numbers
        self.shards = shards
        self._seed = seed
        self.count = int(self._sizes.sum())
        self._epoch = -1  # of the cached shards
        self._shuffled = self._ends = self._windows = self._sizes

    def samples(self, positions: Numbers, epoch: int) -> Numbers:
        shards, ends, windows = self._shards_of(epoch)
        found = np.empty_like(positions)
        for window, chosen in grouped(np.searchsorted(windows, positions, side="right")):
            begin = int(windows[window - 1]) if window else 0
            inside = GlobalShuffle(
                int(windows[window]) - begin, mix64(self._seed + window & 2**64 - 1)
            )
            place = begin + inside.samples(positions[chosen] - begin, epoch)
            shard = np.searchsorted(ends, place, side="right")
            found[chosen] = (
                self._starts[shards[shard]] + place - ends[shard] + self._sizes[shards[shard]]
            )
        return found if self._numbers is None else self._numbers[found]

    def blocks(self, epoch: int) -> Blocks:
        shards, _, windows = self._shards_of(epoch)
        window = np.arange(len(shards)) // self.shards
        begins = np.append(0, windows[:-1])
        return Blocks(
            begins[window], windows[window] - 1, self._starts[shards], self._sizes[shards]
        )

    def _shards_of(self, epoch: int) -> tuple[Numbers, Numbers, Numbers]:
        if epoch != self._epoch:
            number = len(self._sizes)
            self._shuffled = GlobalShuffle(number, self._seed).samples(np.arange(number), epoch)
            self._ends = np.cumsum(self._sizes[self._shuffled])
            self._windows = np.append(
                self._ends[self.shards - 1 : -1 : self.shards], self._ends[-1]
            )
            self._epoch = epoch
        return self._shuffled, self._ends, self._windows

    def options(self, epoch: int | None) -> dict[str, str]:
        return {"shuffle": repr(BlockShuffle(self.shards))}
