"""FFCV's files: encoded images and pixels, damage."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from layouts.huggingface import image
from layouts.records import beton

import packer
from reader import Dataset


def test_encoded_images_and_pixels_are_read(tmp_path: Path) -> None:
    pixels = np.arange(8 * 6 * 3, dtype=np.uint8).reshape(8, 6, 3)
    items = [{"image": image(1), "label": 2}, {"image": pixels, "label": -1}]
    (tmp_path / "train.beton").write_bytes(beton(items))
    packer.pack(tmp_path / "train.beton", tmp_path / "shards", jobs=1, shuffle=False)
    dataset = Dataset(tmp_path / "shards")
    assert dataset.targets == [2, -1]
    assert dataset.read(0, "png") == image(1)
    assert np.array_equal(dataset[1][0], pixels)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda data: data[:2000], "ends before|missing"),
        (lambda data: data[:-30], "does not have its image"),
        (lambda data: b"\1" + data[1:], "not version 2"),
    ],
)
def test_damage_is_named(damage: Callable[[bytes], bytes], reason: str, tmp_path: Path) -> None:
    items = [{"image": image(n), "label": n} for n in range(3)]
    (tmp_path / "train.beton").write_bytes(damage(beton(items)))
    with pytest.raises((packer.UnusableInput, packer.Rejected), match=reason):
        packer.pack(tmp_path / "train.beton", tmp_path / "shards", jobs=1)
