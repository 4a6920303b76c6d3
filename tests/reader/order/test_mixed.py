"""Orders that are dealt out in proportion."""

from collections import Counter
from math import gcd

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reader import ArgumentError, BlockShuffle
from reader.order.mixed import Mixed, MixPart
from reader.order.shuffle import GlobalShuffle, Order, Sequential
from reader.order.streams import Streamed

SIZES = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 40)), min_size=1, max_size=6)


def mixed(sizes: list[tuple[int, int]]) -> Mixed:
    """Parts of so many samples and so many positions an epoch, their numbers 1,000 apart."""
    return Mixed.of(
        [MixPart(GlobalShuffle(n, at), share, 1000 * at) for at, (n, share) in enumerate(sizes)]
    )


def epoch_of(order: Order, epoch: int) -> list[int]:
    return order.samples(np.arange(order.count), epoch).tolist()


@settings(deadline=None)
@given(sizes=SIZES, epoch=st.integers(0, 50))
def test_every_epoch_has_each_parts_share_exactly(sizes: list[tuple[int, int]], epoch: int) -> None:
    found = Counter(number // 1000 for number in epoch_of(mixed(sizes), epoch))
    assert [found[part] for part in range(len(sizes))] == [share for _, share in sizes]


@settings(deadline=None)
@given(sizes=SIZES)
def test_after_whole_passes_every_sample_has_come_equally_often(
    sizes: list[tuple[int, int]],
) -> None:
    order = mixed(sizes)
    for part, (n, share) in enumerate(sizes):
        epochs = n // gcd(n, share)
        numbers = [number for epoch in range(epochs) for number in epoch_of(order, epoch)]
        found = Counter(number for number in numbers if number // 1000 == part)
        assert set(found.values()) == {share * epochs // n}
        assert len(found) == n


@settings(deadline=None)
@given(sizes=SIZES, begin=st.integers(0, 200), length=st.integers(1, 64))
def test_any_run_of_positions_has_each_parts_share_to_within_three_samples(
    sizes: list[tuple[int, int]], begin: int, length: int
) -> None:
    order = mixed(sizes)
    epochs = (begin + length) // order.count + 1
    numbers = [number for epoch in range(epochs) for number in epoch_of(order, epoch)]
    found = Counter(number // 1000 for number in numbers[begin : begin + length])
    for part, (_, share) in enumerate(sizes):
        assert abs(found[part] - length * share / order.count) <= 3


def test_streams_stay_apart() -> None:
    shuffle = BlockShuffle(1, streams=4)
    parts = [
        MixPart(Streamed([9, 8, 7], shuffle, 1), 12),
        MixPart(Streamed([5, 40], shuffle, 2), 8, 24),
    ]
    order = Mixed.of(parts)
    read: dict[int, set[int]] = {stream: set() for stream in range(4)}
    for epoch in range(9):
        for position, number in enumerate(epoch_of(order, epoch)):
            read[position % 4].add(number)
    shared = [number for number in range(69) if sum(number in own for own in read.values()) > 1]
    assert set().union(*read.values()) == set(range(69))
    assert len(shared) < 4  # those that belong to no stream come in any


def test_what_is_too_long_to_be_dealt_out_is_refused() -> None:
    with pytest.raises(ArgumentError, match="An epoch of a Mix has at most 3,000,000,000 samples"):
        Mixed.of([MixPart(Sequential(9), 2 * 10**9), MixPart(Sequential(9), 2 * 10**9, 9)])
