"""What every order keeps: an epoch has every sample once, and any positions are known at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from orders import SHUFFLES

from reader import AspectBuckets, BlockShuffle
from reader.order.blocks import BlockShuffled
from reader.order.buckets import Bucketed
from reader.order.mixed import Mixed, MixPart
from reader.order.samplers import plain_order
from reader.order.shuffle import Order

SIZES = st.lists(st.integers(0, 30), min_size=1, max_size=12).filter(any)
KINDS = ("in turn", "shuffled", "by blocks", "in streams", "in buckets", "mixed")


def order_of(kind: str, sizes: list[int], seed: int, shards: int = 2, steps: int = 4) -> Order:
    """An order of shards of these sizes; `shards` and `steps` are numbers that some kinds have."""
    if kind == "in buckets":
        pixels = np.random.default_rng(0).integers(100, 400, (2, sum(sizes)))
        return Bucketed(pixels, AspectBuckets(shards, steps), seed)
    if kind == "mixed":  # an epoch of it is a pass over its only part
        return Mixed.of([MixPart(plain_order(True, seed, sizes), sum(sizes))])
    shuffle = SHUFFLES[kind]
    if isinstance(shuffle, BlockShuffle):
        shuffle = BlockShuffle(shards, shuffle.streams and steps)
    return plain_order(shuffle, seed, sizes)


@st.composite
def orders(draw: st.DrawFn, kind: str) -> Order:
    sizes, seed = draw(SIZES), draw(st.integers(0, 2**64))
    return order_of(kind, sizes, seed, draw(st.integers(1, 14)), draw(st.integers(1, 9)))


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)
@given(data=st.data())
def test_an_epoch_has_every_sample_once_and_any_positions_are_known_at_once(
    kind: str, data: st.DataObject
) -> None:
    order, epoch = data.draw(orders(kind)), data.draw(st.integers(0, 9))
    whole = order.samples(np.arange(order.count), epoch)
    assert sorted(whole.tolist()) == list(range(order.count))
    some = data.draw(st.lists(st.integers(0, order.count - 1), min_size=1, max_size=9))
    assert order.samples(np.array(some), epoch).tolist() == whole[some].tolist()
    if kind == "in turn":
        assert whole.tolist() == list(range(order.count))


@pytest.mark.parametrize("kind", KINDS[1:])
def test_two_epochs_and_two_seeds_have_orders_of_their_own(kind: str) -> None:
    found = {
        tuple(order_of(kind, [10] * 10, seed).samples(np.arange(100), epoch).tolist())
        for seed in (0, 1)
        for epoch in (0, 1)
    }
    assert len(found) == 4


@settings(deadline=None)
@given(
    sizes=st.lists(st.integers(0, 30), min_size=1, max_size=12).filter(any),
    shards=st.integers(1, 14),
    seed=st.integers(0, 2**64),
    epoch=st.integers(0, 5),
)
def test_a_block_shuffle_reads_few_shards_at_a_time(
    sizes: list[int], shards: int, seed: int, epoch: int
) -> None:
    order = BlockShuffled(sizes, shards, seed)
    found = order.samples(np.arange(order.count), epoch)
    shard_of = np.repeat(np.arange(len(sizes)), sizes)[found]
    seen: list[int] = list(dict.fromkeys(shard_of.tolist()))
    for first in range(0, len(seen), shards):
        window = set(seen[first : first + shards])
        rest = seen[first + shards :]
        last = np.flatnonzero(np.isin(shard_of, list(window))).max()
        assert not rest or last < np.flatnonzero(np.isin(shard_of, rest)).min()
