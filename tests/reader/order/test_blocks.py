"""Every sample once, a few shards at a time."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from reader.order.blocks import BlockShuffled


@settings(deadline=None)
@given(
    sizes=st.lists(st.integers(0, 30), min_size=1, max_size=12).filter(any),
    shards=st.integers(1, 14),
    seed=st.integers(0, 2**64),
    epoch=st.integers(0, 5),
)
def test_a_block_shuffle_gives_every_sample_once_and_reads_few_shards_at_a_time(
    sizes: list[int], shards: int, seed: int, epoch: int
) -> None:
    order = BlockShuffled(sizes, shards, seed)
    found = order.samples(np.arange(order.count), epoch)
    assert sorted(found.tolist()) == list(range(sum(sizes)))
    shard_of = np.repeat(np.arange(len(sizes)), sizes)[found]
    seen: list[int] = list(dict.fromkeys(shard_of.tolist()))
    for first in range(0, len(seen), shards):
        window = set(seen[first : first + shards])
        rest = seen[first + shards :]
        last = np.flatnonzero(np.isin(shard_of, list(window))).max()
        assert not rest or last < np.flatnonzero(np.isin(shard_of, rest)).min()


@given(st.data())
def test_any_position_of_a_block_shuffle_can_be_asked_for_alone(data: st.DataObject) -> None:
    order = BlockShuffled([7, 11, 3, 9], 2, seed=4)
    position = data.draw(st.integers(0, 29))
    whole = order.samples(np.arange(30), 3)
    assert order.samples(np.array([position]), 3).tolist() == [whole[position]]


def test_block_shuffles_of_two_epochs_differ() -> None:
    order = BlockShuffled([10] * 10, 3, seed=0)
    one, two = (order.samples(np.arange(100), epoch).tolist() for epoch in (0, 1))
    assert one != two
