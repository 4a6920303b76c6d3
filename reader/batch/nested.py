"""Traverse batches in tuples, lists, dicts and dataclasses."""

import copy
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any


def map_leaves(batch: Any, change: Callable[[Any], Any]) -> Any:
    """Return `batch` in the same containers, with `change` applied to the other values."""
    inside = partial(map_leaves, change=change)
    if isinstance(batch, Mapping):
        return {name: inside(value) for name, value in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*map(inside, batch))
    if isinstance(batch, (tuple, list)):
        return type(batch)(map(inside, batch))
    if _is_dataclass(batch):
        changed = copy.copy(batch)  # independent of its __init__, and also if it is frozen
        for one in dataclasses.fields(batch):
            object.__setattr__(changed, one.name, inside(getattr(batch, one.name)))
        return changed
    return change(batch)


def leaves(batch: Any) -> Iterator[Any]:
    if not isinstance(batch, (tuple, list, Mapping)) and not _is_dataclass(batch):
        yield batch
    for item in _inside(batch):
        yield from leaves(item)


def sequences(batch: Any) -> Iterator[Sequence[Any]]:
    if isinstance(batch, (tuple, list)):
        yield batch
    for item in _inside(batch):
        yield from sequences(item)


def _inside(item: Any) -> Iterator[Any]:
    if isinstance(item, Mapping):
        yield from item.values()
    elif isinstance(item, (tuple, list)):
        yield from item
    elif _is_dataclass(item):
        yield from (getattr(item, one.name) for one in dataclasses.fields(item))


def _is_dataclass(item: Any) -> bool:
    return dataclasses.is_dataclass(item) and not isinstance(item, type)
