"""A few shards at a time."""

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
