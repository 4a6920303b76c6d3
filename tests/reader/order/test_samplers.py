"""Which samples come, and in what order, beyond a plain shuffle."""

from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from ids import named
from made_images import encode
from PIL import Image
from torch.utils.data import BatchSampler, DistributedSampler, RandomSampler

from reader import (
    ArgumentError,
    CenterCrop,
    ClassBalanced,
    Dataset,
    Loader,
    ReaderError,
    Weighted,
)
from reader.order.samplers import Drawn
from reader.order.shuffle import GlobalShuffle

COUNT = 39


def load(packed: Path | Dataset, **options: Any) -> Loader:
    arguments = {"batch_size": 8, "workers": 0, "transforms": [CenterCrop(8)], "fields": ["index"]}
    return Loader(packed, **{**arguments, **options})


def numbers(batches: Any) -> list[int]:
    return [number for (index,) in batches for number in index.tolist()]


def test_weights_draw_in_proportion() -> None:
    order = Drawn(np.cumsum([0.0, 1.0, 3.0]), seed=1)
    drawn = np.concatenate([order.samples(np.arange(3), epoch) for epoch in range(20_000)])
    shares = np.bincount(drawn, minlength=3) / len(drawn)
    assert shares[0] == 0
    assert shares[2] == pytest.approx(0.75, abs=0.01)


@pytest.mark.parametrize(
    "weights",
    [
        [],
        [-1.0] * COUNT,
        [np.inf] * COUNT,
        ["a"],
        ["a"] * COUNT,
        "balanced",
        3,
        {"a": 1.0},
        [[1]],
    ],
    ids=str,
)
def test_what_is_no_weight_is_refused(weights: Any) -> None:
    with pytest.raises(ArgumentError, match=r"reader\.Weighted takes a finite number"):
        Weighted(weights)


def test_another_number_of_weights_than_of_samples_is_refused(packed: Path) -> None:
    with pytest.raises(ArgumentError, match=r"2 weights> does not fit .*: give 39 weights"):
        load(packed, sampler=Weighted([1, 2]))


def test_weights_of_which_none_is_above_0_are_refused() -> None:
    with pytest.raises(ArgumentError, match="Give at least one above 0"):
        Weighted([0] * COUNT)


def test_weights_draw_what_they_weigh_whatever_is_shuffled(packed: Path) -> None:
    weights = [float(number in (3, 30)) for number in range(COUNT)]
    with load(packed, sampler=Weighted(weights)) as loader:
        told = list(loader.sampler)
        drawn = [*numbers(loader), *numbers(loader)]
        assert drawn[:COUNT] == told
    assert len(drawn) == 2 * COUNT
    assert set(drawn) == {3, 30}


def test_class_balanced_draws_every_class_alike(packed: Path) -> None:
    labels = Dataset(packed).labels
    rare = np.concatenate([np.flatnonzero(labels == 0)[:2], np.flatnonzero(labels == 1)])
    subset = Dataset(packed, subset=rare)
    with load(subset, sampler=ClassBalanced(), epochs=60) as loader:
        drawn = subset.labels[numbers(loader)]
    assert set(drawn) == {0, 1}
    assert (drawn == 0).mean() == pytest.approx(0.5, abs=0.08)


def test_class_balanced_says_how_many_have_no_label(write_samples: Callable[..., Path]) -> None:
    samples = {f"s{number}": {"png": encode(Image.new("L", (8, 8)), "PNG")} for number in range(3)}
    with pytest.raises(ArgumentError, match=r"2 of 3 have none\. Choose .*labels >= 0"):
        load(write_samples(samples, labels=[0, -1, -1]), sampler=ClassBalanced())


def test_a_torch_sampler_decides_the_order_of_each_epoch(packed: Path) -> None:
    def sampler() -> RandomSampler:
        generator = torch.Generator().manual_seed(3)
        return RandomSampler(range(COUNT), generator=generator)

    mine, twin = sampler(), sampler()
    with load(packed, sampler=mine) as loader:
        for _ in range(3):
            assert numbers(loader) == list(twin)


@pytest.mark.parametrize(
    ("sampler", "reason"),
    [
        (
            BatchSampler(range(COUNT), 8, drop_last=False),
            r"not \[0, 1, 2, 3, 4, 5, 6, 7\]\. To give lists of them, use batch_sampler=",
        ),
        ([1.5], r"yields sample numbers, not 1\.5\."),
        ([1.0], r"yields sample numbers, not 1\.0\."),
        ([True], "not True"),
        (np.array([True]), "not np.True_"),
        (torch.tensor([True]), r"not tensor\(True\)"),
        (torch.tensor([1.0]), r"not tensor\(1\.\)"),
        ("ab", "sampler is an iterable of sample numbers, not 'ab'"),
        (3, "sampler is an iterable of sample numbers, not 3"),
        (iter([1]), "The sampler has no length: <list_iterator"),
        (
            [3, COUNT],
            f"The sampler yields sample {COUNT}; the dataset has 0 to {COUNT - 1}",
        ),
        ([3, -1], "The sampler yields sample -1; the dataset has 0 to"),
        (np.array([-1]), "The sampler yields sample -1; the"),
        ([2**70], f"The sampler yields sample {2**70}; the"),
    ],
    ids=named,
)
def test_a_sampler_that_gives_anything_but_numbers_of_samples_is_refused(
    packed: Path, sampler: Any, reason: str
) -> None:
    with pytest.raises(ArgumentError, match=reason), load(packed, sampler=sampler) as loader:
        iter(loader)


@pytest.mark.parametrize(
    "numbers_of",
    [list, np.array, torch.tensor, lambda given: np.array(given, np.uint8)],
    ids=["list", "numpy", "torch", "uint8"],
)
def test_a_sampler_may_give_integers_of_any_kind(packed: Path, numbers_of: Any) -> None:
    given = [38, 0, 7]
    with load(packed, sampler=numbers_of(given)) as loader:
        assert numbers(loader) == given


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


def test_a_distributed_sampler_gives_its_rank_its_share(packed: Path) -> None:
    seen = []
    for rank in (0, 1):
        sampler: Any = DistributedSampler(range(COUNT), num_replicas=2, rank=rank, seed=5)
        with load(packed, sampler=sampler) as loader:
            seen += numbers(loader)
    assert set(seen) == set(range(COUNT))
    assert len(seen) == COUNT + 1  # padded by the sampler


@pytest.mark.parametrize("sampler", [[0], Weighted([1.0] * COUNT), ClassBalanced()], ids=str)
def test_one_decision_of_the_order_is_enough(packed: Path, sampler: Any) -> None:
    with pytest.raises(ReaderError, match="Leave one out"):
        load(packed, shuffle=True, sampler=sampler)


def test_endless_epochs_cross_their_boundary_within_a_batch(packed: Path) -> None:
    order = GlobalShuffle(COUNT, 7)
    expected = np.concatenate([order.samples(np.arange(COUNT), epoch) for epoch in range(5)])
    with load(packed, shuffle=True, seed=7, epochs=None) as loader:
        seen = numbers(islice(loader, 4 * COUNT // 8))
        with pytest.raises(TypeError, match="no length"):
            len(loader)
        state = loader.state_dict()
        assert (state["epoch"], state["position"]) == divmod(len(seen), COUNT)
        loader.load_state_dict(state)
        seen += numbers(islice(loader, 1))
    assert seen == expected[: len(seen)].tolist()


def test_several_epochs_are_read_without_a_break(packed: Path) -> None:
    with load(packed, shuffle=True, epochs=3) as loader:
        assert len(loader) == -(-3 * COUNT // 8)
        seen = numbers(loader)
        assert sorted(seen) == sorted(3 * list(range(COUNT)))
        assert loader.state_dict()["epoch"] == 3


def test_a_shuffle_is_as_even_as_numpys() -> None:
    count, bins = 40_000, 100
    for seed in range(3):
        ours = GlobalShuffle(count, seed).samples(np.arange(count), epoch=seed)
        # Where each hundredth of the positions lands: chi-square with 9,801 degrees of freedom.
        table, _, _ = np.histogram2d(np.arange(count), ours, bins=bins)
        chi_square = float(((table - count / bins**2) ** 2 / (count / bins**2)).sum())
        assert abs(chi_square - (bins - 1) ** 2) < 5 * np.sqrt(2 * (bins - 1) ** 2)
        correlation = np.corrcoef(ours[:-1], ours[1:])[0, 1]
        assert abs(correlation) < 5 / np.sqrt(count)
