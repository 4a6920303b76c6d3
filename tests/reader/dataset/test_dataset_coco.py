"""COCO's annotations as CocoDetection gives them: entry for entry those of the file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_images import encode, make_image
from packing import run_pack
from row_files import rows_of

from reader import Dataset, SampleError

OBJECTS: list[dict[str, Any]] = [
    {"id": 1, "image_id": 70, "category_id": 90, "bbox": [1, 2, 3.5, 4], "area": 14.0},
    {"id": 2, "image_id": 50, "category_id": 2, "bbox": [0, 0, 1, 1], "iscrowd": 1},
    {"id": 3, "image_id": 70, "category_id": 2, "bbox": [5, 5, 2, 2], "segmentation": [[1, 2, 3]]},
]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "coco" / "annotations").mkdir(parents=True)
    (tmp_path / "coco" / "val2017").mkdir()
    images = [{"id": 50 + 10 * n, "file_name": f"{n}.jpg"} for n in range(3)]
    for image in images:
        data = encode(make_image(image["id"]), "JPEG")
        (tmp_path / "coco" / "val2017" / image["file_name"]).write_bytes(data)
    categories = [{"id": 90, "name": "dog"}, {"id": 2, "name": "cat"}]
    content = {"images": images, "annotations": OBJECTS, "categories": categories}
    (tmp_path / "coco" / "annotations" / "instances_val2017.json").write_text(json.dumps(content))
    run_pack(tmp_path / "coco", tmp_path / "shards", seed=None)
    return tmp_path / "shards"


def test_annotations_are_those_of_the_file(folder: Path) -> None:
    dataset = Dataset(folder, target="coco")
    expected = [[o for o in OBJECTS if o["image_id"] == number] for number in (50, 60, 70)]
    assert [dataset[number][1] for number in range(3)] == expected
    assert dataset.names[2] == "val2017/2.jpg"
    dataset = Dataset(folder, target="coco", target_transform=lambda target: target[0]["bbox"])
    assert dataset[2][1] == [1, 2, 3.5, 4]


@pytest.mark.parametrize(("content", "reason"), rows_of(__file__, "no_coco.rows"))
def test_what_is_no_annotation_names_the_sample(
    write_samples: Callable[..., Path], content: str, reason: str
) -> None:
    members = {"png": encode(make_image(1), "PNG"), "json": content.encode()}
    dataset = Dataset(write_samples({"a": members}), target="coco")
    with pytest.raises(SampleError, match=f"'a'.* does not fit target=\"coco\" .*{reason}"):
        dataset[0]
