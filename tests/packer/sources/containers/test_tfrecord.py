"""TFRecord: several files and splits, labels and objects, damage."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from layouts.huggingface import image
from layouts.records import tfrecord
from packing import files_of

import packer
from reader import Dataset
from reader.format import Manifest

BOX = {f"image/object/bbox/{side}": [0.25, 0.5] for side in ("xmin", "ymin")}
BOX |= {f"image/object/bbox/{side}": [0.5, 1.0] for side in ("xmax", "ymax")}


def write(path: Path, items: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(tfrecord(items))
    return path


def pack(source: Path, **options: Any) -> Dataset:
    packer.pack(source, source.parent / "shards", jobs=1, overwrite=True, **options)
    return Dataset(source.parent / "shards")


def test_bytes_of_images_are_kept_and_every_file_is_read(tmp_path: Path) -> None:
    pictures = [image(seed) for seed in range(12)]
    for file in range(4):
        each = range(3 * file, 3 * file + 3)
        items = [{"image": pictures[n], "label": n % 3, "caption": f"number {n}"} for n in each]
        write(tmp_path / f"data/train-{file:05d}-of-00004", items)
    dataset = pack(tmp_path / "data", shuffle=False)
    assert [dataset.read(n, "png") for n in range(12)] == pictures
    assert dataset.targets == [0, 1, 2] * 4
    assert dataset.keys[4] == "train-00001-of-00004/00000001"
    assert json.loads(dataset.read(7, "json")) == {"caption": "number 7"}


def test_any_number_of_processes_writes_the_same(tmp_path: Path) -> None:
    items = [{"image": image(seed), "label": seed % 2} for seed in range(10)]
    write(tmp_path / "data/a.tfrecord", items)
    for jobs in (1, 2):
        packer.pack(tmp_path / "data", tmp_path / str(jobs), jobs=jobs, shard_samples=3)
    assert files_of(tmp_path / "1") == files_of(tmp_path / "2")


def test_boxes_and_their_classes_are_those_of_the_detection_api(tmp_path: Path) -> None:
    texts, numbers = (
        {"image/object/class/text": ["dog", "cat"]},
        {"image/object/class/label": [7, 2]},
    )
    items = [
        {"image/encoded": image(1), "image/filename": "one.png", **BOX, **texts, **numbers},
        {"image/encoded": image(2), "image/filename": "two.png"},
    ]
    write(tmp_path / "train/pets.tfrecord", items)
    (tmp_path / "train/pets_label_map.pbtxt").write_text("item { id: 2 }")
    dataset = pack(tmp_path / "train", shuffle=False)
    assert dataset.classes == ["cat", "dog"]  # by their numbers
    assert json.loads(dataset.read(0, "json"))["categories"] == [1, 0]
    assert json.loads(dataset.read(0, "json"))["boxes"] == [
        [0.25, 0.25, 0.5, 0.5],
        [0.5, 0.5, 1, 1],
    ]
    assert json.loads(dataset.read(1, "json"))["boxes"] == []
    assert list(dataset.keys) == ["one", "two"]


def test_boxes_in_pixels_are_told_from_fractions(tmp_path: Path) -> None:
    box = {"objects/bbox": [1.0, 2.0, 5.0, 8.0], "objects/label": [3]}  # ymin first
    write(tmp_path / "data/a.tfrecord", [{"image": image(1), "height": 8, "width": 8, **box}])
    dataset = pack(tmp_path / "data")
    assert json.loads(dataset.read(0, "json"))["boxes"] == [[2, 1, 8, 5]]
    assert not Manifest.load(tmp_path / "shards").boxes["json"].normalized


def test_pixels_need_height_and_width(tmp_path: Path) -> None:
    pixels = np.full((4, 6, 3), 40, np.uint8)  # whose bytes could be a text
    size = {"height": 4, "width": 6, "depth": 3}
    write(tmp_path / "data/a.tfrecord", [{"image_raw": pixels.tobytes(), "label": 1, **size}] * 2)
    with pytest.raises(packer.UnusableInput, match="image_raw"):
        pack(tmp_path / "data")  # all of them could be texts
    items = [
        {"image_raw": bytes(range(72)), "label": 1, **size},
        {"image_raw": pixels.tobytes(), **size},
    ]
    write(tmp_path / "data/a.tfrecord", items)
    dataset = pack(tmp_path / "data", shuffle=False)
    assert np.array_equal(dataset[1][0], pixels)
    assert dataset.targets == [1, -1]


def test_the_fields_of_images_and_labels_can_be_chosen(tmp_path: Path) -> None:
    items = [{"left": image(1), "right": image(2), "age": 3, "kind": "old"}] * 2
    write(tmp_path / "data/a.tfrecord", items)
    dataset = pack(tmp_path / "data", image_column="right", label_column="kind")
    assert dataset.classes == ["old"]
    assert dataset.read(0, "png") == image(2)
    assert dataset.read(0, "left.png") == image(1)
    with pytest.raises(packer.UnusableInput, match=r"age .*kind .*left .*right"):
        pack(tmp_path / "data", image_column="up")


@pytest.mark.parametrize(
    ("damage", "reason", "left"),
    [
        (lambda data: data[:-30], "the file ends before it does", 2),
        (lambda data: data[:-8], "the file ends before it does", 2),
        (lambda data: data + b"abc", "the file ends before it does", 3),
        (lambda data: data + bytes(40), "its length is damaged", 3),
        (lambda data: data.replace(b"label", b"\xff\xff\xff\xff\xff", 1), "read|label", 3),
    ],
)
def test_damage_is_named_and_costs_what_it_has_to(
    damage: Any, reason: str, left: int, tmp_path: Path
) -> None:
    path = write(tmp_path / "data/a.tfrecord", [{"image": image(n), "label": n} for n in range(3)])
    write(tmp_path / "data/b.tfrecord", [{"image": image(9), "label": 1}])
    path.write_bytes(damage(path.read_bytes()))
    report = packer.pack(tmp_path / "data", tmp_path / "shards", jobs=1, on_error="skip")
    assert len(Dataset(tmp_path / "shards")) == left + 1
    if left < 3 or reason.startswith("its"):
        assert reason in report.rejected[0][1]
        assert report.rejected[0][0].startswith("a.tfrecord: record")


def test_what_is_no_record_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.tfrecord").write_bytes(b"not a record at all")
    with pytest.raises(packer.UnusableInput, match="it is not a TFRecord"):
        packer.pack(tmp_path / "a.tfrecord", tmp_path / "shards")
    (tmp_path / "a.tfrecord").write_bytes(b"\x1f\x8b" + bytes(100))
    with pytest.raises(packer.UnusableInput, match="gunzip"):
        packer.pack(tmp_path / "a.tfrecord", tmp_path / "shards")
