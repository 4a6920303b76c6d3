"""The bounds of the images' sizes in dataset.json, which a Loader reads instead of the indexes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_images import encode, make_image, turned, write_files

import packer
from packer.inspect.index import index
from reader import Dataset
from reader.format import Manifest
from reader.format.sizes import SizeBounds

LYING, TURNED = (30, 50), 6  # as stored, and the EXIF orientation that swaps height and width


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """Images of several sizes in train, one of them turned, and of one in val."""
    exif = turned(TURNED)
    files = {
        "train/a/0.jpg": encode(make_image(0, *LYING), "JPEG", exif=exif),
        "train/b/1.png": encode(make_image(1, 20, 60), "PNG"),
        "train/b/2.png": encode(make_image(2, 40, 30), "PNG"),
        "val/a/3.png": encode(make_image(3, 24, 24), "PNG"),
        "val/b/4.png": encode(make_image(4, 24, 24), "PNG"),
    }
    return write_files(tmp_path / "images", files)


def pack(src: Path, dst: Path, **options: Any) -> dict[str, SizeBounds]:
    packer.pack(src, dst, shard_samples=1, progress=False, jobs=1, **options)
    return {**Manifest.load(dst).sizes}


TRAIN = SizeBounds((20, 30), (50, 60), (50, 30))
VAL = SizeBounds((24, 24), (24, 24), (24, 24))


def test_a_dataset_has_the_bounds_of_each_split(dst: Path, images: Path) -> None:
    assert pack(images, dst) == {"train": TRAIN, "val": VAL}
    for split, expected in (("train", TRAIN), ("val", VAL), (None, TRAIN | VAL)):
        assert Dataset(dst, split).size_bounds == expected


def test_what_is_added_widens_the_bounds_that_are_known(tmp_path: Path, images: Path) -> None:
    later, dst = tmp_path / "later" / "train" / "b", tmp_path / "dst"
    later.mkdir(parents=True)
    (images / "train" / "b" / "1.png").rename(later / "1.png")
    pack(images, dst)
    (later / "1.png").rename(images / "train" / "b" / "1.png")
    assert pack(images, dst, append=True) == {"train": TRAIN, "val": VAL}


def test_what_is_added_leaves_unknown_bounds_unknown(dst: Path, images: Path) -> None:
    added = images / "train" / "b" / "1.png"
    content = added.read_bytes()
    added.unlink()
    pack(images, dst)
    before = Manifest.load(dst)
    (dst / "dataset.json").write_text(replace(before, sizes={"val": VAL}).dump())
    added.write_bytes(content)
    assert pack(images, dst, append=True) == {"val": VAL}
    assert Dataset(dst).size_bounds == TRAIN | VAL


def test_indexed_tars_have_the_bounds_of_each_split(dst: Path, images: Path) -> None:
    pack(images, dst)
    for path in (*dst.rglob("*.safetensors"), *dst.rglob("*.index"), dst / "dataset.json"):
        path.unlink()
    index(dst, 1)
    assert Manifest.load(dst).sizes == {"train": TRAIN, "val": VAL}
