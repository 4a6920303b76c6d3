"""Weighted and repeated orders, and the choice of a loader's order by its arguments."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.checks import brief, check, is_count, or_none
from reader.dataset.dataset import Dataset
from reader.dataset.locator import array_of, described
from reader.dataset.mix import Mix
from reader.errors import ArgumentError
from reader.order.blocks import BlockShuffle, BlockShuffled
from reader.order.buckets import AspectBuckets, Bucketed, sizes_of
from reader.order.mixed import Mixed, MixPart
from reader.order.sampled import GivenBatches, GivenOrder
from reader.order.shuffle import GlobalShuffle, Numbers, Order, Sequential
from reader.order.streams import Streamed
from reader.rng import mix64

_AT_ONCE = 1 << 20  # samples


class Weighted:
    """A draw with replacement; sample i has a probability proportional to ``weights[i]``.

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

    def __init__(
        self, weights: Sequence[float] | NDArray[Any], num_samples: int | None = None
    ) -> None:
        """Store the weights.

        Args:
            weights: a finite number of at least 0 for each sample.
            num_samples: samples that an epoch draws; None for as many as there are weights.

        Raises:
            ArgumentError: they are not of this kind.
        """
        given = array_of(weights, np.float64)
        if given.ndim != 1 or not len(given) or not np.isfinite(given.sum()) or given.min() < 0:
            is_wrong = ~(given >= 0) | np.isinf(given) if given.ndim == 1 else np.empty(0)
            where = (f", where number {n} is {given[n]}" for n in np.flatnonzero(is_wrong)[:1])
            raise ArgumentError(
                "reader.Weighted takes a finite number of at least 0 for each sample, not "
                f"{brief(weights)}{''.join(where)}."
            )
        if not given.any():
            raise ArgumentError("All weights of reader.Weighted are 0. Give at least one above 0.")
        check(locals(), {"num_samples": (or_none(is_count), "an integer of at least 1, or None")})
        self.weights = given
        self.num_samples = num_samples

    def __repr__(self) -> str:
        return f"<reader.Weighted: {len(self.weights)} weights>"


@dataclass(frozen=True)
class ClassBalanced:
    """A draw with replacement; every class comes equally often, regardless of its size.

    Example:
        >>> order = dict(sampler=reader.ClassBalanced())
        >>> with reader.Loader("shards", batch_size=7, fields=("index",), **order) as loader:
        ...     len(loader)
        4
    """

    __module__ = "reader"


@dataclass(frozen=True)
class RepeatedAugmentation:
    """A shuffle that delivers each sample `repetitions` times in a row, with other augmentations.

    Consecutive repetitions go to consecutive ranks, as with the samplers of torchvision's
    references and of DeiT (Hoffer et al., "Augment your batch", 2020). An epoch still has as many
    samples as the dataset, so it shows ``1 / repetitions`` of the images; the next one continues
    with the others. After `repetitions` epochs, every sample has come exactly that often.

    Example:
        >>> order = dict(sampler=reader.RepeatedAugmentation(3), epoch_size=9)
        >>> with reader.Loader("shards", batch_size=9, fields=("index",), **order) as loader:
        ...     (numbers,) = next(iter(loader))
        >>> [len(set(numbers[at : at + 3].tolist())) for at in (0, 3, 6)]
        [1, 1, 1]
    """

    __module__ = "reader"

    repetitions: int = 3

    def __post_init__(self) -> None:
        check(vars(self), {"repetitions": (is_count, "an integer of at least 1")})


Shuffle = bool | BlockShuffle | AspectBuckets
Sampler = Iterable[int] | Weighted | ClassBalanced | RepeatedAugmentation
BatchSampler = Iterable[Iterable[int]]


class Drawn(Order):
    def __init__(self, ends: NDArray[np.float64], seed: int, count: int | None = None) -> None:
        """Store the running totals of the weights; they become shares, in place."""
        ends /= ends[-1]
        self._ends = ends
        self._seed = seed
        self.count = len(ends) if count is None else count

    def samples(self, positions: Numbers, epoch: int) -> Numbers:
        key = mix64(mix64(self._seed & 2**64 - 1) + epoch & 2**64 - 1)
        with np.errstate(over="ignore"):
            mixed = mix64(mix64(positions.astype(np.uint64) ^ np.uint64(key)))
        draws = (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return np.minimum(np.searchsorted(self._ends, draws, side="right"), len(self._ends) - 1)

    def options(self, epoch: int | None) -> dict[str, str]:
        return {"weights": self._description}

    @cached_property
    def _description(self) -> str:
        return described(self._ends)


@dataclass(frozen=True)
class Repeated(Order):
    """Each sample of an order `times` times in a row; ranks take turns."""

    order: Order
    times: int

    @property
    def count(self) -> int:  # type: ignore[override]
        return self.order.count * self.times

    def samples(self, positions: Numbers, epoch: int) -> Numbers:
        return self.order.samples(positions // self.times, epoch)

    def options(self, epoch: int | None) -> dict[str, str]:
        return {"sampler": f"RepeatedAugmentation({self.times})"}

    def residue(self, rank: int, world_size: int) -> int | None:
        return rank


def build_order(
    dataset: Dataset,
    shuffle: Shuffle,
    seed: int,
    sampler: Sampler | None = None,
    batch_sampler: BatchSampler | None = None,
    size: int | None = None,
    epoch_size: int | None = None,
) -> Order:
    if not isinstance(shuffle, (bool, BlockShuffle, AspectBuckets)):
        raise ArgumentError(
            "shuffle is True, False, reader.BlockShuffle(shards=...) or "
            "reader.AspectBuckets(batch_size=...)."
        )
    if sampler is not None and shuffle:
        raise ArgumentError("shuffle= and sampler= both determine the order. Leave one out.")
    if isinstance(dataset, Mix) and (dataset.is_weighted or dataset.is_drawn):
        if sampler is not None or batch_sampler is not None:
            raise ArgumentError(
                "The numbers of this Mix and the sampler both choose samples. Leave the sampler "
                "out, or give reader.Mix no numbers and no replacement=."
            )
        return _mixed(dataset, shuffle, seed, epoch_size)
    if batch_sampler is not None:
        return GivenBatches(batch_sampler, len(dataset), size)
    order = _order(dataset, shuffle, seed, sampler)
    if epoch_size is None and isinstance(order, Repeated):
        epoch_size = len(dataset)
    if epoch_size in (None, order.count):
        return order
    if isinstance(order, GivenOrder) or getattr(sampler, "num_samples", None) is not None:
        raise ArgumentError(
            "The sampler determines the length of an epoch. Leave out epoch_size, or let the "
            "sampler yield as many samples."
        )
    return Mixed.of([MixPart(order, epoch_size)])


def _order(dataset: Dataset, shuffle: Shuffle, seed: int, sampler: Sampler | None) -> Order:
    if isinstance(sampler, Weighted):
        if len(sampler.weights) != len(dataset):
            raise ArgumentError(
                f"{sampler!r} does not fit the dataset: give {len(dataset)} weights, one for each "
                "sample."
            )
        return Drawn(np.cumsum(sampler.weights), seed, sampler.num_samples)
    if isinstance(sampler, ClassBalanced):
        weights = _balanced(dataset)
        return Drawn(np.cumsum(weights, out=weights), seed)
    if isinstance(sampler, RepeatedAugmentation):
        return Repeated(GlobalShuffle(len(dataset), seed), sampler.repetitions)
    if sampler is not None:
        return GivenOrder(sampler, len(dataset))
    if isinstance(shuffle, BlockShuffle):
        numbers, sizes = dataset.places.by_shard()
        return plain_order(shuffle, seed, sizes, numbers)
    if isinstance(shuffle, AspectBuckets):
        return Bucketed(sizes_of(dataset), shuffle, seed)
    return plain_order(shuffle, seed, [len(dataset)])


def plain_order(
    shuffle: bool | BlockShuffle,
    seed: int,
    sizes: Sequence[int],
    numbers: Numbers | None = None,
) -> Order:
    if isinstance(shuffle, BlockShuffle):
        if shuffle.streams is None:
            return BlockShuffled(sizes, shuffle.shards, seed, numbers)
        return Streamed(sizes, shuffle, seed, numbers)
    return GlobalShuffle(sum(sizes), seed) if shuffle else Sequential(sum(sizes))


def _mixed(mix: Mix, shuffle: Shuffle, seed: int, epoch_size: int | None) -> Order:
    is_by_shard = isinstance(shuffle, BlockShuffle)
    if isinstance(shuffle, AspectBuckets) or (mix.is_drawn and is_by_shard):
        raise ArgumentError(
            f"{shuffle!r} is for a Mix without numbers and without replacement=True: give "
            "shuffle=True."
        )
    if mix.is_drawn:
        counts = np.array([*mix.counts(epoch_size).values()])
        weights = (counts / np.maximum(mix.lengths, 1))[mix.sources(np.arange(len(mix)))]
        return Drawn(np.cumsum(weights), seed, int(counts.sum()))
    streams = getattr(shuffle, "streams", None) or 1
    if epoch_size is not None and epoch_size % streams:
        raise ArgumentError(
            f"With {shuffle!r}, an epoch of a Mix has a multiple of {streams} samples: give "
            f"epoch_size={epoch_size - epoch_size % streams or streams}."
        )
    numbers: Numbers | None = None  # of the samples, one dataset after the other; None: as they are
    sizes, edges = mix.lengths.tolist(), list(range(len(mix.parts) + 1))
    if is_by_shard:
        (numbers, sizes), edges = mix.places.by_shard(), mix.edges
    elif mix.places.chosen is not None:
        numbers = np.argsort(mix.sources(np.arange(len(mix))), kind="stable")
    parts, start = [], 0
    shares = mix.counts(epoch_size, multiple=streams).values()
    for number, (share, (first, stop)) in enumerate(zip(shares, pairwise(edges), strict=True)):
        own = sizes[first:stop]
        if share:
            order = plain_order(shuffle, mix64(seed + number & 2**64 - 1), own)
            chosen = None if numbers is None else numbers[start : start + order.count]
            parts.append(MixPart(order, share, start, chosen))
        start += sum(own)
    return Mixed.of(parts, ", ".join(f"{part.share} of {part.order.count}" for part in parts))


def _balanced(dataset: Dataset) -> NDArray[np.float64]:
    labels = dataset.computed(itemgetter("label"), "label")
    if lacking := int((labels < 0).sum()):
        raise ArgumentError(
            f"reader.ClassBalanced needs a label for every sample; {lacking:,} of {len(dataset):,} "
            "have none. Choose a labelled split with split=, or use "
            "dataset.subset(dataset.labels >= 0)."
        )
    # In parts: NumPy makes int64 of what it counts, and of what it takes numbers by.
    parts = np.array_split(labels, len(labels) // _AT_ONCE + 1)
    classes = int(labels.max(initial=0)) + 1
    counts = np.sum([np.bincount(part, minlength=classes) for part in parts], axis=0)
    of_class, weights = 1.0 / np.maximum(counts, 1), np.empty(len(labels))
    for part, own in zip(parts, np.array_split(weights, len(parts)), strict=True):
        own[:] = of_class[part]
    return weights
