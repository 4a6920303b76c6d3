"""A mistake in an argument is told at once, by its name, as an error of the argument."""

import inspect
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from delivered import digest, only
from ids import named
from torch.utils.data import Subset, TensorDataset, random_split

from reader import (
    ArgumentError,
    BlockShuffle,
    Boxes,
    CenterCrop,
    Dataset,
    Loader,
    Mask,
    Member,
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
    arguments = {"dataset": packed, "workers": 1, "transforms": [CenterCrop(8)], name: value}
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


@pytest.mark.parametrize(
    ("wrong", "remedy"),
    [
        ({"transform": len}, r"no transform=: write transforms=\[reader.Resize\(256\), ...\], or"),
        ({"persistent_workers": True}, "no persistent_workers=: leave it out"),
        ({"prefetch_factor": 2}, "no prefetch_factor=: write batches_ahead=2, the batches"),
        ({"worker_init_fn": len}, "no worker_init_fn=: leave it out, seed= determines"),
        ({"multiprocessing_context": "fork"}, "no multiprocessing_context=: leave it out"),
        ({"subset": [1]}, r'write reader.Loader\(reader.Dataset\("shards", subset=\[1\]\)\)'),
        ({"weights": [1.0]}, r"no weights=: write sampler=reader.Weighted\(weights\) or sampler="),
        ({"decoders": {}}, r'write fields=\("image", reader.Member\("exr", decode=function\)\)'),
        ({"upright": False}, r'write reader.Loader\(reader.Dataset\("shards", upright=False\)\)'),
        ({"limits": None}, r'write reader.Loader\(reader.Dataset\("shards", limits=None\)\)'),
        ({"channels": 1}, r'write reader.Loader\(reader.Dataset\("shards", channels=1\)\)'),
        ({"cache_dir": "/x"}, r"cache_dir='/x'\)\) with the URL of the dataset"),
        ({"storage_options": {}}, r"storage_options={}\)\) with the URL of the dataset"),
        ({"credential_provider": len}, "with the URL of the dataset"),
        ({"cache_limit": 1}, r'write reader.Loader\(reader.Dataset\("shards", cache_limit=1\)\)'),
        ({"batchsize": 3}, "no batchsize=. Did you mean batch_size=3"),
        ({"prefetchfactor": 3}, "no prefetchfactor=. Did you mean prefetch_factor=3"),
        ({"num_workers": -1}, "num_workers is an integer of at least 0, not -1"),
        ({"num_workers": 2, "workers": 1}, "workers=1 and num_workers=2 contradict"),
        ({"num_samples": 10}, "no num_samples=: write epoch_size=10"),
        ({"pin_memory": 3}, "pin_memory is True or False, not 3"),
        ({"cache": "ram"}, 'cache is "decoded" or None .* give reader.Dataset cache="ram"'),
    ],
)
def test_a_word_of_another_place_is_refused_with_ours(
    packed: Path, wrong: dict[str, Any], remedy: str
) -> None:
    with pytest.raises(ArgumentError, match=remedy):
        Loader(packed, **wrong)


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
    Mask: {"member": (3,), "fill": ("black", True)},
    Boxes: {
        "member": (None,),
        "path": (["boxes"],),
        "format": (["xyxy"],),
        "labels": (3,),
        "min_size": ("1", -1),
        "normalized": ("yes",),
        "decode": ("json",),
    },
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


def test_a_dataset_that_is_open_already_is_of_its_own_split(packed: Path) -> None:
    with pytest.raises(ArgumentError, match=r"Write reader\.Loader\(reader\.Dataset\("):
        Loader(Dataset(packed), split="train")


@pytest.mark.parametrize("name", ["transform", "target_transform", "target"])
def test_a_transform_of_the_dataset_is_not_ignored(packed: Path, name: str) -> None:
    options: dict[str, Any] = {name: "coco" if name == "target" else len}
    reason = f"does not apply the dataset's {name}=,.* transforms= .* map_sample="
    with pytest.raises(ArgumentError, match=reason):
        Loader(Dataset(packed, **options))


def test_a_part_that_torch_has_chosen_is_the_subset_of_its_numbers(packed: Path) -> None:
    whole = Dataset(packed)
    part, rest = random_split(whole, [0.5, 0.5])
    half = Subset(part, range(0, len(part), 2))
    chosen = [part.indices[number] for number in half.indices]
    for given, numbers in ((half, chosen), (rest, rest.indices)):
        assert only(given, batch_size=39, fields=["key"]) == ([whole.keys[n] for n in numbers],)


NUMBERS = TensorDataset(torch.arange(3))


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (lambda folder: [folder, "/b"], r"not 2 of them. To mix them, give it reader.Mix\(\["),
        (lambda folder: Dataset(folder) + NUMBERS, "Pack what is not packed: `packer pack SOURCE"),
        (lambda folder: [Dataset(folder), Dataset(folder)], r"reads all splits of this one"),
        (lambda _: NUMBERS, r'not a TensorDataset. Pack it once: packer.pack\(dataset, "shards"\)'),
        (lambda _: Subset(NUMBERS, [0]), "not a TensorDataset. Pack"),
    ],
    ids=["folders", "sum", "splits", "torch", "subset-of-torch"],
)
def test_what_is_no_dataset_of_ours_is_answered_with_what_to_write(
    packed: Path, given: Any, reason: str
) -> None:
    with pytest.raises(ArgumentError, match=reason):
        Loader(given(packed))
