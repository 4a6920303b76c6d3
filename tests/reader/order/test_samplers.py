"""Which samples come, in what order, and how many: samplers, and epochs of another length."""

from collections import Counter
from collections.abc import Callable
from itertools import chain, cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from delivered import COUNT, indexes, load
from made_images import encode
from orders import SHUFFLES
from PIL import Image
from torch.utils.data import RandomSampler

from reader import (
    ArgumentError,
    AspectBuckets,
    ClassBalanced,
    Dataset,
    Mix,
    RandomResizedCrop,
    RepeatedAugmentation,
    Weighted,
)
from reader.order.samplers import Drawn
from reader.order.shuffle import GlobalShuffle


def test_weights_draw_in_proportion() -> None:
    order = Drawn(np.cumsum([0.0, 1.0, 3.0]), seed=1)
    drawn = np.concatenate([order.samples(np.arange(3), epoch) for epoch in range(20_000)])
    shares = np.bincount(drawn, minlength=3) / len(drawn)
    assert shares[0] == 0
    assert shares[2] == pytest.approx(0.75, abs=0.01)


def test_class_balanced_draws_every_class_alike(packed: Path) -> None:
    labels = Dataset(packed).labels
    rare = np.concatenate([np.flatnonzero(labels == 0)[:2], np.flatnonzero(labels == 1)])
    subset = Dataset(packed, subset=rare)
    with load(subset, sampler=ClassBalanced(), epochs=60) as loader:
        drawn = subset.labels[indexes(loader)]
    assert set(drawn) == {0, 1}
    assert (drawn == 0).mean() == pytest.approx(0.5, abs=0.08)


def test_class_balanced_says_how_many_have_no_label(write_samples: Callable[..., Path]) -> None:
    samples = {f"s{number}": {"png": encode(Image.new("L", (8, 8)), "PNG")} for number in range(3)}
    with pytest.raises(ArgumentError, match=r"2 of 3 have none\. Choose .*labels >= 0"):
        load(write_samples(samples, labels=[0, -1, -1]), sampler=ClassBalanced())


def test_repetitions_come_in_a_row_and_every_sample_equally_often(packed: Path) -> None:
    with load(packed, sampler=RepeatedAugmentation(3)) as loader:
        epochs = [indexes(loader) for _ in range(6)]
    assert [len(epoch) for epoch in epochs] == [COUNT] * 6
    drawn = [*chain(*epochs)]
    assert drawn[::3] == drawn[1::3] == drawn[2::3]
    for whole in (drawn[: 3 * COUNT], drawn[3 * COUNT :]):
        assert Counter(whole) == Counter([*range(COUNT)] * 3)
    assert drawn[: 3 * COUNT] != drawn[3 * COUNT :]
    with load(packed, sampler=RepeatedAugmentation(3), epoch_size=3 * COUNT) as loader:
        assert indexes(loader) == drawn[: 3 * COUNT]


def test_repetitions_differ_in_augmentation_and_go_to_other_ranks(packed: Path) -> None:
    of_ranks = []
    for rank in range(3):
        options = {"rank": rank, "world_size": 3, "sampler": RepeatedAugmentation(3)}
        crop = [RandomResizedCrop(24, scale=(0.2, 0.4))]
        with load(packed, transforms=crop, fields=("index", "image"), **options) as loader:
            of_ranks.append(
                [row for numbers, images in loader for row in zip(numbers, images, strict=True)]
            )
    for rows in zip(*of_ranks, strict=True):
        assert len({int(number) for number, _ in rows}) == 1
        assert len({image.numpy().tobytes() for _, image in rows}) == 3


@pytest.mark.parametrize("wrong", [0, 1.5, "3", True])
def test_repetitions_are_a_number(wrong: Any) -> None:
    with pytest.raises(ArgumentError, match="repetitions is an integer of at least 1"):
        RepeatedAugmentation(wrong)


def test_a_torch_sampler_decides_the_order_of_each_epoch(packed: Path) -> None:
    def sampler() -> RandomSampler:
        generator = torch.Generator().manual_seed(3)
        return RandomSampler(range(COUNT), generator=generator)

    mine, twin = sampler(), sampler()
    with load(packed, sampler=mine) as loader:
        for _ in range(3):
            assert indexes(loader) == list(twin)


@pytest.mark.parametrize(
    "numbers_of",
    [list, np.array, torch.tensor, lambda given: np.array(given, np.uint8)],
    ids=["list", "numpy", "torch", "uint8"],
)
def test_a_sampler_may_give_integers_of_any_kind(packed: Path, numbers_of: Any) -> None:
    given = [38, 0, 7]
    with load(packed, sampler=numbers_of(given)) as loader:
        assert indexes(loader) == given


def test_a_sampler_without_an_end_is_refused(packed: Path) -> None:
    class Endless:
        def __len__(self) -> int:
            return 5

        def __iter__(self) -> Any:
            return cycle(range(5))

    with (
        load(packed, sampler=Endless()) as loader,
        pytest.raises(ArgumentError, match="has length 5 and gave more"),
    ):
        iter(loader)


def test_epochs_without_an_end_begin_within_a_batch(packed: Path) -> None:
    order = GlobalShuffle(COUNT, 7)
    expected = np.concatenate([order.samples(np.arange(COUNT), epoch) for epoch in range(3)])
    with load(packed, shuffle=True, seed=7, epochs=None) as loader:
        seen = indexes(islice(loader, 2 * COUNT // 4))
        state = loader.state_dict()
        assert (state["epoch"], state["position"]) == divmod(len(seen), COUNT)
        loader.load_state_dict(state)
        seen += indexes(islice(loader, 9))
        with pytest.raises(TypeError, match="no length"):
            len(loader)
    assert seen == expected[: len(seen)].tolist()


@pytest.mark.parametrize("size", [10, 100])
@pytest.mark.parametrize("shuffle", [*SHUFFLES.values(), AspectBuckets(4)], ids=str)
def test_an_epoch_continues_where_the_one_before_it_stopped(
    packed: Path, shuffle: Any, size: int
) -> None:
    with load(packed, shuffle=shuffle, epochs=10) as loader:
        expected = indexes(loader)
    with load(packed, shuffle=shuffle, epoch_size=size) as loader:
        assert len(loader) == -(-size // 4)
        epochs = [indexes(loader) for _ in range(3)]
        assert [len(epoch) for epoch in epochs] == [size] * 3
        assert list(chain(*epochs)) == expected[: 3 * size]
        assert loader.statistics().samples == 3 * size
        loader.set_epoch(1)
        assert indexes(loader) == epochs[1]


def test_all_samples_come_equally_often(packed: Path) -> None:
    with load(packed, shuffle=True, epoch_size=6, epochs=13) as loader:
        assert set(Counter(indexes(loader)).values()) == {2}
    subset = Dataset(packed, subset=[7, 3, 30])
    with load(subset, shuffle=True, epoch_size=9) as loader:
        assert Counter(indexes(loader)) == {0: 3, 1: 3, 2: 3}


def test_the_length_of_the_dataset_changes_nothing(packed: Path) -> None:
    with load(packed, shuffle=True) as plain, load(packed, shuffle=True, epoch_size=39) as same:
        assert indexes(plain) == indexes(same)
        plain.load_state_dict(same.state_dict())


def test_drop_last_drops_what_fills_no_step_of_the_epoch(packed: Path) -> None:
    with load(packed, epoch_size=10, drop_last=True) as loader:
        assert len(loader) == 2
        assert [indexes(loader) for _ in range(2)] == [[*range(8)], [*range(10, 18)]]


@pytest.mark.parametrize("size", [5, 100])
def test_weights_draw_as_many_as_they_are_told_to(packed: Path, size: int) -> None:
    weights = [float(number in (3, 30)) for number in range(COUNT)]
    with load(packed, sampler=Weighted(weights, num_samples=size)) as loader:
        assert len(loader) == -(-size // 4)
        told = list(loader.sampler)
        first, second = indexes(loader), indexes(loader)
    assert first == told
    assert set(first + second) == {3, 30}
    assert (len(first), first == second) == (size, False)
    with load(packed, sampler=Weighted(weights), epoch_size=size) as loader:
        assert len(indexes(loader)) == size
    with load(packed, sampler=ClassBalanced(), epoch_size=size) as loader:
        assert len(indexes(loader)) == size


def test_a_mix_has_its_shares_of_the_epoch(packed: Path) -> None:
    whole = Dataset(packed)
    mix = Mix([(whole, 0.8), (whole.subset([3]), 0.2)])
    for shuffle in SHUFFLES.values():
        with load(mix, shuffle=shuffle, epoch_size=20, fields=("source",)) as loader:
            for _ in range(3):
                assert Counter(indexes(loader)) == {0: 16, 1: 4}
    with load(whole + whole, epoch_size=5) as loader:
        assert indexes(loader) == [0, 1, 2, 3, 4]
