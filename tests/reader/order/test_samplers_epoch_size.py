"""Epochs of another length than the dataset: `epoch_size`, and `num_samples` of Weighted."""

from collections import Counter
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from delivered import COUNT, indexes, load
from orders import SHUFFLES

from reader import ArgumentError, AspectBuckets, ClassBalanced, Dataset, Mix, Weighted


@pytest.mark.parametrize("size", [1, 10, 40, 100])
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
    with pytest.raises(ArgumentError, match=r"leaves no step: .* and there are 3"):
        load(packed, epoch_size=3, drop_last=True)


@pytest.mark.parametrize("size", [5, 100])
def test_weights_draw_as_many_as_they_are_told_to(packed: Path, size: int) -> None:
    weights = [float(number in (3, 30)) for number in range(COUNT)]
    with load(packed, sampler=Weighted(weights, num_samples=size)) as loader:
        assert len(loader) == -(-size // 4)
        first, second = indexes(loader), indexes(loader)
    assert set(first + second) == {3, 30}
    assert (len(first), first == second) == (size, False)
    with load(packed, sampler=Weighted(weights), epoch_size=size) as loader:
        assert len(indexes(loader)) == size
    with load(packed, sampler=ClassBalanced(), epoch_size=size) as loader:
        assert len(indexes(loader)) == size


@pytest.mark.parametrize("count", [0, -1, 1.5, True, "many"])
def test_a_number_of_samples_is_a_count(packed: Path, count: Any) -> None:
    with pytest.raises(ArgumentError, match="num_samples is an integer of at least 1, or None"):
        Weighted([1.0] * COUNT, count)
    with pytest.raises(ArgumentError, match="epoch_size is an integer of at least 1, or None"):
        load(packed, epoch_size=count)


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"sampler": [1, 2, 3]}, "The sampler determines the length of an epoch"),
        ({"sampler": Weighted([1.0] * COUNT, 8)}, "The sampler determines the length"),
        ({"batch_sampler": [[1, 2]], "batch_size": 1}, "batches. Leave out epoch_size="),
    ],
    ids=str,
)
def test_an_epoch_has_one_length(packed: Path, options: dict[str, Any], reason: str) -> None:
    with pytest.raises(ArgumentError, match=reason):
        load(packed, epoch_size=10, **options)


def test_a_mix_has_its_shares_of_the_epoch(packed: Path) -> None:
    whole = Dataset(packed)
    mix = Mix([(whole, 0.8), (whole.subset([3]), 0.2)])
    for shuffle in SHUFFLES.values():
        with load(mix, shuffle=shuffle, epoch_size=20, fields=("source",)) as loader:
            for _ in range(3):
                assert Counter(indexes(loader)) == {0: 16, 1: 4}
    with load(whole + whole, epoch_size=5) as loader:
        assert indexes(loader) == [0, 1, 2, 3, 4]
