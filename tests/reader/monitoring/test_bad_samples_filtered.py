"""Samples that `map_sample` drops by returning None."""

from collections import deque
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from delivered import COUNT, damage

from reader import CenterCrop, Dataset, Loader, SampleError

Row = tuple[int, int, bool]


def keep_even(sample: dict[str, Any]) -> dict[str, Any] | None:
    return sample if sample["index"] % 2 == 0 else None


def load(folder: Path | Dataset, **options: Any) -> Loader:
    arguments = {"batch_size": 8, "workers": 0, "transforms": [CenterCrop(16)]}
    arguments |= {"fields": ("image", "label", "index", "valid"), "map_sample": keep_even}
    return Loader(folder, **{**arguments, **options})


def rows(loader: Any) -> list[Row]:
    batches = [[part.tolist() for part in batch[1:]] for batch in loader]
    return [row for batch in batches for row in zip(*batch, strict=True)]


@pytest.mark.parametrize("workers", [0, 2])
def test_dropped_samples_are_masked_and_counted_apart_from_bad_ones(
    packed: Path, workers: int
) -> None:
    with load(packed, on_error="mask", max_bad=0, workers=workers) as loader:
        found = rows(loader)
        assert [(index, valid) for _, index, valid in found] == [
            (number, number % 2 == 0) for number in range(COUNT)
        ]
        assert all(label == -1 for label, index, _ in found if index % 2)
        statistics = loader.statistics()
        assert (statistics.filtered, statistics.bad, loader.bad_samples) == (19, 0, {})
        assert "samples that map_sample dropped: 19" in str(statistics)


def test_the_next_sample_takes_the_place_of_a_dropped_one(packed: Path) -> None:
    with load(packed, on_error="substitute", max_bad=0) as loader:
        found = rows(loader)
    assert [index for _, index, _ in found] == [
        number if number % 2 == 0 else (number + 1) % COUNT for number in range(COUNT)
    ]
    assert all(valid for *_, valid in found)


@pytest.mark.parametrize("policy", ["mask", "substitute"])
def test_a_resumed_epoch_is_that_of_one_run_whatever_the_workers(packed: Path, policy: str) -> None:
    options = {"on_error": policy, "shuffle": True, "seed": 3, "batch_size": 5}
    with load(packed, **options) as loader:
        whole = rows(loader)
    with load(packed, **options, workers=2) as loader:
        batches = iter(loader)
        begun = rows([next(batches), next(batches)])
        state = loader.state_dict()
    with load(packed, **options) as loader:
        loader.load_state_dict(state)
        assert begun + rows(loader) == whole


def test_none_is_an_error_that_names_the_sample_where_nothing_may_be_dropped(packed: Path) -> None:
    reason = "map_sample returned None for the sample '.*'. .* on_error=\"substitute\""
    with load(packed) as loader, pytest.raises(SampleError, match=reason):
        rows(loader)
    with pytest.raises(SampleError, match=reason):
        load(packed, map_sample=lambda sample: None)


def test_dropped_and_bad_samples_come_together(packed_copy: Path) -> None:
    for number in (4, 5):
        damage(packed_copy, number)
    with load(packed_copy, on_error="mask", max_bad=0.1) as loader:
        assert [index for _, index, valid in rows(loader) if valid] == [
            number for number in range(0, COUNT, 2) if number != 4
        ]
        assert sorted(loader.bad_samples) == [4, 5]
        assert loader.statistics().filtered == 18


def test_a_dataset_of_which_all_is_dropped_ends_in_an_error(packed: Path) -> None:
    odd = Dataset(packed, subset=[1, 3, 5])
    kept = {"map_sample": lambda s: s if s["name"].startswith("kept") else None}
    kept |= {"fields": ("label", "name", "valid")}
    with pytest.raises(SampleError, match="map_sample returned None"):
        load(odd, on_error="substitute", **kept)
    with (
        load(odd, on_error="substitute", **kept, collate_fn=list, batch_size=1) as loader,
        pytest.raises(SampleError, match="map_sample returned None for all of 3 samples"),
    ):
        deque(chain(loader, loader, loader), maxlen=0)
