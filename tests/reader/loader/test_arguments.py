"""A mistake in an argument is told at once, by its name; sentences: `guarantees/refused.rows`."""

import inspect
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from delivered import digest, only
from ids import named
from torch.utils.data import Subset, random_split

from reader import (
    ArgumentError,
    Bands,
    BlockShuffle,
    Boxes,
    CenterCrop,
    Dataset,
    Loader,
    Mask,
    Member,
    Points,
    Polygons,
    ReaderError,
)

pytestmark = pytest.mark.usefixtures("no_leftovers")

WRONG: dict[str, tuple[Any, ...]] = {
    "dataset": (3, None, b"shards", ["shards"]),
    "split": (3, ["train"], "test"),
    "batch_size": (0, -1, True, 2.5, "8", None, np.float64(8)),
    "transforms": (None, CenterCrop(8), [CenterCrop], [lambda image: image], "flip", {"a": 1}, 3),
    "views": (0, True, "2", 1.5, None, [], [3], [CenterCrop(8)]),
    "shuffle": ("yes", 1, None, BlockShuffle),
    "seed": ("x", 1.0, True, None, [0]),
    "epoch_size": (0, 1.5, True, "1", -1),
    "epochs": (0, 1.5, True, "1", -1),
    "sampler": (3, "random"),
    "batch_sampler": (3, "random", [3], [[3], []], [["a"]], [[-1]]),
    "workers": (-1, True, False, 1.5, "all", [1], 100_000, 8 * (os.cpu_count() or 1) + 65),
    "batches_ahead": (0, -1, True, 2.5, "2"),
    "drop_last": (1, "yes", None),
    "fields": ("image", (), {"image"}, None, 3, [3], ["lable"]),
    "map_sample": (3, "f", [len]),
    "map_batch": (3, "f", [len]),
    "collate_fn": (3, "pad", [len]),
    "cache": ("disk", "ram", True, 3, ["decoded"]),
    "on_error": ("skip", None, 3, ["raise"]),
    "max_bad": (-1, 1.1, "0.1", None, True, float("nan")),
    "decode": ("tpu", None, 3),
    "timeout": ("1", -1, None, True, float("nan"), float("inf")),
}


@pytest.mark.parametrize(
    ("name", "value"),
    [(name, value) for name, values in WRONG.items() for value in values],
    ids=lambda given: named(repr(given))[:40],
)
def test_a_value_of_another_kind_is_an_error_of_its_argument(
    packed: Path, name: str, value: Any
) -> None:
    arguments = {"dataset": packed, "workers": 0, "transforms": [CenterCrop(8)], name: value}
    if isinstance(value, list) and name == "views":
        del arguments["transforms"]
    with pytest.raises(ArgumentError) as caught:
        Loader(**arguments)
    assert isinstance(caught.value, ReaderError)
    assert isinstance(caught.value, ValueError)
    words = {"views": "", "fields": "field"}
    assert words.get(name, name) in str(caught.value)


def test_every_argument_of_a_loader_was_tried_with_a_wrong_value() -> None:
    known = set(inspect.signature(Loader).parameters) - {"torch_names"}
    assert len(known - {"dataset"}) <= 24
    assert known - set(WRONG) == {"rank", "world_size"}  # have tests of their own


def test_a_type_error_of_the_users_own_is_raised_as_it_is() -> None:
    class Wrong:
        def __fspath__(self) -> str:
            raise TypeError("my own")

    with pytest.raises(TypeError, match="my own"):
        Dataset(Wrong())  # type: ignore[arg-type]


def test_batches_ahead_chooses_the_memory(packed: Path) -> None:
    options: dict[str, Any] = {"batch_size": 8, "transforms": [CenterCrop(8)], "workers": 1}
    with Loader(packed, **options) as loader:
        usual, slots = digest(loader), loader.statistics().slots
    for ahead in (1, 2, slots + 3):
        with Loader(packed, batches_ahead=ahead, **options) as loader:
            assert loader.statistics().slots == ahead + 2
            assert digest(loader) == usual


def test_integers_and_numbers_of_numpy_are_taken(packed: Path) -> None:
    whole = {"batch_size": 8, "seed": 3, "epochs": 1, "workers": 1, "rank": 0, "world_size": 1}
    numbers = {name: np.int16(value) for name, value in {**whole, "timeout": 0}.items()}
    more: dict[str, Any] = {"drop_last": np.bool_(True), "max_bad": np.float32(0.5)}
    with Loader(packed, transforms=[CenterCrop(8)], **numbers, **more) as loader:
        assert len(list(loader)) == len(loader) == 4


WRONG_OF_FIELDS: dict[Any, dict[str, tuple[Any, ...]]] = {
    Bands: {"member": (3,), "interpolation": ("lanczos",)},
    Mask: {"member": (3,), "fill": ("black", True)},
    Boxes: {
        "member": (None,),
        "path": (["boxes"],),
        "format": (["xyxy"],),
        "labels": (3,),
        "min_size": ("1", -1),
        "normalized": ("yes",),
        "decode": ("json",),
        "min_visible": (20,),
    },
    Points: {"format": ("yx",), "names": ("nose",), "flip": ([1, 2],), "path": (3,)},
    Polygons: {"format": ("xyxy",), "min_visible": (2,), "clip": (1,)},
    Member: {"member": (3,), "decode": ("txt",)},
}


@pytest.mark.parametrize(
    ("field", "name", "value"),
    [(f, n, value) for f, wrong in WRONG_OF_FIELDS.items() for n in wrong for value in wrong[n]],
)
def test_a_field_of_wrong_arguments_is_refused_when_it_is_made(
    field: Any, name: str, value: Any
) -> None:
    with pytest.raises(ArgumentError, match=f"^{name} is "):
        field(**{"member": "json", name: value})


def test_a_part_that_torch_has_chosen_is_the_subset_of_its_numbers(packed: Path) -> None:
    whole = Dataset(packed)
    part, rest = random_split(whole, [0.5, 0.5])
    half = Subset(part, range(0, len(part), 2))
    chosen = [part.indices[number] for number in half.indices]
    for given, numbers in ((half, chosen), (rest, rest.indices)):
        assert only(given, batch_size=39, fields=["key"]) == ([whole.keys[n] for n in numbers],)
