"""A run that is cut into pieces, each with other ranks and batches, reads what a whole one does."""

import json
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from delivered import augmented, digest, valid_rows
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from reader import BlockShuffle, CenterCrop, Loader
from reader.order.blocks import BlockShuffled
from reader.order.shuffle import GlobalShuffle, Order, Sequential
from reader.order.steps import Steps

SMALL = 23


@dataclass(frozen=True)
class Piece:
    """How a part of the run is done, and after how many steps of all ranks it is killed."""

    world_size: int
    batch_size: int
    workers: int
    steps: int


def pieces(world_size: int, batch_size: int, steps: int) -> st.SearchStrategy[list[Piece]]:
    piece = st.builds(
        Piece,
        st.integers(1, world_size),
        st.integers(1, batch_size),
        st.integers(1, 3),
        st.integers(0, steps),
    )
    return st.lists(piece, min_size=1, max_size=4)


@st.composite
def orders(draw: st.DrawFn) -> Order:
    count, seed = draw(st.integers(1, 300)), draw(st.integers(0, 2**64))
    kind = draw(st.sampled_from(("global", "sequential", "blocks")))
    if kind == "sequential":
        return Sequential(count)
    if kind == "blocks":
        sizes = draw(st.lists(st.integers(0, 40), min_size=1, max_size=9).filter(any))
        numbers = draw(st.sampled_from((None, np.arange(sum(sizes))[::-1])))
        return BlockShuffled(sizes, draw(st.integers(1, 10)), seed, numbers)
    return GlobalShuffle(count, seed)


def whole(order: Order, epochs: int) -> list[list[int]]:
    return [order.samples(np.arange(order.count), epoch).tolist() for epoch in range(epochs)]


@given(order=orders(), epochs=st.integers(1, 4), plan=pieces(9, 40, 60))
@settings(deadline=None, max_examples=60)
def test_any_cuts_and_any_ranks_give_the_linear_order_of_an_uninterrupted_run(
    order: Order, epochs: int, plan: list[Piece]
) -> None:
    position, taken, padding = 0, [], 0
    last = Piece(plan[0].world_size, plan[0].batch_size, 1, epochs * order.count)
    for piece in (*plan, last):
        for _ in range(piece.steps):
            if position == epochs * order.count:
                break
            stop = (position // order.count + 1) * order.count
            ranks = [
                Steps(stop, piece.batch_size, rank, piece.world_size, False, position)
                for rank in range(piece.world_size)
            ]
            assert len({len(steps) for steps in ranks}) == 1
            first = [steps[0] for steps in ranks]
            assert len({(step.rows, step.end) for step in first}) == 1
            for step in first:
                inside = step.position % order.count if step.valid else 0
                positions = inside + np.arange(step.valid)
                taken += order.samples(positions, position // order.count).tolist()
            padding += sum(step.rows - step.valid for step in first)
            position = first[0].end
    expected = whole(order, epochs)
    assert taken == [sample for epoch in expected for sample in epoch]
    for number, samples in enumerate(expected):
        delivered = taken[number * order.count : (number + 1) * order.count]
        assert Counter(delivered) == Counter(samples)
        assert max(Counter(delivered).values()) == 1
    assert padding < 9 * (epochs + sum(piece.steps for piece in plan))


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
    ranks = [Steps(2**62, batch_size, rank, world_size, False, start) for rank in range(world_size)]
    taken = []
    for number in range(steps):
        for step in (one[number] for one in ranks):
            assert step.rows == step.valid == batch_size
            taken += range(step.position, step.position + step.valid)
    assert taken == list(range(start, start + steps * batch_size * world_size))


@pytest.fixture(scope="module")
def small(
    make_dataset: Callable[..., Path],
    make_image: Callable[..., Image.Image],
    encode: Callable[..., bytes],
) -> Path:
    """23 tiny images in 5 shards."""
    files = {f"{n:02d}.png": encode(make_image(n, 8, 8), "PNG") for n in range(SMALL)}
    return make_dataset(files, shard_samples=5)


def run(
    folder: Path, shuffle: bool | BlockShuffle, plan: Sequence[Piece], epochs: int
) -> list[int]:
    """What all ranks of all pieces deliver, in the order of the steps."""
    state, seen = None, []
    for piece in plan:
        with ExitStack() as stack:
            ranks = [
                stack.enter_context(
                    Loader(
                        folder,
                        batch_size=piece.batch_size,
                        workers=piece.workers,
                        shuffle=shuffle,
                        seed=8,
                        transforms=[CenterCrop(4)],
                        fields=("index", "valid"),
                        rank=rank,
                        world_size=piece.world_size,
                    )
                )
                for rank in range(piece.world_size)
            ]
            for loader in ranks:
                if state is not None:
                    loader.load_state_dict(state)
            left = piece.steps
            while left and ranks[0].state_dict()["epoch"] != epochs:
                for step in zip(*ranks, strict=True):
                    seen += [n for index, valid in step for n in index[valid].tolist()]
                    left -= 1
                    if not left:
                        break
            states = [loader.state_dict() for loader in ranks]
            assert states == states[:1] * len(ranks)
            state = states[0]
    return seen


@given(
    shuffle=st.sampled_from((True, False, BlockShuffle(shards=2))),
    plan=pieces(2, 9, 6),
    epochs=st.integers(1, 3),
)
@settings(deadline=None, max_examples=5, suppress_health_check=list(HealthCheck))
def test_loaders_that_are_killed_and_started_again_deliver_the_linear_order(
    small: Path, shuffle: bool | BlockShuffle, plan: list[Piece], epochs: int
) -> None:
    order: Order = Sequential(SMALL)
    if shuffle is True:
        order = GlobalShuffle(SMALL, 8)
    elif shuffle:
        order = BlockShuffled([5, 5, 5, 5, 3], 2, 8)
    seen = run(small, shuffle, [*plan, Piece(1, 5, 1, 1000)], epochs)
    assert seen == [sample for epoch in whole(order, epochs) for sample in epoch]


@pytest.mark.parametrize(
    ("consumed", "batch_size", "world_size", "count"),
    [(0, 7, 1, 1), (1, 4, 1, 2), (3, 1, 1, 1), (3, 3, 2, 1), (9, 7, 1, 1), (9, 5, 3, 1)],
)
def test_an_epoch_resumes_with_exactly_the_samples_not_yet_seen_in_the_same_order(
    packed: Path, consumed: int, batch_size: int, world_size: int, count: int
) -> None:
    with augmented(packed) as loader:
        whole = valid_rows(loader)
        following = valid_rows(loader)
        loader.set_epoch(0)
        iterator = iter(loader)
        for _ in range(consumed):
            next(iterator)
        state = json.loads(json.dumps(loader.state_dict()))
        del iterator
    ranks = []
    for rank in range(world_size):
        with augmented(
            packed, batch_size=batch_size, workers=count, rank=rank, world_size=world_size
        ) as loader:
            loader.load_state_dict(state)
            ranks.append((list(loader), list(loader)))
    for epoch, expected in ((0, whole[4 * consumed :]), (1, following)):
        steps = zip(*(rank[epoch] for rank in ranks), strict=True)
        assert valid_rows(batch for step in steps for batch in step) == expected


def test_the_state_of_many_ranks_resumes_on_one(packed: Path) -> None:
    with augmented(packed) as loader:
        whole = valid_rows(loader)
    states = []
    for rank in range(2):
        with augmented(packed, rank=rank, world_size=2) as loader:
            iterator = iter(loader)
            for _ in range(3):
                next(iterator)
            states.append(loader.state_dict())
    assert states[0] == states[1]
    with augmented(packed) as loader:
        loader.load_state_dict(states[0])
        assert valid_rows(loader) == whole[24:]


def test_the_state_after_an_epoch_is_the_beginning_of_the_next(packed: Path) -> None:
    with augmented(packed) as loader, augmented(packed) as other:
        for _ in loader:
            state = loader.state_dict()
        other.load_state_dict(state)
        assert digest(other) == digest(loader)
        other.load_state_dict(loader.state_dict())
        assert digest(other) == digest(loader)


def test_a_loader_may_load_its_own_state_again(packed: Path) -> None:
    with augmented(packed) as loader:
        whole = valid_rows(loader)
        loader.set_epoch(0)
        iterator = iter(loader)
        next(iterator)
        state = loader.state_dict()
        next(iterator)
        loader.load_state_dict(state)
        assert loader.state_dict() == state
        assert valid_rows(loader) == whole[4:]
