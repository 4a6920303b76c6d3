"""The data set of a loader: the one that is given, or opened as the loader's arguments say."""

import os

from reader.dataset.dataset import (
    Dataset,
    check_limit,
)
from reader.errors import ReaderError


def opened(
    dataset: Dataset | str | os.PathLike[str],
    split: str | None,
    upright: bool,
    cache: str | None,
    cache_limit: int | None,
) -> Dataset:
    """The data set that a Loader's arguments name.

    Raises:
        ReaderError: one of them is none, or is the business of the data set that is there already.
        FormatError: there is no data set, or it is damaged.
    """
    if cache not in (None, "ram", "decoded"):
        raise ReaderError(f'cache is "ram", "decoded" or None, not {cache!r}.')
    check_limit(cache, cache_limit)
    if not isinstance(dataset, Dataset):
        if cache == "ram":
            return Dataset(dataset, split, upright, cache="ram", cache_limit=cache_limit)
        return Dataset(dataset, split, upright)
    differs = {
        "split": split not in (None, dataset.split),
        "upright": dataset.upright and not upright,
        'cache="ram"': cache == "ram",
    }
    for name, is_other in differs.items():
        if is_other:
            raise ReaderError(
                f"{name} is settled when a data set is opened: give it to reader.Dataset, or the "
                "folder to the Loader."
            )
    return dataset
