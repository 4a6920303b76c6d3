"""What is fuzzed: a module for each kind of input that strangers may have written.

Each has ``seeds()``, which makes small valid inputs, and ``one(data)``, which hands an input to the
code that reads it. `one` returns if the input was read or refused by an error of the project's own
tree; anything else that it raises is a finding. What it asserts beside that, its docstring says.

`test_targets.py` runs all of them for a few seconds, ``scripts/fuzz.sh`` for as long as one likes.
"""

import importlib
from collections.abc import Callable, Iterable
from typing import NamedTuple

NAMES = (
    *("tar", "zip", "index", "dataset_json", "lying", "image", "tiling", "banding"),
    *("pair", "lists", "cifar", "idx", "parquet", "messages"),
)


class Target(NamedTuple):
    """One of the modules."""

    one: Callable[[bytes], None]
    seeds: Callable[[], Iterable[bytes]]


def load(name: str) -> Target:
    """The target of that name."""
    module = importlib.import_module(f"targets.{name}")
    return Target(module.one, module.seeds)
