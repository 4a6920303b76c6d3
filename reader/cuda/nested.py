"""Batches as people nest them: tuples, lists, dicts and dataclasses around tensors."""

import copy
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from reader.errors import ReaderError


def map_leaves(batch: Any, change: Callable[[Any], Any]) -> Any:
    """`batch` in the same containers, with `change` applied to whatever is no container."""
    if _is_container(batch):
        return _rebuild(batch, partial(map_leaves, change=change))
    return change(batch)


def leaves(batch: Any) -> Iterator[Any]:
    """Whatever is no container in `batch`."""
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


def scatter(batch: Any, parts: int) -> list[Any]:
    """`batch` cut along its rows, as nn.DataParallel's scatter cuts it.

    Tensors and inner lists or tuples that have a row for each sample are cut; anything else is in
    every part. There are fewer parts where the rows do not suffice.

    Raises:
        ReaderError: there is no tensor to tell the number of samples.
    """
    rows = _rows(batch)
    size = max(1, -(-rows // parts))
    cuts = [slice(start, start + size) for start in range(0, max(rows, 1), size)]
    return [_rebuild(batch, partial(_cut, rows=rows, cut=cut)) for cut in cuts]


def _cut(item: Any, rows: int, cut: slice) -> Any:
    is_plain = isinstance(item, (tuple, list)) and not hasattr(item, "_fields")
    if is_plain and len(item) == rows and not _are_views(item, rows):
        return type(item)(item[cut])
    if _is_container(item):
        return _rebuild(item, partial(_cut, rows=rows, cut=cut))
    return item[cut] if _length(item) == rows else item


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


def _rows(batch: Any) -> int:
    """The length of the first tensor, those in the outermost container before others."""
    level = [batch]
    while level:
        for item in level:
            if (length := _length(item)) is not None:
                return length
        level = [inner for item in level for inner in _inside(item)]
    raise ReaderError("A batch without tensors cannot be scattered over devices.")


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


def _are_views(items: Sequence[Any], rows: int) -> bool:
    """Whether each item is a batch of images, rather than one sample's."""
    return all(_length(item) == rows and len(item.shape) > 3 for item in items)


def _length(leaf: Any) -> int | None:
    """The rows of a tensor; None for a number, or what is no tensor at all."""
    shape: Sequence[int] = getattr(leaf, "shape", ())
    return shape[0] if len(shape) else None
