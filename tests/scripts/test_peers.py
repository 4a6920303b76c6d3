"""What the peers of the benchmarks read: the samples that packer packs, with its labels."""

from pathlib import Path

import pytest
from benchmarks import material, pipeline, read
from benchmarks.peers import Task
from PIL import Image

import packer
import reader

SHAPES = {
    "classes": ["owl/1", "owl/0", "cat/0"],
    "splits": ["train/owl/1", "train/cat/0", "val/owl/1", "val/bus/0"],
    "one split": ["train/owl/1", "train/cat/0"],
}


@pytest.fixture(params=SHAPES.values(), ids=SHAPES)
def images(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A small source."""
    for number, name in enumerate(request.param):
        path = tmp_path / "images" / f"{name}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (16, 16), (number, 0, 0)).save(path)
    return tmp_path / "images"


def packed(images: Path, shards: Path) -> list[tuple[str, int]]:
    packer.pack(images, shards, shuffle=False, jobs=1)
    return [(str(images / name), label) for name, label in reader.Dataset(shards).samples]


def test_a_peer_reads_what_is_packed(images: Path, tmp_path: Path) -> None:
    assert pipeline.labelled(images) == packed(images, tmp_path / "shards")


def test_made_images_keep_splits_and_classes(images: Path, tmp_path: Path) -> None:
    folder, shards = tmp_path / "made", tmp_path / "shards"
    material.make(images, folder, "png", 8)
    material.pack(folder, shards)
    names = {
        Path(path).relative_to(folder).with_suffix("") for path, _ in pipeline.labelled(folder)
    }
    assert {images / name.with_suffix(".jpg") for name in names} == {
        Path(path) for path, _ in pipeline.labelled(images)
    }
    assert len(reader.Dataset(shards)) == len(names)


def test_repeated_images_keep_splits_and_classes(images: Path, tmp_path: Path) -> None:
    once = pipeline.labelled(images)
    material.repeated(images, 2 * len(once), tmp_path / "out")
    twice = pipeline.labelled(tmp_path / "out")
    assert sorted(label for _, label in twice) == sorted(label for _, label in 2 * once)


@pytest.mark.parametrize(("count", "warns"), [(200, True), (2000, False)])
def test_a_comparison_of_few_images_is_warned_of(count: int, warns: bool, tmp_path: Path) -> None:
    task = Task(tmp_path, tmp_path, tmp_path, "random", batch_size=64, workers=2)
    remark = read.too_few(count, task)
    assert (remark is not None and "at least 1,024 images" in remark) == warns
