"""The data set of a loader: the one that is given, or opened as the loader's arguments say."""

import os

from reader.dataset.dataset import (
    Dataset,
    check_limit,
)
from reader.errors import ArgumentError


def opened(
    dataset: Dataset | str | os.PathLike[str],
    split: str | None,
    upright: bool,
    cache: str | None,
    cache_limit: int | None,
) -> Dataset:
    """The data set that a Loader's arguments name.

    Raises:
        ArgumentError: one of them is the business of the data set that is there already, or that
            has what a Loader does not apply.
        FormatError: there is no data set, or it is damaged.
    """
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
            raise ArgumentError(
                f"{name} is settled when a data set is opened: give it to reader.Dataset, or the "
                "folder to the Loader."
            )
    for name in ("transform", "target_transform"):
        if getattr(dataset, name) is not None:
            raise ArgumentError(
                f"A Loader does not apply the data set's {name}, which is for torch's DataLoader: "
                "give it transforms= (reader's own) or map_sample= (a function of the sample, "
                "called in the workers), and a data set without."
            )
    return dataset
