"""What a loader says of a data set, and what is settled when one is opened."""

from pathlib import Path
from typing import Any

import pytest

from reader import (
    Dataset,
    Loader,
    ReaderError,
)


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"split": "train"}, "split"),
        ({"upright": False}, "upright"),
        ({"cache": "ram"}, 'cache="ram"'),
        ({"cache": "ram", "cache_limit": 10**9}, 'cache="ram"'),
    ],
)
def test_what_is_settled_when_a_data_set_is_opened_is_not_ignored(
    packed: Path, options: dict[str, Any], name: str
) -> None:
    with pytest.raises(ReaderError, match=f"{name} is settled .* give it to reader.Dataset"):
        Loader(Dataset(packed), **options)


def test_a_data_set_keeps_what_it_was_opened_with(packed: Path) -> None:
    dataset = Dataset(packed, upright=False)
    for options in ({}, {"upright": False}):
        with Loader(dataset, workers=1, **options) as loader:
            assert loader.dataset is dataset
            assert not loader.dataset.upright


@pytest.mark.parametrize("dataset", [Path, Dataset])
def test_a_cache_that_is_none_is_refused(packed: Path, dataset: Any) -> None:
    with pytest.raises(ReaderError, match='cache is "ram", "decoded" or None, not \'disk\''):
        Loader(dataset(packed), cache="disk")  # type: ignore[arg-type]
    with pytest.raises(ReaderError, match='cache_limit goes with cache="ram" or "decoded"'):
        Loader(dataset(packed), cache_limit=10**9)
    with pytest.raises(ReaderError, match="cache_limit is a number of bytes"):
        Loader(dataset(packed), cache="decoded", cache_limit="1GB")  # type: ignore[arg-type]
