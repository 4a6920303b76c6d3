"""Which samples an epoch is made of, and in what order, beyond a plain shuffle.

All orders are functions of (seed, epoch, position), so that a run resumes at any of them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reader.checks import is_count
from reader.dataset.numbers import array_of, described
from reader.errors import ArgumentError
from reader.order.buckets import (
    AspectBuckets,
    Bucketed,
    aspect_ratios,
)
from reader.order.sampled import Sampled, SampledBatches
from reader.order.shuffle import GlobalShuffle, Order, Sequential
from reader.rng import mix64

if TYPE_CHECKING:
    from reader.dataset.dataset import Dataset


@dataclass(frozen=True)
class BlockShuffle:
    """Shuffle in windows: shards in random order, `shards` of them open at a time.

    For disks and networks that want long reads. Each epoch puts the shards in a random order, cuts
    it into windows of `shards`, and shuffles the samples of each window. All windows together are
    every sample once.

    A batch reads from `shards` shards, or twice as many where two windows meet, and every worker
    keeps as many open: two descriptors each, of which a Dataset holds 128 shards' worth. Samples of
    one shard meet in a batch more often than chance has it. Measured with scripts/bench_order.py
    on 1,024 shards of 1,250 samples, in batches of 256 (1.0 is chance):

    ============================  ====  ====  ====  ====  ======
    shards                           1     4    16    64  global
    ============================  ====  ====  ====  ====  ======
    distinct shards in a batch     1.2   4.2  16.2  62.9   226.7
    a pair meets again next time   954    62   5.0   1.2     1.0
    ============================  ====  ====  ====  ====  ======

    Example:
        >>> order = dict(shuffle=reader.BlockShuffle(shards=8))
        >>> with reader.Loader("shards", batch_size=7, fields=("index",), **order) as loader:
        ...     len(loader)
        4
    """

    __module__ = "reader"

    shards: int

    def __post_init__(self) -> None:
        if not is_count(self.shards):
            raise ArgumentError(f"{self}: shards is an integer of at least 1.")


class Weighted:
    """Draw with replacement, sample i with a probability in proportion to ``weights[i]``.

    Example:
        >>> dataset = reader.Dataset("shards", split="train")
        >>> weights = [3.0 if label == 0 else 1.0 for label in dataset.targets]
        >>> with reader.Loader(
        ...     dataset, batch_size=4, sampler=reader.Weighted(weights), fields=("label",)
        ... ) as loader:
        ...     print(len(loader))
        5
    """

    __module__ = "reader"

    def __init__(self, weights: Sequence[float] | NDArray[Any]) -> None:
        """Take the weights.

        Args:
            weights: a finite number of at least 0 for each sample.

        Raises:
            ArgumentError: they are not weights.
        """
        given = array_of(weights, np.float64)
        if given.ndim != 1 or not len(given) or not np.isfinite(given.sum()) or given.min() < 0:
            raise ArgumentError(
                "The weights of Weighted are one finite number of at least 0 for each sample, not "
                f"{weights!r:.200}."
            )
        if not given.any():
            raise ArgumentError("Weighted needs a weight above 0: of 0 alone nothing is drawn.")
        self.weights = given

    def __repr__(self) -> str:
        return f"<reader.Weighted: {len(self.weights)} weights>"


@dataclass(frozen=True)
class ClassBalanced:
    """Draw with replacement, every class equally often, whatever the number of its samples.

    Example:
        >>> order = dict(sampler=reader.ClassBalanced())
        >>> with reader.Loader("shards", batch_size=7, fields=("index",), **order) as loader:
        ...     len(loader)
        4
    """

    __module__ = "reader"


Shuffle = bool | BlockShuffle | AspectBuckets
Sampler = Iterable[int] | Weighted | ClassBalanced
BatchSampler = Iterable[Iterable[int]]


class BlockShuffled:
    """The order of a `BlockShuffle`, over samples that lie one shard after the other."""

    def __init__(
        self,
        shard_sizes: Sequence[int],
        shards: int,
        seed: int,
        numbers: NDArray[np.int64] | None = None,
    ) -> None:
        """`numbers`: what the samples are called; None: by their place."""
        self._sizes = np.array([size for size in shard_sizes if size], np.int64)
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._numbers = numbers
        self.shards = shards
        self._seed = seed
        self.count = int(self._sizes.sum())
        self._epoch = -1  # the one whose shards are known
        self._shuffled = self._ends = self._sizes

    def samples(self, positions: NDArray[np.int64], epoch: int) -> NDArray[np.int64]:
        """The sample numbers at `positions` of `epoch`."""
        shards, ends = self._shards_of(epoch)
        windows = self._window_ends(ends)
        found = np.empty_like(positions)
        of_position = np.searchsorted(windows, positions, side="right")
        for window in np.unique(of_position).tolist():
            begin = int(windows[window - 1]) if window else 0
            inside = GlobalShuffle(
                int(windows[window]) - begin, mix64(self._seed + window & 2**64 - 1)
            )
            chosen = of_position == window
            place = begin + inside.samples(positions[chosen] - begin, epoch)
            shard = np.searchsorted(ends, place, side="right")
            found[chosen] = (
                self._starts[shards[shard]] + place - ends[shard] + self._sizes[shards[shard]]
            )
        return found if self._numbers is None else self._numbers[found]

    def windows(self, epoch: int) -> list[tuple[int, NDArray[np.int64]]]:
        """Where each window of `epoch` ends, and its shards, of those that have samples."""
        shards, ends = self._shards_of(epoch)
        parts = [shards[at : at + self.shards] for at in range(0, len(shards), self.shards)]
        return list(zip(self._window_ends(ends).tolist(), parts, strict=True))

    def _shards_of(self, epoch: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The shards in the order of `epoch`, and the position at which each of them ends."""
        if epoch != self._epoch:
            number = len(self._sizes)
            self._shuffled = GlobalShuffle(number, self._seed).samples(np.arange(number), epoch)
            self._ends = np.cumsum(self._sizes[self._shuffled])
            self._epoch = epoch
        return self._shuffled, self._ends

    def _window_ends(self, ends: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.append(ends[self.shards - 1 : -1 : self.shards], ends[-1])

    def options(self, epoch: int | None) -> dict[str, str]:
        """See `Order.options`."""
        return {"shuffle": repr(BlockShuffle(self.shards))}


class Drawn:
    """The order of `Weighted`."""

    def __init__(self, weights: NDArray[np.float64], seed: int) -> None:
        ends = np.cumsum(weights)
        self._ends = ends / ends[-1]
        self._seed = seed
        self.count = len(ends)

    def samples(self, positions: NDArray[np.int64], epoch: int) -> NDArray[np.int64]:
        """The sample numbers at `positions` of `epoch`."""
        key = mix64(mix64(self._seed & 2**64 - 1) + epoch & 2**64 - 1)
        with np.errstate(over="ignore"):
            mixed = mix64(mix64(positions.astype(np.uint64) ^ np.uint64(key)))
        draws = (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return np.minimum(np.searchsorted(self._ends, draws, side="right"), self.count - 1)

    def options(self, epoch: int | None) -> dict[str, str]:
        """See `Order.options`."""
        return {"weights": self._description}

    @cached_property
    def _description(self) -> str:
        return described(self._ends)


def build_order(
    dataset: "Dataset",
    shuffle: Shuffle,
    seed: int,
    sampler: Sampler | None = None,
    batch_sampler: BatchSampler | None = None,
    size: int | None = None,
) -> Order:
    """The order that a Loader's arguments ask for.

    Args:
        size: of a batch that `batch_sampler` gives, at most; None for the first epoch's largest.

    Raises:
        ArgumentError: the arguments contradict each other, or do not fit the dataset.
    """
    if not isinstance(shuffle, (bool, BlockShuffle, AspectBuckets)):
        raise ArgumentError(
            "shuffle is True, False, a BlockShuffle(shards=...) or AspectBuckets(batch_size=...)."
        )
    if sampler is not None and shuffle:
        raise ArgumentError("Give one of shuffle and sampler: each decides the order.")
    if batch_sampler is not None:
        return SampledBatches(batch_sampler, len(dataset), size)
    if isinstance(sampler, Weighted):
        if len(sampler.weights) != len(dataset):
            raise ArgumentError(
                f"{sampler!r} needs as many as the dataset has samples: {len(dataset)}."
            )
        return Drawn(sampler.weights, seed)
    if isinstance(sampler, ClassBalanced):
        return Drawn(_balanced(dataset), seed)
    if sampler is not None:
        return Sampled(sampler, len(dataset))
    if isinstance(shuffle, BlockShuffle):
        numbers, sizes = dataset.places.by_shard()
        return BlockShuffled(sizes, shuffle.shards, seed, numbers)
    if isinstance(shuffle, AspectBuckets):
        return Bucketed(aspect_ratios(dataset), shuffle, seed)
    return GlobalShuffle(len(dataset), seed) if shuffle else Sequential(len(dataset))


def _balanced(dataset: "Dataset") -> NDArray[np.float64]:
    """Weights that make every class equally likely."""
    if lacking := int((dataset.labels < 0).sum()):
        raise ArgumentError(
            f"ClassBalanced needs a label for every sample: {lacking:,} of {len(dataset):,} have "
            "none. Choose a split that has them, split=..., or dataset.subset(dataset.labels >= 0)."
        )
    counts = np.bincount(dataset.labels)
    return 1.0 / counts[dataset.labels]
