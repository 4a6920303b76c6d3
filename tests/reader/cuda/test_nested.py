"""Nested batches keep their containers; scattering cuts what has a row for each sample."""

from collections import OrderedDict, namedtuple
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch

from reader import ReaderError
from reader.cuda.nested import (
    leaves,
    map_leaves,
    scatter,
)

Pair = namedtuple("Pair", ["image", "label"])


def test_every_leaf_is_changed_and_every_container_kept() -> None:
    batch = [1, (2, {"a": 3}), Pair(4, [5]), OrderedDict(b=6), "text", None]
    assert map_leaves(batch, lambda leaf: (leaf,)) == [
        (1,),
        ((2,), {"a": (3,)}),
        Pair((4,), [(5,)]),
        {"b": (6,)},
        ("text",),
        (None,),
    ]
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
    first, second = scatter(Record(torch.arange(4), ["a", "b", "c", "d"]), 2)
    assert (first.image.tolist(), second.image.tolist()) == ([0, 1], [2, 3])
    assert (first.others, second.others) == (["a", "b"], ["c", "d"])


def test_every_leaf_is_found_in_dataclasses_too() -> None:
    batch = [1, (2, {"a": 3}), Pair(4, [5]), Record(6, [7, 8]), "text", None, Record]
    assert list(leaves(batch)) == [1, 2, 3, 4, 5, 6, 7, 8, 2, "text", None, Record]


def test_tensors_and_lists_are_cut_by_rows_and_the_rest_is_in_every_part() -> None:
    images, labels = torch.rand(5, 3, 2, 2), torch.arange(5)
    batch = (images, labels, ["a", "b", "c", "d", "e"], "name", torch.tensor(7), {"n": labels})
    first, second = scatter(batch, 2)
    assert torch.equal(first[0], images[:3])
    assert torch.equal(second[0], images[3:])
    assert (first[1].tolist(), second[1].tolist()) == ([0, 1, 2], [3, 4])
    assert (first[2], second[2]) == (["a", "b", "c"], ["d", "e"])
    assert first[3] == second[3] == "name"
    assert first[4] == second[4] == 7
    assert (first[5]["n"].tolist(), second[5]["n"].tolist()) == ([0, 1, 2], [3, 4])


@pytest.mark.parametrize(("rows", "parts"), [(1, 1), (6, 3), (7, 3), (4, 3), (2, 3), (5, 4)])
def test_the_parts_are_those_of_torchs_chunk(rows: int, parts: int) -> None:
    labels = torch.arange(rows)
    expected = [part.tolist() for part in labels.chunk(parts)]
    assert [part["x"].tolist() for part in scatter({"x": labels}, parts)] == expected
    assert [part.tolist() for part in scatter(labels, parts)] == expected


def test_images_of_different_sizes_are_cut_as_a_list() -> None:
    images = [torch.rand(3, size, 4) for size in (1, 2, 3, 4)]
    first, second = scatter((images, torch.arange(4)), 2)
    assert [len(part[0]) for part in (first, second)] == [2, 2]
    assert second[0][0] is images[2]


def test_a_named_tuple_and_a_pair_of_two_rows_stay_what_they_are() -> None:
    first, second = scatter(Pair(torch.rand(2, 3), torch.arange(2)), 2)
    assert type(first) is Pair
    assert second.label.tolist() == [1]
    first, second = scatter([torch.rand(2, 3), torch.arange(2)], 2)
    assert first[0].shape == (1, 3)
    assert second[1].tolist() == [1]


def test_a_batch_without_tensors_cannot_be_scattered() -> None:
    with pytest.raises(ReaderError, match="without tensors"):
        scatter(("a", 3, [None]), 2)
