"""Ranks share an epoch without loss."""

from itertools import chain

from hypothesis import given, settings
from hypothesis import strategies as st

from reader.order.steps import Steps

steps_of = given(
    count=st.integers(0, 300),
    batch_size=st.integers(1, 40),
    world_size=st.integers(1, 9),
    resumed=st.floats(0, 1),
    is_strided=st.booleans(),
)


def steps_of_all(
    count: int, batch: int, world: int, start: int, is_strided: bool, drop_last: bool = False
) -> list[Steps]:
    """Of each rank; strided, the position's remainder says whose it is."""
    return [
        Steps(count, batch, rank, world, drop_last, start, residue=rank if is_strided else None)
        for rank in range(world)
    ]


@steps_of
@settings(deadline=None)
def test_the_ranks_together_take_every_position_once_and_in_order(
    count: int, batch_size: int, world_size: int, resumed: float, is_strided: bool
) -> None:
    start = int(count * resumed)
    ranks = steps_of_all(count, batch_size, world_size, start, is_strided)
    taken = []
    for number in range(len(ranks[0])):
        step = [one[number].positions[: one[number].valid].tolist() for one in ranks]
        if is_strided:
            assert all(p % world_size == rank for rank, own in enumerate(step) for p in own)
            taken += sorted(chain(*step))
        else:
            taken += chain(*step)
    assert taken == list(range(start, count))


@steps_of
@settings(deadline=None)
def test_the_ranks_take_equal_steps_of_equal_size_and_pad_less_than_one_row_each(
    count: int, batch_size: int, world_size: int, resumed: float, is_strided: bool
) -> None:
    start = int(count * resumed)
    ranks = steps_of_all(count, batch_size, world_size, start, is_strided)
    assert len({len(steps) for steps in ranks}) == 1
    end = start
    for number in range(len(ranks[0])):
        row = [steps[number] for steps in ranks]
        end = min(end + batch_size * world_size, count)
        assert {step.end for step in row} == {end}
        assert len({step.rows for step in row}) == 1
        assert 1 <= row[0].rows <= batch_size
        assert sum(step.rows - step.valid for step in row) < world_size
        assert all((step.positions < end).all() for step in row)
    assert end == count


@steps_of
@settings(deadline=None)
def test_drop_last_takes_whole_batches_alone_and_leaves_less_than_a_step(
    count: int, batch_size: int, world_size: int, resumed: float, is_strided: bool
) -> None:
    start = int(count * resumed)
    ranks = steps_of_all(count, batch_size, world_size, start, is_strided, drop_last=True)
    steps = [steps[number] for steps in ranks for number in range(len(steps))]
    assert all(step.rows == step.valid == batch_size for step in steps)
    taken = sorted(position for step in steps for position in step.positions.tolist())
    assert taken == list(range(start, start + len(taken)))
    assert 0 <= count - start - len(taken) < batch_size * world_size


@given(
    count=st.integers(1, 300),
    start=st.integers(0, 1000),
    batch_size=st.integers(1, 40),
    world_size=st.integers(1, 9),
    steps=st.integers(1, 40),
)
def test_steps_without_end_are_whole_batches_across_every_boundary(
    count: int, start: int, batch_size: int, world_size: int, steps: int
) -> None:
    ranks = steps_of_all(2**62, batch_size, world_size, start, False)
    taken = []
    for number in range(steps):
        for step in (one[number] for one in ranks):
            assert step.rows == step.valid == batch_size
            taken += step.positions.tolist()
    assert taken == list(range(start, start + steps * batch_size * world_size))
