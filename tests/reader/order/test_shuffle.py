"""Orders are permutations, and even ones."""

import math
import tracemalloc
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reader.order.shuffle import GlobalShuffle

SEEDS = st.integers(-(2**63), 2**64)
EPOCHS = st.integers(0, 2**40)


def order_of(count: int, seed: int, epoch: int) -> list[int]:
    return GlobalShuffle(count, seed).samples(np.arange(count), epoch).tolist()


@given(count=st.integers(0, 3000), seed=SEEDS, epoch=EPOCHS)
@settings(deadline=None)
def test_a_shuffle_holds_every_sample_exactly_once(count: int, seed: int, epoch: int) -> None:
    assert sorted(order_of(count, seed, epoch)) == list(range(count))


@given(count=st.integers(1, 2**62), seed=SEEDS, epoch=EPOCHS, data=st.data())
@settings(deadline=None)
def test_positions_are_those_of_single_ones_for_any_count(
    count: int, seed: int, epoch: int, data: st.DataObject
) -> None:
    positions = data.draw(st.lists(st.integers(0, count - 1), min_size=1, max_size=5, unique=True))
    order = GlobalShuffle(count, seed)
    found = order.samples(np.array(positions), epoch).tolist()
    assert found == [int(order.samples(np.array([one]), epoch)[0]) for one in positions]
    assert len(set(found)) == len(found)
    assert all(0 <= sample < count for sample in found)


@pytest.mark.parametrize("count", [1000, 1024, 1025])
def test_a_shuffled_order_has_no_memory_of_the_first(count: int) -> None:
    limit = 5 / np.sqrt(count)  # five standard deviations of the correlation of random orders
    for epoch in range(5):
        order = np.array(order_of(count, 0, epoch))
        following = np.array(order_of(count, 0, epoch + 1))
        assert abs(np.corrcoef(np.arange(count), order)[0, 1]) < limit
        assert abs(np.corrcoef(order[:-1], order[1:])[0, 1]) < limit
        assert abs(np.corrcoef(order, following)[0, 1]) < limit


@pytest.mark.parametrize("stride", [1, 2**20, 10**5])
def test_neighbours_among_ten_thousand_million_land_evenly_and_apart(stride: int) -> None:
    count, drawn, bins = 10**10, 50_000, 250
    for seed in range(3):
        positions = 10**9 + stride * np.arange(drawn)
        found = GlobalShuffle(count, seed).samples(positions % count, epoch=seed)
        assert len(set(found.tolist())) == drawn
        expected = drawn / bins
        for place in (found / count, (found % 1000 + 0.5) / 1000, np.diff(found) % count / count):
            table, _ = np.histogram(place, bins, (0, 1))
            chi_square = float(((table - len(place) / bins) ** 2 / expected).sum())
            # Five standard deviations of a chi-square with bins - 1 degrees of freedom.
            assert abs(chi_square - (bins - 1)) < 5 * np.sqrt(2 * (bins - 1))
        assert abs(np.corrcoef(found[:-1], found[1:])[0, 1]) < 5 / np.sqrt(drawn)


def test_the_size_of_a_shuffle_costs_no_memory() -> None:
    order = GlobalShuffle(10**10, 0)
    order.samples(np.array([0]), epoch=0)
    tracemalloc.start()
    try:
        for position in range(0, 10**10, 10**7):
            order.samples(np.array([position]), epoch=0)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert held < 10_000


def permutations_of(count: int, epochs: int) -> np.ndarray:
    """The orders of so many epochs, a row each."""
    order = GlobalShuffle(count, seed=1)
    return np.array([order.samples(np.arange(count), epoch) for epoch in range(epochs)])


def z_of(counts: np.ndarray, freedom: int) -> float:
    """How many standard deviations the chi-square of equally likely counts is off its mean."""
    expected = counts.sum() / counts.size
    return float(((counts - expected) ** 2 / expected).sum() - freedom) / np.sqrt(2 * freedom)


@pytest.mark.parametrize("count", [*range(2, 12), 16, 17, 31, 32, 43, 47, 48, 49, 64, 65])
def test_a_shuffle_of_few_elements_is_even_in_positions_neighbours_and_parity(count: int) -> None:
    epochs = 1500
    found = permutations_of(count, epochs)
    table = np.zeros((count, count))
    np.add.at(table, (np.arange(count), found), 1)
    assert abs(z_of(table, (count - 1) ** 2)) < 5  # which comes when
    pairs = np.zeros((count, count))
    np.add.at(pairs, (found[:, 0], found[:, -1]), 1)
    assert abs(z_of(pairs[~np.eye(count, dtype=bool)], count * (count - 1) - 1)) < 5
    inversions = sum((found[:, :at] > found[:, at : at + 1]).sum(axis=1) for at in range(count))
    odd = int((np.asarray(inversions) % 2).sum())
    assert abs(odd - epochs / 2) < 5 * np.sqrt(epochs / 4)


@pytest.mark.parametrize("count", [2, 3, 4, 5])
def test_every_permutation_of_a_tiny_set_is_equally_likely(count: int) -> None:
    seen = Counter(map(tuple, permutations_of(count, 100 * math.factorial(count)).tolist()))
    assert len(seen) == math.factorial(count)
    assert abs(z_of(np.array([*seen.values()]), len(seen) - 1)) < 5
