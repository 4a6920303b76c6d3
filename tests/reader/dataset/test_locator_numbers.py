"""A subset: a Dataset of some samples, that is in every way one."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from ids import named
from numpy.typing import NDArray
from torch.utils.data import DataLoader

from reader import (
    ArgumentError,
    CenterCrop,
    Dataset,
    Loader,
    ReaderError,
    Resize,
)

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


def test_a_pickled_subset_has_the_same_samples(some: Dataset) -> None:
    twin = pickle.loads(pickle.dumps(some))
    assert twin.samples == some.samples
    assert np.array_equal(twin[2][0], some[2][0])


def test_torchs_data_loader_reads_a_subset(some: Dataset) -> None:
    some.transform = str
    loader: Any = DataLoader(some, 2)
    labels = torch.cat([label for _, label in loader])
    assert labels.tolist() == some.targets


def test_a_sampler_over_a_subset_gives_its_numbers(some: Dataset) -> None:
    with load(some, sampler=[4, 0, 0]) as loader:
        assert keys(loader) == [some.keys[4], some.keys[0], some.keys[0]]
    with (
        pytest.raises(ArgumentError, match="sample 38; the dataset has 0 to 4"),
        load(some, sampler=[38]) as loader,
    ):
        iter(loader)


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
    ("subset", "reason"),
    [
        ([39], "The subset yields sample 39; the dataset has 0 to 38"),
        (np.array([3, 39]), "The subset yields sample 39"),
        ([-1], "The subset yields sample -1"),
        (torch.tensor([-1]), "The subset yields sample -1"),
        ([True, 3], "A subset yields sample numbers, not True"),
        ([2**70], f"The subset yields sample {2**70}"),
        ([[1]], r"A subset is a list of sample numbers, .*, not \[\[1\]\]"),
        ([[1], [2, 3]], "A subset is a list of sample numbers"),
        ([1.5, 2.0], r"A subset is a list of sample numbers, .*, not \[1\.5, 2\.0\]"),
        ([None], "A subset yields sample numbers, not None"),
        (["1"], "A subset is a list of sample numbers"),
        (3, "A subset is a list of sample numbers, .*, not 3"),
        ("train", "A subset is a list of sample numbers, .*, not 'train'"),
        ({1, 2}, "A subset is a list of sample numbers"),
        ([True, False], "A subset of bools has one for each sample: 39, not 2"),
        (lambda columns: [1, 2], "function must return one bool"),
        (
            lambda columns: columns["hight"] > 60,
            r"column 'hight'; the columns are label, height, width",
        ),
    ],
    ids=named,
)
def test_what_is_not_a_subset_is_refused(whole: Dataset, subset: Any, reason: str) -> None:
    with pytest.raises(ArgumentError, match=reason):
        whole.subset(subset)
    with pytest.raises(ArgumentError, match=reason):
        Dataset(whole.folder, subset=subset)


@pytest.mark.parametrize(
    "numbers_of",
    [list, np.array, torch.tensor, lambda given: np.array(given, np.uint8)],
    ids=["list", "numpy", "torch", "uint8"],
)
def test_a_subset_may_be_integers_of_any_kind(whole: Dataset, numbers_of: Any) -> None:
    assert list(whole.subset(numbers_of([38, 0])).keys) == [whole.keys[38], whole.keys[0]]


def test_a_subset_may_be_a_mask(whole: Dataset) -> None:
    mask: NDArray[np.bool_] = np.arange(COUNT) < 2
    for given in (mask, mask.tolist()):
        assert list(whole.subset(given).keys) == whole.keys[:2]


def test_a_subset_of_nothing_has_no_samples_and_is_not_loaded(whole: Dataset) -> None:
    nothing = whole.subset([])
    assert (len(nothing), list(nothing.keys), nothing.targets) == (0, [], [])
    with pytest.raises(ReaderError, match="no samples"):
        Loader(nothing)
