"""A mistake in an argument is told at once, by its name, as an error of the argument."""

import inspect
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
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


def test_an_argument_that_nobody_has_is_refused_as_python_does(packed: Path) -> None:
    wrong: dict[str, Any] = {"gpu": 3}
    with pytest.raises(TypeError, match="unexpected keyword argument 'gpu'"):
        Loader(packed, **wrong)


def test_batches_ahead_chooses_the_memory(packed: Path) -> None:
    options: dict[str, Any] = {"batch_size": 8, "transforms": [CenterCrop(8)], "workers": 1}
    with Loader(packed, **options) as loader:
        usual, slots = list(loader), loader.statistics().slots
    for ahead in (1, 2, slots + 3):
        with Loader(packed, batches_ahead=ahead, **options) as loader:
            assert loader.statistics().slots == ahead + 2
            for batch, expected in zip(loader, usual, strict=True):
                assert torch.equal(batch[0], expected[0])


def test_integers_and_numbers_of_numpy_are_taken(packed: Path) -> None:
    numbers: dict[str, Any] = {
        "batch_size": np.int64(8),
        "seed": np.uint8(3),
        "epochs": np.int32(1),
        "workers": np.int16(1),
        "drop_last": np.bool_(True),
        "rank": np.int64(0),
        "world_size": np.int64(1),
        "max_bad": np.float32(0.5),
        "timeout": np.int64(0),
    }
    with Loader(packed, transforms=[CenterCrop(8)], **numbers) as loader:
        assert len(list(loader)) == len(loader) == 4


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        (Mask, {"member": 3}),
        (Mask, {"fill": "black"}),
        (Mask, {"fill": True}),
        (Boxes, {"member": None}),
        (Boxes, {"path": ["boxes"]}),
        (Boxes, {"format": ["xyxy"]}),
        (Boxes, {"labels": 3}),
        (Boxes, {"min_size": "1"}),
        (Boxes, {"min_size": -1}),
        (Boxes, {"normalized": "yes"}),
        (Boxes, {"decode": "json"}),
        (Member, {"member": 3}),
        (Member, {"decode": "txt"}),
    ],
)
def test_a_field_of_wrong_arguments_is_refused_when_it_is_made(
    field: Any, wrong: dict[str, Any]
) -> None:
    (name,) = wrong
    with pytest.raises(ArgumentError, match=f"^{name} is "):
        field(**{"member": "json", **wrong})


@pytest.mark.parametrize("epoch", [-1, 1.5, "1", None, True])
def test_an_epoch_that_is_no_number_is_refused(packed: Path, epoch: Any) -> None:
    with (
        Loader(packed, workers=1, transforms=[CenterCrop(8)]) as loader,
        pytest.raises(ArgumentError, match="epoch is an integer from 0, not"),
    ):
        loader.set_epoch(epoch)


def test_a_dataset_that_is_open_already_is_of_its_own_split(packed: Path) -> None:
    with pytest.raises(ArgumentError, match=r"Write reader\.Loader\(reader\.Dataset\("):
        Loader(Dataset(packed), split="train")


def test_a_dataset_keeps_what_it_was_opened_with(packed: Path) -> None:
    dataset = Dataset(packed, upright=False)
    with Loader(dataset, workers=1) as loader:
        assert loader.dataset is dataset


@pytest.mark.parametrize("name", ["transform", "target_transform", "target"])
def test_a_transform_of_the_dataset_is_not_ignored(packed: Path, name: str) -> None:
    options: dict[str, Any] = {name: "coco" if name == "target" else len}
    reason = f"does not apply the dataset's {name}=,.* transforms= .* map_sample="
    with pytest.raises(ArgumentError, match=reason):
        Loader(Dataset(packed, **options))


def test_an_error_of_an_argument_is_a_reader_error_and_a_value_error(packed: Path) -> None:
    for kind in (ReaderError, ValueError):
        with pytest.raises(kind, match="batch_size is an integer of at least 1, not 0"):
            Loader(packed, batch_size=0)


def test_a_part_that_torch_has_chosen_is_the_subset_of_its_numbers(packed: Path) -> None:
    whole = Dataset(packed)
    part, rest = random_split(whole, [0.5, 0.5])
    half = Subset(part, range(0, len(part), 2))
    keys = []
    for chosen in (half, rest):
        with Loader(chosen, batch_size=39, workers=0, fields=["key"]) as loader:
            ((found,),) = loader
            assert isinstance(loader.dataset, Dataset)
        keys.append(found)
    assert keys[0] == [whole.keys[part.indices[number]] for number in half.indices]
    assert keys[1] == [whole.keys[number] for number in rest.indices]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (
            lambda folder: [folder, "/b"],
            r"not 2 of them. To mix them, give it reader.Mix\(\[reader.Dataset\(first\), ",
        ),
        (
            lambda folder: Dataset(folder) + TensorDataset(torch.arange(3)),
            "To mix them, .* Pack what is not packed: `packer pack SOURCE SHARDS`",
        ),
        (
            lambda folder: [Dataset(folder), Dataset(folder)],
            r"reader.Loader\('/.*'\) reads all splits of this one",
        ),
        (
            lambda folder: TensorDataset(torch.arange(3)),
            r'not a TensorDataset. Pack it once: packer.pack\(dataset, "shards"\)',
        ),
        (lambda folder: Subset(TensorDataset(torch.arange(3)), [0]), "not a TensorDataset. Pack"),
    ],
    ids=["folders", "sum", "splits", "torch", "subset-of-torch"],
)
def test_what_is_no_dataset_of_ours_is_answered_with_what_to_write(
    packed: Path, given: Any, reason: str
) -> None:
    with pytest.raises(ArgumentError, match=reason):
        Loader(given(packed))
