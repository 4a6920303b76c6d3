"""Weighted orders, and the choice of a loader's order by its arguments."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.dataset.dataset import Dataset
from reader.dataset.locator import array_of, described
from reader.errors import ArgumentError
from reader.order.blocks import BlockShuffle, BlockShuffled
from reader.order.buckets import AspectBuckets, Bucketed, aspect_ratios
from reader.order.sampled import Sampled, SampledBatches
from reader.order.shuffle import GlobalShuffle, Numbers, Order, Sequential
from reader.order.streams import Streamed
from reader.rng import mix64


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

    def __init__(self, weights: Sequence[float] | NDArray[Any]) -> None:
        """Store the weights: a finite number of at least 0 for each sample."""
        given = array_of(weights, np.float64)
        if given.ndim != 1 or not len(given) or not np.isfinite(given.sum()) or given.min() < 0:
            raise ArgumentError(
                "reader.Weighted takes a finite number of at least 0 for each sample, not "
                f"{weights!r:.200}."
            )
        if not given.any():
            raise ArgumentError("All weights of reader.Weighted are 0. Give at least one above 0.")
        self.weights = given

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


Shuffle = bool | BlockShuffle | AspectBuckets
Sampler = Iterable[int] | Weighted | ClassBalanced
BatchSampler = Iterable[Iterable[int]]


class Drawn(Order):
    def __init__(self, weights: NDArray[np.float64], seed: int) -> None:
        ends = np.cumsum(weights)
        self._ends = ends / ends[-1]
        self._seed = seed
        self.count = len(ends)

    def samples(self, positions: Numbers, epoch: int) -> Numbers:
        key = mix64(mix64(self._seed & 2**64 - 1) + epoch & 2**64 - 1)
        with np.errstate(over="ignore"):
            mixed = mix64(mix64(positions.astype(np.uint64) ^ np.uint64(key)))
        draws = (mixed >> np.uint64(11)).astype(np.float64) * 2.0**-53
        return np.minimum(np.searchsorted(self._ends, draws, side="right"), self.count - 1)

    def options(self, epoch: int | None) -> dict[str, str]:
        return {"weights": self._description}

    @cached_property
    def _description(self) -> str:
        return described(self._ends)


def build_order(
    dataset: Dataset,
    shuffle: Shuffle,
    seed: int,
    sampler: Sampler | None = None,
    batch_sampler: BatchSampler | None = None,
    size: int | None = None,
) -> Order:
    if not isinstance(shuffle, (bool, BlockShuffle, AspectBuckets)):
        raise ArgumentError(
            "shuffle is True, False, reader.BlockShuffle(shards=...) or "
            "reader.AspectBuckets(batch_size=...)."
        )
    if sampler is not None and shuffle:
        raise ArgumentError("shuffle= and sampler= both determine the order. Leave one out.")
    if batch_sampler is not None:
        return SampledBatches(batch_sampler, len(dataset), size)
    if isinstance(sampler, Weighted):
        if len(sampler.weights) != len(dataset):
            raise ArgumentError(
                f"{sampler!r} does not fit the dataset: give {len(dataset)} weights, one for each "
                "sample."
            )
        return Drawn(sampler.weights, seed)
    if isinstance(sampler, ClassBalanced):
        return Drawn(_balanced(dataset), seed)
    if sampler is not None:
        return Sampled(sampler, len(dataset))
    if isinstance(shuffle, BlockShuffle):
        numbers, sizes = dataset.places.by_shard()
        return plain_order(shuffle, seed, sizes, numbers)
    if isinstance(shuffle, AspectBuckets):
        return Bucketed(aspect_ratios(dataset), shuffle, seed)
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


def _balanced(dataset: Dataset) -> NDArray[np.float64]:
    if lacking := int((dataset.labels < 0).sum()):
        raise ArgumentError(
            f"reader.ClassBalanced needs a label for every sample; {lacking:,} of {len(dataset):,} "
            "have none. Choose a labelled split with split=, or use "
            "dataset.subset(dataset.labels >= 0)."
        )
    counts = np.bincount(dataset.labels)
    return 1.0 / counts[dataset.labels]
