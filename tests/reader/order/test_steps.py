"""Ranks share an epoch without loss; which of them a process is, and who says so."""

from collections.abc import Callable
from itertools import chain
from pathlib import Path

import pytest
from delivered import COUNT, indexes, load
from hypothesis import given, settings
from hypothesis import strategies as st

from reader import ReaderError
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
def test_ranks_take_every_position_once_in_equal_steps_and_pad_less_than_one_row_each(
    count: int, batch_size: int, world_size: int, resumed: float, is_strided: bool
) -> None:
    start = end = int(count * resumed)
    ranks = steps_of_all(count, batch_size, world_size, start, is_strided)
    assert len({len(steps) for steps in ranks}) == 1
    taken = []
    for number in range(len(ranks[0])):
        row = [steps[number] for steps in ranks]
        end = min(end + batch_size * world_size, count)
        assert {step.end for step in row} == {end}
        assert len({step.rows for step in row}) == 1
        assert 1 <= row[0].rows <= batch_size
        assert sum(step.rows - step.valid for step in row) < world_size
        assert all((step.positions < end).all() for step in row)
        own = [step.positions[: step.valid].tolist() for step in row]
        if is_strided:
            assert all(p % world_size == rank for rank, each in enumerate(own) for p in each)
            own = [sorted(chain(*own))]
        taken += chain(*own)
    assert taken == list(range(start, count))
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


Begin = Callable[[int, int], None]


def torchrun(monkeypatch: pytest.MonkeyPatch, rank: object, world_size: object) -> None:
    monkeypatch.setenv("RANK", str(rank))
    monkeypatch.setenv("WORLD_SIZE", str(world_size))


def test_the_share_is_that_of_torch_distributed_then_of_torchrun_then_all(
    packed: Path, monkeypatch: pytest.MonkeyPatch, begin: Begin
) -> None:
    with load(packed) as loader, load(packed, rank=2, world_size=5) as own:
        assert (loader.rank, loader.world_size, len(loader)) == (0, 1, 10)
        torchrun(monkeypatch, 2, 5)
        assert (loader.rank, loader.world_size, len(loader)) == (2, 5, 2)
        with load(packed) as late:
            assert indexes(late) == indexes(own)
        begin(1, 3)
        assert (loader.rank, loader.world_size, len(loader)) == (1, 3, 4)


def test_a_rank_that_is_given_stays_as_it_is_given(
    packed: Path, monkeypatch: pytest.MonkeyPatch, begin: Begin
) -> None:
    torchrun(monkeypatch, 2, 5)
    with load(packed, rank=0, world_size=1) as loader:
        begin(1, 3)
        assert (loader.rank, loader.world_size) == (0, 1)
        assert sorted(indexes(loader)) == list(range(COUNT))


@pytest.mark.parametrize(("rank", "world_size"), [("", "4"), ("1", ""), ("one", "4"), ("-1", "4")])
def test_variables_that_are_not_torchruns_are_left_alone(
    packed: Path, monkeypatch: pytest.MonkeyPatch, rank: str, world_size: str
) -> None:
    torchrun(monkeypatch, rank, world_size)
    with load(packed) as loader:
        assert (loader.rank, loader.world_size) == (0, 1)


def test_variables_that_contradict_each_other_are_refused(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torchrun(monkeypatch, 4, 4)
    with pytest.raises(ReaderError, match=r"RANK=4 and WORLD_SIZE=4.*rank= and world_size="):
        load(packed)
