"""Nested batches keep their containers."""

from collections import OrderedDict, namedtuple
from dataclasses import dataclass, field
from typing import Any

from reader.batch.nested import leaves, map_leaves

Pair = namedtuple("Pair", ["image", "label"])


def test_every_leaf_is_changed_and_every_container_kept() -> None:
    batch = [1, (2, {"a": 3}), Pair(4, [5]), OrderedDict(b=6), "text", None]
    changed = [(1,), ((2,), {"a": (3,)}), Pair((4,), [(5,)]), {"b": (6,)}, ("text",), (None,)]
    assert map_leaves(batch, lambda leaf: (leaf,)) == changed
    assert type(map_leaves(Pair(1, 2), str)) is Pair


@dataclass(frozen=True)
class Record:
    image: Any
    others: list[Any]
    count: int = field(default=2, init=False)


def test_dataclasses_are_containers_that_are_copied() -> None:
    record = Record(1, [3])
    assert repr(map_leaves(record, str)) == "Record(image='1', others=['3'], count='2')"
    assert record == Record(1, [3])


def test_every_leaf_is_found_in_dataclasses_too() -> None:
    batch = [1, (2, {"a": 3}), Pair(4, [5]), Record(6, [7, 8]), "text", None, Record]
    assert list(leaves(batch)) == [1, 2, 3, 4, 5, 6, 7, 8, 2, "text", None, Record]
