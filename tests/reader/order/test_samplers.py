"""Which samples come, and in what order, beyond a plain shuffle."""

from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from delivered import COUNT, indexes, load
from ids import named
from made_images import encode
from PIL import Image
from torch.utils.data import BatchSampler, RandomSampler

from reader import ArgumentError, ClassBalanced, Dataset, ReaderError, Weighted
from reader.order.samplers import Drawn
from reader.order.shuffle import GlobalShuffle


def test_weights_draw_in_proportion() -> None:
    order = Drawn(np.cumsum([0.0, 1.0, 3.0]), seed=1)
    drawn = np.concatenate([order.samples(np.arange(3), epoch) for epoch in range(20_000)])
    shares = np.bincount(drawn, minlength=3) / len(drawn)
    assert shares[0] == 0
    assert shares[2] == pytest.approx(0.75, abs=0.01)


@pytest.mark.parametrize(
    "weights",
    [[], [-1.0] * COUNT, [np.inf], ["a"], ["a"] * COUNT, "balanced", 3, {"a": 1.0}, [[1]], [0, 0]],
    ids=str,
)
def test_what_is_no_weight_is_refused(weights: Any) -> None:
    with pytest.raises(ArgumentError, match=r"reader\.Weighted takes a finite number|one above 0"):
        Weighted(weights)


def test_another_number_of_weights_than_of_samples_is_refused(packed: Path) -> None:
    with pytest.raises(ArgumentError, match=r"2 weights> does not fit .*: give 39 weights"):
        load(packed, sampler=Weighted([1, 2]))


def test_weights_draw_what_they_weigh_whatever_is_shuffled(packed: Path) -> None:
    weights = [float(number in (3, 30)) for number in range(COUNT)]
    with load(packed, sampler=Weighted(weights)) as loader:
        told = list(loader.sampler)
        drawn = [*indexes(loader), *indexes(loader)]
        assert drawn[:COUNT] == told
    assert len(drawn) == 2 * COUNT
    assert set(drawn) == {3, 30}


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


def test_a_torch_sampler_decides_the_order_of_each_epoch(packed: Path) -> None:
    def sampler() -> RandomSampler:
        generator = torch.Generator().manual_seed(3)
        return RandomSampler(range(COUNT), generator=generator)

    mine, twin = sampler(), sampler()
    with load(packed, sampler=mine) as loader:
        for _ in range(3):
            assert indexes(loader) == list(twin)


@pytest.mark.parametrize(
    ("sampler", "reason"),
    [
        (BatchSampler(range(COUNT), 8, False), r"not \[0, 1, 2, .* use batch_sampler="),
        ([1.5], r"yields sample numbers, not 1\.5\."),
        ([1.0], r"yields sample numbers, not 1\.0\."),
        ([True], "not True"),
        (np.array([True]), "not np.True_"),
        (torch.tensor([True]), r"not tensor\(True\)"),
        (torch.tensor([1.0]), r"not tensor\(1\.\)"),
        ("ab", "sampler is an iterable of sample numbers, not 'ab'"),
        (3, "sampler is an iterable of sample numbers, not 3"),
        (iter([1]), "The sampler has no length: <list_iterator"),
        ([3, COUNT], f"yields sample {COUNT}; the dataset has 0 to {COUNT - 1}"),
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


@pytest.mark.parametrize("sampler", [[0], Weighted([1.0] * COUNT), ClassBalanced()], ids=str)
def test_one_decision_of_the_order_is_enough(packed: Path, sampler: Any) -> None:
    with pytest.raises(ReaderError, match="Leave one out"):
        load(packed, shuffle=True, sampler=sampler)


@pytest.mark.parametrize("epochs", [None, 3])
def test_further_epochs_begin_within_a_batch(packed: Path, epochs: int | None) -> None:
    order = GlobalShuffle(COUNT, 7)
    expected = np.concatenate([order.samples(np.arange(COUNT), epoch) for epoch in range(3)])
    with load(packed, shuffle=True, seed=7, epochs=epochs) as loader:
        seen = indexes(islice(loader, 2 * COUNT // 4))
        state = loader.state_dict()
        assert (state["epoch"], state["position"]) == divmod(len(seen), COUNT)
        loader.load_state_dict(state)
        seen += indexes(islice(loader, 9))
        if epochs is None:
            with pytest.raises(TypeError, match="no length"):
                len(loader)
        else:
            assert len(loader) == -(-3 * COUNT // 4)
    assert seen == expected[: len(seen)].tolist()
