"""Which samples an epoch is made of, and in what order, beyond a plain shuffle.

All orders are functions of (seed, epoch, position), so that a run resumes at any of them.
"""

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence, Sized
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.checks import is_count
from reader.dataset.dataset import Dataset
from reader.errors import ArgumentError
from reader.order.buckets import (
    AspectBuckets,
    Bucketed,
    aspect_ratios,
)
from reader.order.shuffle import GlobalShuffle, Order, Sequential
from reader.rng import mix64

_KEPT_EPOCHS = 2  # of a sampler: the one that is read and the one that is decoded ahead


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
    """

    shards: int

    def __post_init__(self) -> None:
        if not is_count(self.shards):
            raise ArgumentError(f"{self}: shards is an integer of at least 1.")


@dataclass(frozen=True)
class ClassBalanced:
    """Weights that make every class equally likely, whatever the number of its samples."""


Shuffle = bool | BlockShuffle | AspectBuckets
Subset = Sequence[int] | NDArray[Any] | Callable[[Mapping[str, NDArray[Any]]], NDArray[Any]]


class BlockShuffled:
    """The order of a `BlockShuffle`."""

    def __init__(self, shard_sizes: Sequence[int], shards: int, seed: int) -> None:
        self._sizes = np.array([size for size in shard_sizes if size], np.int64)
        self._starts = np.cumsum(self._sizes) - self._sizes
        self._shards = shards
        self._seed = seed
        self.count = int(self._sizes.sum())
        self._epoch = -1  # the one whose shards are known
        self._shuffled = self._ends = self._sizes

    def samples(self, positions: NDArray[np.int64], epoch: int) -> NDArray[np.int64]:
        """The sample numbers at `positions` of `epoch`."""
        number = len(self._sizes)
        if epoch != self._epoch:
            self._shuffled = GlobalShuffle(number, self._seed).samples(np.arange(number), epoch)
            self._ends = np.cumsum(self._sizes[self._shuffled])
            self._epoch = epoch
        shards, ends = self._shuffled, self._ends
        windows = np.append(ends[self._shards - 1 : -1 : self._shards], ends[-1])
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
        return found

    def options(self, epoch: int | None) -> dict[str, str]:
        """See `Order.options`."""
        return {"shuffle": repr(BlockShuffle(self._shards))}


class Weighted:
    """Draws with replacement, sample i with a probability in proportion to ``weights[i]``."""

    def __init__(self, weights: NDArray[Any], seed: int) -> None:
        """Take the weights.

        Raises:
            ArgumentError: they are no weights.
        """
        ends = np.cumsum(np.asarray(weights, np.float64))
        if ends.ndim != 1 or not len(ends) or not np.isfinite(ends[-1]) or np.min(weights) < 0:
            raise ArgumentError("weights must be one finite number of at least 0 for each sample.")
        if ends[-1] == 0:
            raise ArgumentError("weights must have a number above 0: of 0 alone nothing is drawn.")
        self._ends = ends / ends[-1]
        self._seed = seed
        self.count = len(ends)

    def samples(self, positions: NDArray[np.int64], epoch: int) -> NDArray[np.int64]:
        """The sample numbers at `positions` of `epoch`."""
        key = mix64(mix64(self._seed & 2**64 - 1) + epoch & 2**64 - 1)
        with np.errstate(over="ignore"):
            dice = mix64(mix64(positions.astype(np.uint64) ^ np.uint64(key)))
        draws = (dice >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return np.minimum(np.searchsorted(self._ends, draws, side="right"), self.count - 1)

    def options(self, epoch: int | None) -> dict[str, str]:
        """See `Order.options`."""
        return {"weights": self._description}

    @cached_property
    def _description(self) -> str:
        return _described(self._ends)


class Sampled:
    """The order of a torch Sampler, or of any sized iterable of indices: iterated once an epoch."""

    def __init__(self, sampler: Any, total: int) -> None:
        """Take a sampler over `total` samples.

        Raises:
            ArgumentError: it is none, or has no length.
        """
        if isinstance(sampler, (str, bytes)) or not isinstance(sampler, Iterable):
            raise ArgumentError(f"sampler is an iterable of sample numbers, not {sampler!r:.200}.")
        if not isinstance(sampler, Sized):
            raise ArgumentError(f"A sampler has a length; {sampler!r:.200} has none.")
        self._sampler = sampler
        self._total = total
        self._epochs: dict[int, tuple[NDArray[np.int64], str]] = {}  # indices, and what they are
        self.count = len(sampler)

    def samples(self, positions: NDArray[np.int64], epoch: int) -> NDArray[np.int64]:
        """The sample numbers at `positions` of `epoch`.

        Raises:
            ArgumentError: the sampler gives another number of indices than its length, or what is
                no sample's number.
        """
        return self._of(epoch)[0][positions]

    def options(self, epoch: int | None) -> dict[str, str]:
        """See `Order.options`. Of a sampler with `set_epoch` only type and length are compared.

        Such a sampler is a function of the epoch, and may give each rank another share.
        """
        numbers = f"{self.count} numbers"
        if epoch is not None and not hasattr(self._sampler, "set_epoch"):
            numbers = self._of(epoch)[1]
        return {"sampler": f"{type(self._sampler).__name__} of {numbers}"}

    def _of(self, epoch: int) -> tuple[NDArray[np.int64], str]:
        if epoch not in self._epochs:
            if hasattr(self._sampler, "set_epoch"):
                self._sampler.set_epoch(epoch)
            numbers = map(partial(_sample_number, total=self._total), self._sampler)
            indices = np.fromiter(islice(numbers, self.count + 1), np.int64)
            if len(indices) != self.count:
                found = "more" if len(indices) > self.count else len(indices)
                raise ArgumentError(f"The sampler has length {self.count} and gave {found}.")
            self._epochs[epoch] = indices, _described(indices)
            for old in sorted(self._epochs)[:-_KEPT_EPOCHS]:
                del self._epochs[old]
        return self._epochs[epoch]


class Among:
    """An order of some samples: `order` counts within `chosen`, an array of sample numbers."""

    def __init__(self, order: Order, chosen: NDArray[np.int64]) -> None:
        self._order = order
        self._chosen = chosen
        self.count = order.count

    def samples(self, positions: NDArray[np.int64], epoch: int) -> NDArray[np.int64]:
        """The sample numbers at `positions` of `epoch`."""
        return self._chosen[self._order.samples(positions, epoch)]

    def options(self, epoch: int | None) -> dict[str, str]:
        """See `Order.options`."""
        return {**self._order.options(epoch), "subset": self._description}

    @cached_property
    def _description(self) -> str:
        return _described(self._chosen)


def build_order(
    dataset: Dataset,
    shuffle: Shuffle,
    seed: int,
    subset: Subset | None,
    weights: NDArray[Any] | Sequence[float] | ClassBalanced | None,
    sampler: Iterable[int] | None,
) -> Order:
    """The order that a Loader's arguments ask for.

    Raises:
        ArgumentError: the arguments contradict each other, or name samples that are not there.
    """
    if not isinstance(shuffle, (bool, BlockShuffle, AspectBuckets)):
        raise ArgumentError(
            "shuffle is True, False, a BlockShuffle(shards=...) or AspectBuckets(batch_size=...)."
        )
    if (sampler is not None) + (weights is not None) + bool(shuffle) > 1:
        raise ArgumentError("Give one of shuffle, weights and sampler: each decides the order.")
    if sampler is not None:
        if subset is not None:
            raise ArgumentError("A sampler chooses its samples itself; give no subset beside it.")
        return Sampled(sampler, len(dataset))
    chosen = None if subset is None else _chosen(dataset, subset)
    count = len(dataset) if chosen is None else len(chosen)
    order: Order = Sequential(count)
    if weights is not None:
        order = Weighted(_weights(dataset, weights, chosen), seed)
    elif isinstance(shuffle, BlockShuffle):
        sizes = [shard.samples for shard in dataset.shards]
        if chosen is not None:
            chosen = np.sort(chosen)
            sizes = np.diff(np.searchsorted(chosen, np.cumsum([0, *sizes]))).tolist()
        order = BlockShuffled(sizes, shuffle.shards, seed)
    elif isinstance(shuffle, AspectBuckets):
        ratios = aspect_ratios(dataset)
        order = Bucketed(ratios if chosen is None else ratios[chosen], shuffle, seed)
    elif shuffle:
        order = GlobalShuffle(count, seed)
    return order if chosen is None else Among(order, chosen)


class _Columns(dict[str, NDArray[Any]]):
    """What a subset's predicate is given."""

    def __missing__(self, name: str) -> NDArray[Any]:
        known = ", ".join(self)
        raise ArgumentError(
            f"A subset's predicate asks for the column {name!r}; there are {known}."
        )


def _chosen(dataset: Dataset, subset: Subset) -> NDArray[np.int64]:
    if callable(subset):
        mask = np.asarray(subset(_Columns(dataset.columns("label", "height", "width"))))
        if mask.shape != (len(dataset),) or mask.dtype != np.bool_:
            raise ArgumentError("A subset's predicate must give one bool for each sample.")
        return np.flatnonzero(mask)
    given = _array(subset)
    if given.ndim != 1 or (given.size and given.dtype.kind not in "iubO"):
        raise ArgumentError(
            "A subset is a list of sample numbers, one bool for each sample, or a function of the "
            f"columns that gives these, not {subset!r:.200}."
        )
    if given.dtype == np.bool_:
        if len(given) != len(dataset):
            raise ArgumentError(
                f"A subset of bools has one for each sample: {len(dataset)}, not {len(given)}."
            )
        return np.flatnonzero(given)
    if not hasattr(subset, "dtype"):  # of a list such as [True, 2] NumPy makes integers
        return np.array([_sample_number(one, len(dataset), "subset") for one in subset], np.int64)
    for number in given[(given < 0) | (given >= len(dataset))][:1]:
        _sample_number(number, len(dataset), "subset")
    return given.astype(np.int64)


def _weights(dataset: Dataset, weights: Any, chosen: NDArray[np.int64] | None) -> NDArray[Any]:
    if isinstance(weights, ClassBalanced):
        labels = dataset.labels if chosen is None else dataset.labels[chosen]
        if (labels < 0).any():
            raise ArgumentError("ClassBalanced needs a label for every sample.")
        counts: NDArray[Any] = np.bincount(labels)
        return 1.0 / counts[labels]
    given = _array(weights, np.float64)
    if given.shape != (len(dataset),):
        raise ArgumentError(
            f"weights must be {len(dataset)} numbers, one for each sample, or ClassBalanced(), not "
            f"{weights!r:.200}."
        )
    return given if chosen is None else given[chosen]


def _sample_number(given: Any, total: int, what: str = "sampler") -> int:
    """`given` as a sample's number: an integer, also NumPy's, or torch's as its samplers give them.

    Raises:
        ArgumentError: it is none, or there is no such sample.
    """
    if type(given) is not int:
        array = _array(given)
        if array.ndim or array.dtype.kind not in "iu":
            advice = ""
            if isinstance(given, (list, tuple)):
                advice = (
                    ": in place of a BatchSampler, give its sampler, and batch_size to the Loader"
                )
            raise ArgumentError(f"A {what} gives sample numbers, not {given!r:.200}{advice}.")
        given = int(array)
    if not 0 <= given < total:
        raise ArgumentError(
            f"The {what} gives sample {given}; those of the data set are 0 to {total - 1}."
        )
    return given


def _array(given: Any, dtype: Any = None) -> NDArray[Any]:
    """`given` as an array; one of nothing's shape and type where it cannot become one."""
    try:
        return np.asarray(given, dtype)
    except (TypeError, ValueError, RuntimeError):  # rows of different lengths; a GPU's tensor
        return np.empty((), object)


def _described(numbers: NDArray[Any]) -> str:
    digest = hashlib.blake2b(numbers.astype(numbers.dtype.newbyteorder("<")).tobytes())
    return f"{len(numbers)} numbers, fingerprint {digest.hexdigest()[:12]}"
