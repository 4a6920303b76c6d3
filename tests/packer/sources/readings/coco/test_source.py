import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from packer.errors import BadImage, UnusableInput

Opened = Callable[..., Any]
Scanned = Callable[..., Any]

INSTANCES: dict[str, Any] = {
    "info": {"description": "some"},
    "annotations": [
        {"id": 1, "image_id": 70, "category_id": 9, "bbox": [1, 2, 3.5, 4], "area": 14.0},
        {"id": 2, "image_id": 50, "category_id": 2, "bbox": [0, 0, 1, 1], "iscrowd": 1},
        {"id": 3, "image_id": 70, "category_id": 2, "bbox": [5, 5, 2, 2], "segmentation": [[1]]},
    ],
    "images": [
        {"id": 50, "file_name": "0.jpg", "height": 16, "width": 16, "place": "Zürich"},
        {"id": 70, "file_name": "1.jpg", "height": 16, "width": 16},
        {"id": 71, "file_name": "2.jpg", "height": 16, "width": 16},
    ],
    "categories": [{"id": 9, "name": "dog"}, {"id": 2, "name": "cat"}],
}
CAPTIONS: dict[str, Any] = {
    "images": INSTANCES["images"],
    "annotations": [
        {"id": 1, "image_id": 70, "caption": "A dog."},
        {"id": 2, "image_id": 70, "caption": "Ein Hündchen."},
    ],
}


def changed(**lists: Any) -> dict[str, Any]:
    return {**INSTANCES, **lists}


@pytest.fixture
def write(images: Path) -> Callable[..., Path]:
    """`write(content, "a.json")`: an annotation file beside the folder of images."""

    def to_file(content: Any, name: str = "a.json") -> Path:
        path = images.parent / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(content, ensure_ascii=False), "utf-8")
        return path

    return to_file


def test_an_image_has_its_objects_in_columns(
    write: Callable[..., Path],
    opened: Opened,
    scanned: Scanned,
    json_of: Callable[..., Any],
    jpegs: list[bytes],
) -> None:
    source = opened(write(INSTANCES), root="images")
    samples, skipped = scanned(source)
    assert not skipped
    assert source.classes == ("cat", "dog")
    assert [(s.name, s.key, s.label) for s in samples.values()] == [
        ("0.jpg", "0", -1),
        ("1.jpg", "1", -1),
        ("2.jpg", "2", -1),
    ]
    assert source.files.read(samples["1.jpg"]).image == jpegs[1]
    assert json_of(source, samples["0.jpg"]) == {
        "image": INSTANCES["images"][0],
        "boxes": [[0, 0, 1, 1]],
        "categories": [0],
        "category_id": [2],
        "id": [2],
        "iscrowd": [1],
    }
    assert json_of(source, samples["1.jpg"]) == {
        "image": INSTANCES["images"][1],
        "boxes": [[1, 2, 3.5, 4], [5, 5, 2, 2]],
        "categories": [1, 0],
        "category_id": [9, 2],
        "id": [1, 3],
        "area": [14.0, None],
        "segmentation": [None, [[1]]],
    }
    assert json_of(source, samples["2.jpg"]) == {
        "image": INSTANCES["images"][2],
        "boxes": [],
        "categories": [],
    }


def test_the_folder_layout_gives_splits_and_captions(
    images: Path,
    write: Callable[..., Path],
    opened: Opened,
    scanned: Scanned,
    json_of: Callable[..., Any],
) -> None:
    root = images.rename(images.with_name("train2017")).parent
    for number in range(3, 8):  # which no file lists
        (root / "train2017" / f"{number}.jpg").unlink()
    (root / "val2017").mkdir()
    (root / "val2017" / "0.jpg").write_bytes((root / "train2017" / "0.jpg").read_bytes())
    write(INSTANCES, "annotations/instances_train2017.json")
    write(CAPTIONS, "annotations/captions_train2017.json")
    write(INSTANCES, "annotations/person_keypoints_train2017.json")
    write(INSTANCES, "annotations/instances_test2017.json")
    write(
        changed(images=INSTANCES["images"][:1], annotations=[]),
        "annotations/instances_val2017.json",
    )
    source = opened(root)
    samples, skipped = scanned(source)
    assert {name: sample.split for name, sample in samples.items()} == {
        "train2017/0.jpg": "train",
        "train2017/1.jpg": "train",
        "train2017/2.jpg": "train",
        "val2017/0.jpg": "val",
    }
    described = json_of(source, samples["train2017/1.jpg"])
    assert described["categories"] == [1, 0]
    assert described["captions"] == ["A dog.", "Ein Hündchen."]
    assert "captions" not in json_of(source, samples["train2017/0.jpg"])
    assert skipped == {
        "annotations/instances_test2017.json": "there is no folder test2017 with its images",
        "annotations/person_keypoints_train2017.json": (
            "its objects are those of instances_train2017.json; to use them, pack this "
            "file separately"
        ),
    }


def test_a_file_of_captions_alone_has_no_classes(
    write: Callable[..., Path], opened: Opened, scanned: Scanned, json_of: Callable[..., Any]
) -> None:
    source = opened(write(CAPTIONS), root="images")
    samples, _ = scanned(source)
    assert source.classes == ()
    assert set(json_of(source, samples["1.jpg"])) == {"image", "captions"}


def test_classes_fix_the_order_of_categories(
    write: Callable[..., Path], opened: Opened, scanned: Scanned, json_of: Callable[..., Any]
) -> None:
    source = opened(write(INSTANCES), classes=["dog", "fox", "cat"], root="images")
    samples, _ = scanned(source)
    assert source.classes == ("dog", "fox", "cat")
    assert json_of(source, samples["1.jpg"])["categories"] == [0, 2]
    with pytest.raises(UnusableInput, match="not in the list of classes: cat"):
        opened(write(INSTANCES), classes=["dog"], root="images")


BOX = {"id": 7, "image_id": 50, "category_id": 2, "bbox": [0, 0, 1, 1]}


@pytest.mark.parametrize(
    ("content", "name", "reason"),
    [
        (changed(annotations=[{**BOX, "bbox": [0, 0, 1]}]), "a.json: 0.jpg", "7 has no box"),
        (
            changed(annotations=[{**BOX, "bbox": [0, 0, -1, 1]}]),
            "a.json: 0.jpg",
            "7 has a box that ends",
        ),
        (changed(annotations=[{**BOX, "bbox": [0, 0, 1, 1e999]}]), "a.json: 0.jpg", "no box"),
        (changed(annotations=[{**BOX, "bbox": [0, 0, 1, 10**400]}]), "a.json: 0.jpg", "no box"),
        (changed(annotations=[{**BOX, "bbox": "all"}]), "a.json: 0.jpg", "no box"),
        (changed(annotations=[{**BOX, "category_id": 3}]), "a.json: 0.jpg", "category 3"),
        (changed(annotations=[{**BOX, "category_id": []}]), "a.json: 0.jpg", "category []"),
        (changed(annotations=[{**BOX, "image_id": 8}]), "a.json: image 8", "1 annotations"),
        (changed(annotations=[{"id": 7}]), r"a.json: byte \d+", "no image_id"),
        (changed(annotations=[7]), r"a.json: byte \d+", "no image_id"),
        (changed(images=[*INSTANCES["images"], 7]), r"a.json: byte \d+", "no id or no file_name"),
        (
            changed(images=[*INSTANCES["images"], {"id": 70, "file_name": "3.jpg"}]),
            "a.json: 3.jpg",
            "the id 70 is that of an earlier one",
        ),
        (
            changed(images=[*INSTANCES["images"], {"id": 80, "file_name": "./1.jpg"}]),
            "a.json: ./1.jpg",
            "an earlier record also names it",
        ),
        (
            changed(images=[*INSTANCES["images"], {"id": 80, "file_name": "../a.json"}]),
            "a.json: ../a.json",
            "leads out of",
        ),
        (
            changed(images=[*INSTANCES["images"], {"id": 80, "file_name": "9.jpg"}]),
            "a.json: 9.jpg",
            "No such file",
        ),
    ],
)
def test_a_bad_entry_is_named_and_no_other_image_is_lost(
    write: Callable[..., Path],
    opened: Opened,
    scanned: Scanned,
    content: Any,
    name: str,
    reason: str,
) -> None:
    samples, skipped = scanned(opened(write(content), root="images"))
    assert {"1.jpg", "2.jpg"} <= samples.keys()
    (where,) = skipped
    assert re.fullmatch(name, where)
    assert reason in skipped[where]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ({"a": [1]}, "has no list of images"),
        ([], "is not valid JSON"),
        (changed(categories=[{"id": 1}]), "a category has no id or no name"),
        (changed(categories=[{"id": 1, "name": "x"}, {"id": 2, "name": "x"}]), "the same name"),
        (changed(categories=[{"id": 1, "name": "x"}, {"id": 1, "name": "y"}]), "is 'y' here"),
        (changed(categories=[{"id": "1", "name": "x"}]), "id is not a number"),
    ],
)
def test_a_file_of_another_kind_is_refused(
    write: Callable[..., Path], opened: Opened, content: Any, reason: str
) -> None:
    with pytest.raises(UnusableInput, match=reason):
        opened(write(content), root="images")


def test_changes_are_noticed(
    images: Path, write: Callable[..., Path], opened: Opened, scanned: Scanned
) -> None:
    path = write(INSTANCES)
    source = opened(path, root="images")
    samples, _ = scanned(source)
    later = samples["0.jpg"].mtime_ns + 10**9
    os.utime(images / "0.jpg", ns=(later, later))
    with pytest.raises(BadImage, match="changed"):
        source.files.read(samples["0.jpg"])
    content = source.files.read(samples["1.jpg"])
    path.write_text("{}")  # what it said is kept since the scan
    assert source.files.read(samples["1.jpg"]) == content
