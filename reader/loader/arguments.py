"""What a loader's arguments may be; what needs the dataset is checked where that is known."""

import os
from collections.abc import Mapping
from typing import Any

from reader.checks import (
    FLAG,
    FUNCTION,
    NAME,
    Rule,
    check,
    is_count,
    is_integer,
    is_number,
    one_of,
    or_none,
)
from reader.dataset.dataset import Dataset
from reader.errors import ArgumentError

_WORKERS, _WORKERS_PER_CORE = 64, 8  # far more than are of use anywhere: more are a mistake

_OF_LOADER: dict[str, Rule] = {
    "split": NAME,
    "batch_size": (is_count, "an integer of at least 1"),
    "seed": (is_integer, "an integer"),
    "epochs": (or_none(is_count), "an integer of at least 1, or None for no end"),
    "workers": (
        lambda given: given is None or (is_integer(given) and given >= 0) or one_of("auto")(given),
        "an integer of at least 0, 'auto' or None",
    ),
    "drop_last": FLAG,
    "map_sample": FUNCTION,
    "map_batch": FUNCTION,
    "collate_fn": FUNCTION,
    "cache": (
        one_of(None, "decoded"),
        '"decoded" or None (to hold the shards in memory, give reader.Dataset cache="ram")',
    ),
    "on_error": (one_of("raise", "substitute", "mask"), "'raise', 'substitute' or 'mask'"),
    "max_bad": (lambda given: is_number(given) and 0 <= given <= 1, "a share from 0 to 1"),
    "decode": (one_of("cpu", "gpu"), "'cpu' or 'gpu'"),
    "timeout": (
        lambda given: is_number(given) and given >= 0,
        "a number of seconds, 0 for no end",
    ),
}

_OF_STORE = "give reader.Dataset the URL and this, and the Loader that dataset"

# What torch's DataLoader, a Dataset or an earlier Loader has, or what goes by another name here.
_ELSEWHERE = {
    "num_workers": "workers= is the number of processes",
    "pin_memory": "leave it out, a reader.CUDAPrefetcher page-locks the loader's memory by itself",
    "prefetch_factor": "leave it out, batches are decoded ahead as far as their memory allows",
    "persistent_workers": "leave it out, the workers stay until close()",
    "multiprocessing_context": "leave it out, the workers start in a way of their own",
    "generator": "seed= determines order and augmentation",
    "worker_init_fn": "leave it out, seed= determines what map_sample draws",
    "transform": "transforms= takes reader's own, map_sample= a function of the sample",
    "subset": "choose samples by reader.Dataset(..., subset=...) or dataset.subset(...)",
    "weights": "sampler=reader.Weighted(weights) or reader.ClassBalanced() draws by weight",
    "decoders": "reader.Member(extension, decode=function) goes among the fields",
    "upright": "give it to reader.Dataset",
    "limits": "give it to reader.Dataset",
    "channels": "give it to reader.Dataset",
    "target": "give it to reader.Dataset",
    "cache_limit": "give it to reader.Dataset",
    "cache_dir": _OF_STORE,
    "storage_options": _OF_STORE,
    "credential_provider": _OF_STORE,
    "target_transform": "map_sample= takes a function of the sample, its label included",
}


def dataset_of(dataset: Dataset | str | os.PathLike[str], split: str | None) -> Dataset:
    """The dataset that a Loader's arguments name.

    Raises:
        ArgumentError: it has another split, or what a Loader does not apply.
        FormatError: there is no dataset, or it is damaged.
    """
    if not isinstance(dataset, Dataset):
        if hasattr(dataset, "indices"):
            raise ArgumentError(
                "A Loader does not read torch's Subset. Of a part that torch has chosen, give it "
                "dataset.subset(part.indices), where dataset is the reader.Dataset."
            )
        return Dataset(dataset, split)
    if split not in (None, dataset.split):
        raise ArgumentError(
            "split is settled when a dataset is opened: give it to reader.Dataset, or the folder "
            "to the Loader."
        )
    for name in ("transform", "target_transform", "target"):
        if getattr(dataset, name) is not None:
            raise ArgumentError(
                f"A Loader does not apply the dataset's {name}, which is for torch's DataLoader: "
                "give it transforms= (reader's own) or map_sample= (a function of the sample, "
                "called in the workers; COCO's boxes are a field), and a dataset without."
            )
    return dataset


def check_loader(arguments: Mapping[str, Any], unknown: Mapping[str, Any]) -> None:
    """Look at the arguments of `reader.Loader`, each by itself and those that exclude each other.

    Args:
        arguments: by name.
        unknown: those that a Loader does not have.

    Raises:
        ArgumentError: one is not of its kind, or goes by another name here.
        TypeError: there is no such argument.
    """
    for name in unknown:
        if name in _ELSEWHERE:
            raise ArgumentError(f"A Loader has no {name}=: {_ELSEWHERE[name]}.")
        raise TypeError(f"Loader.__init__() got an unexpected keyword argument {name!r}")
    check(arguments, _OF_LOADER)
    if arguments["batch_sampler"] is not None:
        for name in ("shuffle", "sampler", "drop_last", "rank"):
            if arguments[name] is not None and arguments[name] is not False:
                raise ArgumentError(
                    f"A batch_sampler decides what is in a batch of this rank: leave out {name}."
                )
    cores = os.cpu_count() or 1
    most = max(_WORKERS, _WORKERS_PER_CORE * cores)
    if is_count(arguments["workers"]) and arguments["workers"] > most:
        raise ArgumentError(
            f"workers={arguments['workers']} are more processes than {cores} cores can use, and "
            f"would use up the memory: {most} are the most here. Leave it out for one on each core."
        )
    if arguments["decode"] == "gpu" and arguments["cache"] == "decoded":
        raise ArgumentError('cache="decoded" keeps what workers decode, decode="gpu" has none.')
