"""What is said of what is read next holds for what is read."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from math import gcd

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from orders import SHUFFLES

from reader.order.access import AccessPattern
from reader.order.mixed import Mixed, MixPart
from reader.order.samplers import plain_order
from reader.order.shuffle import Order
from reader.order.steps import Steps


def plain(kind: str, sizes: list[int]) -> Order:
    return plain_order(SHUFFLES[kind], 5, sizes)


def mixed(kind: str, sizes: list[int]) -> Order:
    """The shards as those of two datasets, of which an epoch has 12 and 4 samples."""
    half = len(sizes) // 2
    starts = 0, sum(sizes[:half])
    parts = zip((sizes[:half], sizes[half:]), (12, 4), starts, strict=True)
    return Mixed.of([MixPart(plain(kind, own), share, at) for own, share, at in parts if sum(own)])


ORDERS = {kind: partial(plain, kind) for kind in SHUFFLES}
MIXED = {f"mixed {kind}": partial(mixed, kind) for kind in SHUFFLES}


@st.composite
def aheads(draw: st.DrawFn, kinds: Iterable[str] = ORDERS) -> AccessPattern:
    sizes = draw(st.lists(st.integers(0, 20), min_size=1, max_size=9).filter(any))
    order = (ORDERS | MIXED)[draw(st.sampled_from([*kinds]))](sizes)
    world_size = draw(st.sampled_from((1, 2, 4, 8)))
    rank = draw(st.integers(0, world_size - 1))
    start = draw(st.integers(0, 2 * order.count))
    residue = order.residue(rank, world_size)
    epochs = draw(st.integers(1, 2))
    stop = (start // order.count + epochs) * order.count
    batch_size = draw(st.integers(1, 9))
    steps = Steps(stop, batch_size, rank, world_size, False, start, residue=residue)
    return AccessPattern(order, steps, tuple(sizes))


def places(ahead: AccessPattern, step: int) -> set[int]:
    """What a step reads that is its rank's own."""
    found = ahead.steps[step]
    epochs, inside = np.divmod(found.positions[: found.valid], ahead.order.count)
    pairs = zip(epochs.tolist(), inside.tolist(), strict=True)
    return {int(ahead.order.samples(np.array([at]), epoch)[0]) for epoch, at in pairs}


@settings(deadline=None)
@given(ahead=aheads(ORDERS | MIXED))
def test_all_that_a_step_reads_was_announced_and_stays_until_then(ahead: AccessPattern) -> None:
    starts = np.cumsum(ahead.sizes) - ahead.sizes
    last: dict[int, int] = {}  # step up to which a place is kept
    for step in range(len(ahead.steps)):
        for piece in ahead.pieces(step):
            assert 0 <= piece.first < piece.stop <= ahead.sizes[piece.shard]
            for row in range(piece.first, piece.stop):
                last[int(starts[piece.shard]) + row] = piece.last
        assert all(last[place] >= step for place in places(ahead, step))


@settings(deadline=None)
@given(ahead=aheads(("in streams",)))
def test_of_streams_no_more_is_announced_than_what_those_who_share_them_read(
    ahead: AccessPattern,
) -> None:
    count, steps = ahead.order.count, ahead.steps
    announced = {
        (piece.shard, row)
        for step in range(len(steps))
        for piece in ahead.pieces(step)
        for row in range(piece.first, piece.stop)
    }
    apart = gcd(4, steps.world_size)
    read = set()
    for epoch in range(steps.start // count, (steps.stop - 1) // count + 1):
        own = np.arange(count)
        own = own[(epoch * count + own - (steps.residue or 0)) % apart == 0]
        read |= set(ahead.order.samples(own, epoch).tolist())
    ends = np.cumsum(ahead.sizes)
    starts = (ends - ahead.sizes).tolist()
    assert {starts[shard] + row for shard, row in announced} <= read


@settings(deadline=None)
@given(ahead=aheads(ORDERS | MIXED), data=st.data())
def test_who_fetches_some_of_the_shards_is_told_of_these_as_if_there_were_no_others(
    ahead: AccessPattern, data: st.DataObject
) -> None:
    begin = data.draw(st.integers(0, len(ahead.sizes) - 1))
    shards = range(begin, data.draw(st.integers(begin + 1, len(ahead.sizes))))
    own = replace(ahead, own=shards)
    for step in range(len(ahead.steps)):
        every = [piece for piece in ahead.pieces(step) if piece.shard in shards]
        found = [piece._replace(shard=piece.shard + begin) for piece in own.pieces(step)]
        assert found == every


@settings(deadline=None)
@given(ahead=aheads(("in turn", "shuffled", "mixed in turn", "mixed shuffled")))
def test_without_windows_a_step_announces_what_it_reads(ahead: AccessPattern) -> None:
    starts = np.cumsum(ahead.sizes) - ahead.sizes
    for step in range(len(ahead.steps)):
        announced = [
            int(starts[piece.shard]) + row
            for piece in ahead.pieces(step)
            for row in range(piece.first, piece.stop)
        ]
        assert sorted(announced) == sorted({*ahead.rows(step, step + 1).place.tolist()})
