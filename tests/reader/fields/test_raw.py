"""Raw images of one size: gathered a chunk at a time, to the same pixels as one by one."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from delivered import Write, only
from hypothesis import given, settings
from hypothesis import strategies as st

import packer
import reader
from reader import (
    CenterCrop,
    Dataset,
    Loader,
    RandomCrop,
    RandomHorizontalFlip,
    RandomVerticalFlip,
    Transform,
)
from reader.rng import BatchRandom, SampleRandom

COUNT = 37


def raw_set(write_samples: Write, channels: int) -> tuple[Path, np.ndarray]:
    """A dataset of raw images in several shards, and their pixels."""
    pixels = np.random.default_rng(0).integers(1, 256, (COUNT, 12, 10, channels), np.uint8)
    samples = {f"k{'x' * (n % 3)}{n}": {"raw": image.tobytes()} for n, image in enumerate(pixels)}
    folder = write_samples(samples, shard_samples=10, labels=range(COUNT), raw=(12, 10, channels))
    return folder, pixels


class Plain:
    """A transform that cannot be applied to many samples at a time."""

    def apply(self, geometry: reader.Geometry, rng: SampleRandom) -> None:
        pass


PIPELINES: list[Sequence[Transform]] = [
    [],
    [RandomHorizontalFlip()],
    [RandomCrop((12, 10), padding=4), RandomHorizontalFlip()],
    [RandomCrop(7), RandomVerticalFlip(), RandomHorizontalFlip(0.7)],
    [RandomVerticalFlip(), RandomHorizontalFlip(), RandomCrop(9, padding=2, fill=200)],
    [CenterCrop((20, 4)), RandomCrop(3)],
    [CenterCrop(8), RandomCrop(12, padding=4), RandomHorizontalFlip(), RandomVerticalFlip()],
    [RandomCrop(8), RandomCrop(11, padding=3, fill=7)],
    [RandomCrop((12, 300), padding=1000, fill=9), RandomHorizontalFlip()],
    [RandomCrop((12, 300), padding=150, fill=9), RandomHorizontalFlip(), RandomVerticalFlip()],
    [RandomCrop((700, 10), padding=345, fill=9), RandomHorizontalFlip()],
]


@pytest.mark.parametrize(
    ("channels", "pipeline"),
    [*((3, pipeline) for pipeline in PIPELINES), *((1, pipeline) for pipeline in PIPELINES[:3])],
    ids=str,
)
def test_gathered_images_are_those_that_are_read_one_by_one(
    write_samples: Write, channels: int, pipeline: Sequence[Transform]
) -> None:
    folder, pixels = raw_set(write_samples, channels)
    seen: list[Any] = []
    for transforms in (pipeline, [*pipeline, Plain()]):
        with Loader(
            folder,
            batch_size=16,
            shuffle=True,
            workers=int(not pipeline),
            transforms=transforms,
            fields=("image", "label", "index", "valid", "key"),
            rank=0,
            world_size=2,
        ) as loader:
            seen.append([batch for _ in range(2) for batch in loader])
    for gathered, single in zip(*seen, strict=True):
        assert torch.equal(gathered[0], single[0])
        for ours, theirs in zip(gathered[1:4], single[1:4], strict=True):
            assert ours.tolist() == theirs.tolist()
        assert gathered[4] == single[4]
        if not pipeline:
            expected = np.broadcast_to(pixels[gathered[2].numpy()], (len(gathered[0]), 12, 10, 3))
            assert np.array_equal(gathered[0].permute(0, 2, 3, 1).numpy(), expected)


@pytest.mark.skipif(sys.platform != "linux", reason="needs memfd")
def test_raw_images_are_gathered_from_memory_too(write_samples: Write) -> None:
    folder, pixels = raw_set(write_samples, 3)
    image, _ = only(Dataset(folder, cache="ram"), batch_size=COUNT)
    assert np.array_equal(image.permute(0, 2, 3, 1).numpy(), pixels)


def test_gathered_images_have_name_and_size(write_samples: Write) -> None:
    folder, _ = raw_set(write_samples, 3)
    fields = ("image", "name", "size", "key")
    _, name, size, key = only(folder, batch_size=COUNT, fields=fields, transforms=[CenterCrop(8)])
    assert name == key
    assert size.tolist() == [[12, 10]] * COUNT


def test_a_lost_shard_of_raw_images_is_an_error_that_names_it(write_samples: Write) -> None:
    folder, _ = raw_set(write_samples, 3)
    (folder / "shard-000003.tar").unlink()
    with (
        Loader(folder, batch_size=16, workers=0) as loader,
        pytest.raises(reader.ReaderError, match=r"shard-000003\.tar"),
    ):
        list(loader)


@given(
    seed=st.integers(0, 2**63),
    epoch=st.integers(0, 1000),
    position=st.integers(0, 2**40),
    bound=st.integers(1, 2**31),
)
@settings(deadline=None)
def test_the_dice_of_many_samples_are_those_of_each(
    seed: int, epoch: int, position: int, bound: int
) -> None:
    positions = position + np.arange(5)
    together = BatchRandom(seed, epoch, positions)
    alone = [SampleRandom(seed, epoch, number) for number in positions.tolist()]
    for _ in range(3):
        assert together.integer(bound).tolist() == [rng.integer(bound) for rng in alone]
        assert together.uniform().tolist() == [rng.uniform() for rng in alone]


def test_images_that_differ_are_found_without_the_indexes_after_them(write_samples: Write) -> None:
    samples = {f"k{n}": {"raw": bytes(size)} for n, size in enumerate((120, 119, 120))}
    folder = write_samples(samples, shard_samples=1, labels=range(3), raw=(4, 10, 3))
    (folder / "shard-000002.safetensors").unlink()
    with Loader(folder, batch_size=1, workers=0, transforms=[CenterCrop(3)]) as loader:
        images, _ = next(iter(loader))
    assert images.shape == (1, 3, 3, 3)


def test_images_that_were_packed_raw_are_known_without_the_indexes(
    source: Path, tmp_path: Path
) -> None:
    packer.pack(source, tmp_path / "raw", raw=(6, 5), shard_samples=13, jobs=1, progress=False)
    (tmp_path / "raw" / "shard-000002.safetensors").unlink()
    with Loader(tmp_path / "raw", batch_size=13, workers=0) as loader:
        images, _ = next(iter(loader))
    assert images.shape == (13, 3, 6, 5)
