"""Opening a dataset, and its order, take at most twice the work for twice the shards or samples."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from delivered import load
from growth import assert_linear
from orders import SHUFFLES

from reader import AspectBuckets, BlockShuffle, Dataset
from reader.order.access import AccessPattern
from reader.order.buckets import Bucketed
from reader.order.samplers import Drawn, plain_order
from reader.order.shuffle import GlobalShuffle, Order
from reader.order.steps import Steps

# A shuffle of 2,450 (49 x 50), 4,900 (70 x 70) or 9,800 (99 x 99 - 1) samples skips next to no
# numbers; of more than 64 samples or shards, as those here (of a stream, too), none uses a table.
_SHARDS = 70  # of an order, or of each of two streams
_SAMPLES = 35  # of a shard
ORDERS: dict[str, Callable[[list[int]], Order]] = {
    **{name: partial(plain_order, shuffle, 1) for name, shuffle in SHUFFLES.items()},
    "in streams": partial(plain_order, BlockShuffle(2, streams=2), 1),
    "by weight": lambda sizes: Drawn(np.cumsum(np.ones(sum(sizes))), 1),
    "in buckets": lambda sizes: Bucketed(
        np.stack([np.full(sum(sizes), 99), np.arange(50, 50 + sum(sizes))]),
        AspectBuckets(4, window=16),
        1,
    ),
}


@pytest.mark.parametrize(
    "direction", ["shards", "samples", pytest.param("splits", marks=pytest.mark.slow)]
)
def test_opening_and_what_indexes_know(
    direction: str, grown_dataset: Callable[[str, int], Path]
) -> None:
    def use(n: int) -> Callable[[], object]:
        folder = grown_dataset(direction, n)

        def run() -> None:
            dataset = Dataset(folder)
            assert len(dataset) == len(dataset.targets) == len(dataset.keys) == 5 * n
            dataset.samples, dataset.class_to_idx, dataset.fingerprint, repr(dataset)
            dataset.sizes(), list(dataset.keys), list(dataset.names)
            dataset.subset(range(0, 5 * n, 2)).sizes()

        return run

    assert_linear(use)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] * (name not in ("shuffled", "in streams")))
        for name in ORDERS
    ],
)
def test_an_order_is_built_and_looked_up(name: str) -> None:
    def use(n: int) -> Callable[[], object]:
        def run() -> None:
            order = ORDERS[name]([_SAMPLES] * n)
            for start in range(0, order.count, 64):
                order.samples(np.arange(start, min(start + 64, order.count)), 0)
            order.samples(np.arange(order.count), 1)

        return run

    assert_linear(use, _SHARDS * (1 + (name == "in streams")))


@pytest.mark.parametrize("direction", ["shards", "samples"])
@pytest.mark.parametrize("name", SHUFFLES)
def test_what_is_read_next_is_planned(name: str, direction: str) -> None:
    def use(n: int) -> Callable[[], object]:
        sizes = [_SAMPLES] * n if direction == "shards" else [n] * _SAMPLES
        order = ORDERS[name](sizes)
        ahead = AccessPattern(order, Steps(order.count, 64, 0, 1, False, residue=0), tuple(sizes))

        def run() -> None:
            for step in range(len(ahead.steps)):
                ahead.pieces(step)

        return run

    assert_linear(use, _SHARDS * (1 + (name == "in streams")))


def test_an_epoch_is_shuffled_over_shards(grown_dataset: Callable[[str, int], Path]) -> None:
    def use(n: int) -> Callable[[], object]:
        dataset = Dataset(grown_dataset("shards", n))
        numbers = GlobalShuffle(len(dataset), 1).samples(np.arange(len(dataset)), 0).tolist()

        def run() -> None:
            dataset.keep_open()  # as a worker does
            for number in numbers:
                dataset.locate(number)

        return run

    # More than 128, when doubled: in the user's process fewer stay open.
    assert_linear(use, 65, allocations=False)


def test_batches_of_a_subset_are_loaded_and_their_state_is_saved(
    grown_dataset: Callable[[str, int], Path],
) -> None:
    whole = Dataset(grown_dataset("samples", 60))

    def use(n: int) -> Callable[[], object]:
        subset = whole.subset(np.arange(0, 4 * n, 2)[::-1])
        loader = load(subset, batch_size=2, shuffle=True, batches_ahead=1)

        def run() -> None:
            for _ in loader:
                loader.state_dict()
            loader.close()

        return run

    assert_linear(use, 36)  # of 72 (9 x 8) or 144 (12 x 12) samples
