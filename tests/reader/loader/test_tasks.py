"""A step's tasks fill each of its rows once, with the samples of its positions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reader.loader.tasks import TaskPlanner
from reader.order.shuffle import GlobalShuffle, Order, Sequential
from reader.order.steps import Steps


@given(
    count=st.integers(1, 60),
    epochs=st.integers(1, 3),
    batch_size=st.integers(1, 50),
    world_size=st.integers(1, 4),
    start=st.integers(0, 59),
    chunk=st.integers(1, 60),
    spare=st.integers(0, 3),
    drop_last=st.booleans(),
    is_strided=st.booleans(),
)
@settings(deadline=None)
def test_tasks_cover_an_epochs_rows_exactly(
    count: int,
    epochs: int,
    batch_size: int,
    world_size: int,
    start: int,
    chunk: int,
    spare: int,
    drop_last: bool,
    is_strided: bool,
) -> None:
    order = GlobalShuffle(count, 5)
    orders = [order.samples(np.arange(count), epoch).tolist() for epoch in range(epochs)]
    linear = [sample for samples in orders for sample in samples]
    start = min(start, count)
    for rank in range(world_size):
        numbers = []
        planner = TaskPlanner(order, chunk, spare)
        residue = rank if is_strided else None
        steps = Steps(
            count * epochs, batch_size, rank, world_size, drop_last, start, residue=residue
        )
        stride = world_size if is_strided else 1
        for slot in range(len(steps)):
            step = steps[slot]
            tasks = planner.tasks(step, slot)
            numbers += [task.number for task in tasks]
            rows = 0
            for task in tasks:
                assert (task.slot, task.row) == (slot, rows)
                assert 0 < len(task.samples) <= chunk
                assert 0 <= task.position < count
                at = task.epoch * count + task.positions[: task.valid]
                assert task.samples[: task.valid].tolist() == [linear[one] for one in at.tolist()]
                if task.valid:  # none crosses into the next epoch, and none is left out
                    assert at.tolist() == step.positions[rows : rows + task.valid].tolist()
                    assert at[-1] < (task.epoch + 1) * count
                padding = set(task.samples[task.valid :].tolist())
                assert padding <= {linear[step.end - 1]}
                if not padding:
                    after = task.positions[-1] + stride * np.arange(1, spare + 1)
                    own = orders[task.epoch]
                    assert task.spare.tolist() == [own[at % count] for at in after]
                rows += len(task.samples)
            assert rows == step.rows
            assert sum(task.valid for task in tasks) == step.valid
        assert numbers == list(range(len(numbers)))


@pytest.mark.parametrize("order", [Sequential(50_000), GlobalShuffle(50_000, 1)])
@pytest.mark.parametrize(("world_size", "residue"), [(1, None), (2, 1)])
def test_a_large_epoch_has_the_orders_samples_at_every_position(
    order: Order, world_size: int, residue: int | None
) -> None:
    planner = TaskPlanner(order, chunk=4096, spare=0)
    steps = Steps(100_000, 3000, 0, world_size, drop_last=False, residue=residue)
    tasks = [task for number in range(len(steps)) for task in planner.tasks(steps[number], 0)]
    for epoch in range(2):
        seen = np.concatenate([task.samples for task in tasks if task.epoch == epoch])
        own = np.arange(residue or 0, 50_000, world_size)
        assert np.array_equal(seen, order.samples(own, epoch))
