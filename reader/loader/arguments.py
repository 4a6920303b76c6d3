"""What a loader's arguments may be; what needs the dataset is checked where that is known."""

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
from reader.errors import ArgumentError

_OF_LOADER: dict[str, Rule] = {
    "split": NAME,
    "batch_size": (is_count, "an integer of at least 1"),
    "seed": (is_integer, "an integer"),
    "epochs": (or_none(is_count), "an integer of at least 1, or None for no end"),
    "workers": (
        lambda given: given is None or is_count(given) or one_of("auto")(given),
        "an integer of at least 1, 'auto' or None",
    ),
    "drop_last": FLAG,
    "decoders": (
        or_none(lambda given: isinstance(given, Mapping) and all(map(callable, given.values()))),
        "a dict of functions, by extension, or None",
    ),
    "map_sample": FUNCTION,
    "map_batch": FUNCTION,
    "collate_fn": FUNCTION,
    "upright": FLAG,
    "cache": (one_of(None, "ram", "decoded"), '"ram", "decoded" or None'),
    "on_error": (one_of("raise", "substitute", "mask"), "'raise', 'substitute' or 'mask'"),
    "max_bad": (lambda given: is_number(given) and 0 <= given <= 1, "a share from 0 to 1"),
    "decode": (one_of("cpu", "gpu"), "'cpu' or 'gpu'"),
    "timeout": (
        lambda given: is_number(given) and given >= 0,
        "a number of seconds, 0 for no end",
    ),
}

# What torch's DataLoader, or a Dataset, has under another name or has to be told.
_ELSEWHERE = {
    "num_workers": "workers= is the number of processes",
    "pin_memory": "leave it out, a reader.CUDAPrefetcher page-locks the loader's memory by itself",
    "prefetch_factor": "leave it out, batches are decoded ahead as far as their memory allows",
    "persistent_workers": "leave it out, the workers stay until close()",
    "generator": "seed= determines order and augmentation",
    "worker_init_fn": "leave it out, seed= determines what map_sample draws",
    "transform": "transforms= takes reader's own, map_sample= a function of the sample",
    "target_transform": "map_sample= takes a function of the sample, its label included",
}


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
    if arguments["decode"] == "gpu" and arguments["cache"] == "decoded":
        raise ArgumentError('cache="decoded" keeps what workers decode, decode="gpu" has none.')
