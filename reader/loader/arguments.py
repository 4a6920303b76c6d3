"""What a loader's arguments may be; what needs the dataset is checked where that is known."""

import difflib
import os
from collections.abc import Mapping, Sequence
from typing import Any, TypedDict

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


class TorchNames(TypedDict, total=False):
    """Keywords of torch's DataLoader that a Loader takes as well, for what it has itself.

    `num_workers` is `workers`. With `pin_memory`, a loop without a CUDAPrefetcher gets its batches
    in page-locked memory of torch's, if there is a GPU.
    """

    num_workers: int
    pin_memory: bool


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
    "batches_ahead": (or_none(is_count), "an integer of at least 1, or None"),
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

_OF_TORCH: dict[str, Rule] = {
    "num_workers": (lambda given: is_integer(given) and given >= 0, "an integer of at least 0"),
    "pin_memory": FLAG,
}

_OF_DATASET = 'reader.Loader(reader.Dataset("shards", {name}={value}))'

# Keywords of torch's DataLoader, of a Dataset or of an earlier Loader: what to write for each.
_ELSEWHERE = {
    "prefetch_factor": (
        "write batches_ahead={value}, the batches that all workers together decode ahead"
    ),
    "in_order": "leave it out, batches always come in order",
    "pin_memory_device": "leave it out, and give pin_memory=True or use a reader.CUDAPrefetcher",
    "persistent_workers": "leave it out, the workers stay until close()",
    "multiprocessing_context": "leave it out, the workers start in a way of their own",
    "generator": "write seed=0, which determines order and augmentation",
    "worker_init_fn": "leave it out, seed= determines what map_sample draws",
    "transform": (
        "write transforms=[reader.Resize(256), ...], or map_sample=function, called with the dict "
        "of each sample"
    ),
    "subset": f"write {_OF_DATASET}",
    "weights": "write sampler=reader.Weighted(weights) or sampler=reader.ClassBalanced()",
    "decoders": 'write fields=("image", reader.Member("exr", decode=function))',
    "upright": f"write {_OF_DATASET}",
    "limits": f"write {_OF_DATASET}",
    "channels": f"write {_OF_DATASET}",
    "target": f"write {_OF_DATASET}",
    "cache_limit": f"write {_OF_DATASET}",
    "cache_dir": f"write {_OF_DATASET} with the URL of the dataset",
    "storage_options": f"write {_OF_DATASET} with the URL of the dataset",
    "credential_provider": f"write {_OF_DATASET} with the URL of the dataset",
    "target_transform": "write map_sample=function, called with the dict of each sample",
}


def dataset_of(dataset: Any, split: str | None) -> Dataset:
    """Return the dataset that a Loader's arguments name.

    torch's Subset of a Dataset, also as `random_split` gives it, becomes that Dataset's subset.

    Raises:
        ArgumentError: it is no dataset of this kind, has another split, or what a Loader does not
            apply.
        FormatError: there is no dataset, or it is damaged.
    """
    if isinstance(dataset, (str, os.PathLike)):
        return Dataset(dataset, split)
    dataset = _chosen(dataset)
    if not isinstance(dataset, Dataset):
        raise ArgumentError(_instead_of(dataset))
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


def _chosen(dataset: Any) -> Any:
    """What torch's Subset has chosen of a Dataset, as a Dataset; anything else as it is."""
    if isinstance(dataset, Dataset) or not (
        hasattr(dataset, "indices") and hasattr(dataset, "dataset")
    ):
        return dataset
    whole = _chosen(dataset.dataset)
    return whole.subset(dataset.indices) if isinstance(whole, Dataset) else whole


def _instead_of(given: Any) -> str:
    """Say what to write instead of something that is no dataset of this format."""
    parts = getattr(given, "datasets", given if isinstance(given, (list, tuple)) else None)
    is_several = isinstance(parts, Sequence) and any(
        isinstance(part, (Dataset, str, os.PathLike)) for part in parts
    )
    if is_several and parts:
        sources = {part.source if isinstance(part, Dataset) else str(part) for part in parts}
        begin = f"A Loader reads one dataset, not {len(parts)} of them. "
        if len(sources) == 1:
            source = sources.pop()
            return (
                f"{begin}reader.Loader({source!r}) reads all splits of this one, and "
                f"reader.Loader(reader.Dataset({source!r}).subset(numbers)) reads chosen samples."
            )
        return (
            f"{begin}To read them one after the other, write `for batch in itertools.chain("
            "reader.Loader(first), reader.Loader(second)): ...`. To mix them, pack the second "
            "source into the first dataset: `packer pack SOURCE SHARDS --append`."
        )
    if hasattr(given, "__getitem__") and not isinstance(given, (bytes, Mapping)):
        return (
            f"A Loader reads a packed dataset, not a {type(given).__name__}. Pack it once: "
            'packer.pack(dataset, "shards"); then write reader.Loader("shards").'
        )
    return f"dataset is a reader.Dataset, or the folder or URL of one, not {given!r:.200}."


def own_arguments(arguments: Mapping[str, Any], others: Mapping[str, Any]) -> dict[str, Any]:
    """Return a Loader's arguments with `TorchNames` resolved: the workers, and `pin_memory`.

    Raises:
        ArgumentError: one of `others` has another name or place here, or contradicts an argument.
        TypeError: there is no such argument.
    """
    for name, value in others.items():
        if name in _ELSEWHERE:
            advice = _ELSEWHERE[name].format(name=name, value=f"{value!r:.200}")
            raise ArgumentError(f"A Loader has no {name}=: {advice}.")
        if name not in _OF_TORCH:
            known = [*arguments, *_OF_TORCH, *_ELSEWHERE]
            if close := difflib.get_close_matches(name, known, 1):
                raise ArgumentError(
                    f"A Loader has no {name}=: write {close[0]}={value!r:.200}, if that is meant."
                )
            raise TypeError(f"Loader.__init__() got an unexpected keyword argument {name!r}")
    check(others, {name: _OF_TORCH[name] for name in others})
    workers = others.get("num_workers", arguments["workers"])
    if arguments["workers"] not in (None, workers):
        raise ArgumentError(
            f"workers={arguments['workers']!r} and num_workers={workers} are two numbers of the "
            "same processes: give one of them."
        )
    return {**arguments, "workers": workers, "pin_memory": bool(others.get("pin_memory", False))}


def check_loader(arguments: Mapping[str, Any]) -> None:
    """Check the arguments of `reader.Loader`, each by itself and those that exclude each other.

    Raises:
        ArgumentError: one is not of its kind, or contradicts another.
    """
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
