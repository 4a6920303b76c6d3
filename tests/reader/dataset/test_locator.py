"""Where samples lie, and subsets of them: in every way a Dataset."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from reader import (
    ArgumentError,
    CenterCrop,
    Dataset,
    Loader,
    Resize,
)
from reader.dataset.locator import SampleLocator


@st.composite
def some_places(draw: st.DrawFn) -> tuple[list[int], SampleLocator, list[tuple[int, int]]]:
    """Samples of each shard, the places, and the (shard, row) of every sample."""
    counts = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    places = SampleLocator.of(counts)
    table = [(shard, row) for shard, count in enumerate(counts) for row in range(count)]
    for _ in range(draw(st.integers(0, 2))):
        if table:
            chosen = draw(st.lists(st.integers(0, len(table) - 1), max_size=9))
            places = places.choose(np.array(chosen, np.int64))
            table = [table[number] for number in chosen]
    return counts, places, table


@given(some_places())
def test_each_sample_is_found_in_its_shard_and_row(
    given_places: tuple[list[int], SampleLocator, list[tuple[int, int]]],
) -> None:
    counts, places, table = given_places
    assert (len(places), places.total, list(places.counts)) == (len(table), sum(counts), counts)
    assert [places.find(number) for number in range(len(table))] == table


@given(some_places(), st.data())
def test_many_are_found_as_each_is(
    given_places: tuple[list[int], SampleLocator, list[tuple[int, int]]], data: st.DataObject
) -> None:
    _, places, table = given_places
    if not table:
        return
    asked = np.array(data.draw(st.lists(st.integers(0, len(table) - 1), min_size=1)), np.int64)
    found: list[tuple[int, int]] = [(-1, -1)] * len(asked)
    for shard, which, rows in places.find_all(asked):
        for at, row in zip(np.arange(len(asked))[which].tolist(), rows.tolist(), strict=True):
            found[at] = shard, row
    assert found == [table[number] for number in asked.tolist()]


@given(some_places())
def test_rows_and_shards_are_those_of_the_samples(
    given_places: tuple[list[int], SampleLocator, list[tuple[int, int]]],
) -> None:
    counts, places, table = given_places
    every = [
        (shard, row)
        for shard, rows in places.rows()
        for row in np.arange(counts[shard])[rows].tolist()
    ]
    assert every == sorted(table)
    numbers, sizes = places.by_shard()
    order = range(len(table)) if numbers is None else numbers.tolist()
    assert [table[number][0] for number in order] == sorted(shard for shard, _ in table)
    assert sizes == [sum(shard == one for one, _ in table) for shard in range(len(counts))]


def test_what_is_chosen_has_a_description_of_its_own() -> None:
    places = SampleLocator.of([3, 2])
    assert places.description is None
    some, others = places.choose(np.array([1, 4])), places.choose(np.array([4, 1]))
    assert some.description == places.choose(np.array([1, 4])).description != others.description


COUNT = 39
CHOSEN = [38, 1, 17, 20, 2]  # of all four shards, in no order


def load(dataset: Dataset, **options: Any) -> Loader:
    arguments = {"batch_size": 2, "workers": 0, "transforms": [CenterCrop(8)]}
    return Loader(dataset, **{**arguments, "fields": ("index", "key", "label"), **options})


def keys(loader: Loader) -> list[str]:
    return [key for _, batch, _ in loader for key in batch]


@pytest.fixture
def whole(packed: Path) -> Dataset:
    return Dataset(packed)


@pytest.fixture(params=["method", "argument"])
def some(request: pytest.FixtureRequest, whole: Dataset) -> Dataset:
    """The samples `CHOSEN`, by either way to say so."""
    if request.param == "method":
        return whole.subset(CHOSEN)
    return Dataset(whole.folder, subset=CHOSEN)


def test_a_subset_is_a_dataset_of_the_chosen_samples_numbered_anew(
    whole: Dataset, some: Dataset
) -> None:
    assert len(some) == len(CHOSEN)
    assert (some.classes, some.class_to_idx) == (whole.classes, whole.class_to_idx)
    assert some.targets == [whole.targets[number] for number in CHOSEN]
    assert some.samples == some.imgs == [whole.samples[number] for number in CHOSEN]
    assert list(some.keys) == [whole.keys[number] for number in CHOSEN]
    assert some.keys[1:3] == [whole.keys[1], whole.keys[17]]
    for place, number in enumerate(CHOSEN):
        assert np.array_equal(some[place][0], whole[number][0])
        assert some[place][1] == whole[number][1]
        assert some.read(place, "cls") == whole.read(number, "cls")
    assert np.array_equal(some[-1][0], whole[2][0])
    heights = whole.columns("height")["height"]
    assert some.columns("height")["height"].tolist() == heights[CHOSEN].tolist()
    assert len(whole) == COUNT  # which is as it was
    with pytest.raises(IndexError, match="sample 5 is out of range for a dataset of 5"):
        some[5]


def test_the_sizes_of_a_subset_are_those_of_its_images(whole: Dataset, some: Dataset) -> None:
    assert some.sizes() == {whole[number][0].shape[:2] for number in CHOSEN}


def test_a_subset_of_a_subset_counts_in_it(whole: Dataset, some: Dataset) -> None:
    assert list(some.subset([4, 0]).keys) == [whole.keys[2], whole.keys[38]]
    assert list(some.subset(np.arange(5) == 3).keys) == [whole.keys[20]]
    by_label = some.subset(lambda columns: columns["label"] == 1)
    assert by_label.targets == [1] * some.targets.count(1)


def test_a_subset_by_function_sees_the_columns_of_the_index(whole: Dataset) -> None:
    some = whole.subset(lambda c: (c["label"] == 1) & (c["height"] > 60))
    heights = whole.columns("height")["height"]
    expected = np.flatnonzero((whole.labels == 1) & (heights > 60))
    assert 0 < len(expected) < COUNT
    assert list(some.keys) == [whole.keys[number] for number in expected]


def test_a_subset_is_chosen_within_its_split(packed_copy: Path) -> None:
    with pytest.raises(ArgumentError, match="has no split 'val'"):
        Dataset(packed_copy, "val", subset=[0])


def test_a_sampler_over_a_subset_gives_its_numbers(some: Dataset) -> None:
    with load(some, sampler=[4, 0, 0]) as loader:
        assert keys(loader) == [some.keys[4], some.keys[0], some.keys[0]]


@pytest.mark.parametrize(
    "transforms", [[Resize((8, 8))], [CenterCrop(8)]], ids=["results", "whole images"]
)
def test_a_subset_is_kept_decoded_by_itself(
    whole: Dataset, some: Dataset, transforms: list[Any]
) -> None:
    options: dict[str, Any] = {"transforms": transforms, "fields": ("image", "key")}
    with load(some, **options) as loader:
        expected = [images.tolist() for images, _ in loader]
    with (
        load(whole, cache="decoded", **options) as other,
        load(some, cache="decoded", **options) as loader,
    ):
        list(other)
        for _ in range(2):
            assert [images.tolist() for images, _ in loader] == expected
        assert loader.statistics().cached >= len(CHOSEN)


def test_a_subset_reads_from_the_memory_that_its_dataset_is_held_in(packed: Path) -> None:
    held = Dataset(packed, cache="ram")
    some, pixels = held.subset(CHOSEN), Dataset(packed)[38][0]
    del held
    assert np.array_equal(some[0][0], pixels)


@pytest.mark.parametrize(
    "numbers_of",
    [list, np.array, torch.tensor, lambda given: np.array(given, np.uint8)],
    ids=["list", "numpy", "torch", "uint8"],
)
def test_a_subset_may_be_integers_of_any_kind(whole: Dataset, numbers_of: Any) -> None:
    assert list(whole.subset(numbers_of([38, 0])).keys) == [whole.keys[38], whole.keys[0]]


def test_a_subset_may_be_a_mask(whole: Dataset) -> None:
    mask: NDArray[np.bool_] = np.arange(COUNT) < 2
    for chosen in (mask, mask.tolist()):
        assert list(whole.subset(chosen).keys) == whole.keys[:2]


def test_a_subset_of_nothing_has_no_samples(whole: Dataset) -> None:
    nothing = whole.subset([])
    assert (len(nothing), list(nothing.keys), nothing.targets) == (0, [], [])
