"""Streams: every sample once, by ranks that read apart from each other, whatever their number."""

from pathlib import Path

import numpy as np
import pytest
from delivered import load
from hypothesis import given, settings
from hypothesis import strategies as st

from reader import ArgumentError, BlockShuffle
from reader.order.steps import Steps
from reader.order.streams import Streamed

SIZES = st.lists(st.integers(0, 30), min_size=1, max_size=12).filter(any)
STREAMS = st.integers(1, 9)


@st.composite
def streamed(draw: st.DrawFn) -> Streamed:
    shuffle = BlockShuffle(draw(st.integers(1, 5)), draw(STREAMS))
    return Streamed(draw(SIZES), shuffle, draw(st.integers(0, 2**64)))


def ranks_of(order: Streamed) -> st.SearchStrategy[int]:
    """World sizes that it can be divided among."""
    streams = order.streams
    divisors = [size for size in range(1, streams + 1) if streams % size == 0]
    return st.sampled_from([*divisors, 2 * streams, 3 * streams])


@settings(deadline=None)
@given(order=streamed(), epoch=st.integers(0, 9))
def test_a_stream_has_the_same_samples_in_every_epoch_but_for_a_few_at_the_end(
    order: Streamed, epoch: int
) -> None:
    def streams(epoch: int) -> list[set[int]]:
        inside = np.arange(order.count // order.streams * order.streams)
        samples = order.samples(inside, epoch)
        number = (inside + epoch * order.count) % order.streams
        return [set(samples[number == stream].tolist()) for stream in range(order.streams)]

    assert streams(epoch) == streams(epoch + 1)


@settings(deadline=None)
@given(order=streamed(), epoch=st.integers(0, 5))
def test_a_stream_has_few_shards_open_at_a_time(order: Streamed, epoch: int) -> None:
    blocks = order.blocks(epoch)
    assert blocks.size.sum() == order.count
    whole = order.samples(np.arange(order.count), epoch)
    for first, last, start, size in zip(*(column.tolist() for column in blocks), strict=True):
        positions = np.flatnonzero((whole >= start) & (whole < start + size))
        assert first <= positions.min()
        assert positions.max() <= last
        assert set((positions - first) % order.streams) == {0}
    for position in range(order.count):
        is_open = (blocks.first <= position) & (position <= blocks.last)
        assert is_open.sum() <= order.shards * order.streams + order.streams


@settings(deadline=None)
@given(order=streamed(), data=st.data(), start=st.integers(0, 500), batch_size=st.integers(1, 9))
def test_each_rank_reads_streams_of_its_own_wherever_it_begins(
    order: Streamed, data: st.DataObject, start: int, batch_size: int
) -> None:
    world_size = data.draw(ranks_of(order))
    own: list[set[int]] = []
    for rank in range(world_size):
        residue = order.residue(rank, world_size)
        steps = Steps(start + 400, batch_size, rank, world_size, False, start, residue=residue)
        taken = np.concatenate([step.positions[: step.valid] for step in steps])
        own.append(set((taken % order.streams).tolist()))
    for rank, streams in enumerate(own):
        together = max(world_size // order.streams, 1)  # neighbours that share a stream
        others = [own[at] for at in range(world_size) if at // together != rank // together]
        assert not streams.intersection(*[set().union(*others)])
    assert set().union(*own) == set(range(order.streams))


@pytest.mark.parametrize("world_size", [3, 5, 6, 12, 20])
def test_a_world_size_that_does_not_divide_the_streams_is_refused(
    packed: Path, world_size: int
) -> None:
    shuffle = BlockShuffle(2, streams=8)
    with pytest.raises(
        ArgumentError,
        match=rf"BlockShuffle\(shards=2, streams=8\) cannot be divided among {world_size} ranks: "
        rf"the world size must .* Set streams= to a multiple of .*, such as \d+\.",
    ) as refused:
        load(packed, shuffle=shuffle, rank=0, world_size=world_size)
    other = BlockShuffle(2, streams=int(str(refused.value).split()[-1].rstrip(".")))
    load(packed, shuffle=other, rank=0, world_size=world_size).close()
