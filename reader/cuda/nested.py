"""Batches as people nest them: tuples, lists, dicts and dataclasses around tensors."""

import copy
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any


def map_leaves(batch: Any, change: Callable[[Any], Any]) -> Any:
    """`batch` in the same containers, with `change` applied to whatever is not a container."""
    if _is_container(batch):
        return _rebuild(batch, partial(map_leaves, change=change))
    return change(batch)


def leaves(batch: Any) -> Iterator[Any]:
    """Whatever is not a container in `batch`."""
    if not _is_container(batch):
        yield batch
    for item in _inside(batch):
        yield from leaves(item)


def sequences(batch: Any) -> Iterator[Sequence[Any]]:
    """Every list and tuple in `batch`, the outer ones first."""
    if isinstance(batch, (tuple, list)):
        yield batch
    for item in _inside(batch):
        yield from sequences(item)


def _rebuild(batch: Any, change: Callable[[Any], Any]) -> Any:
    """The container `batch` with each item changed; `batch` changed where it is none."""
    if isinstance(batch, Mapping):
        return {name: change(value) for name, value in batch.items()}
    if isinstance(batch, tuple) and hasattr(batch, "_fields"):
        return type(batch)(*map(change, batch))
    if isinstance(batch, (tuple, list)):
        return type(batch)(map(change, batch))
    if _is_dataclass(batch):
        changed = copy.copy(batch)  # whatever its __init__ takes, and though it may be frozen
        for one in dataclasses.fields(batch):
            object.__setattr__(changed, one.name, change(getattr(batch, one.name)))
        return changed
    return change(batch)


def _inside(item: Any) -> Iterator[Any]:
    if isinstance(item, Mapping):
        yield from item.values()
    elif isinstance(item, (tuple, list)):
        yield from item
    elif _is_dataclass(item):
        yield from (getattr(item, one.name) for one in dataclasses.fields(item))


def _is_container(item: Any) -> bool:
    return isinstance(item, (tuple, list, Mapping)) or _is_dataclass(item)


def _is_dataclass(item: Any) -> bool:
    return dataclasses.is_dataclass(item) and not isinstance(item, type)
