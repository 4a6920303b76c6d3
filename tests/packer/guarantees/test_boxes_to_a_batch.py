"""The boxes of a publisher's files are those of a batch: packed, and read by the field it names."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_images import encode, turned, write_files
from packing import run_pack
from PIL import Image

import reader

HEIGHT, WIDTH, TURNED = 48, 64, 6  # EXIF: to be turned by 90 degrees clockwise


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[str, Any]]:
    """`read({"a.jpg": 6, "labels/a.txt": "..."})`: each image's boxes, by its name."""

    def pack(files: dict[str, Any], **options: Any) -> dict[str, Any]:
        root = tmp_path_factory.mktemp("layout")
        image = Image.new("RGB", (WIDTH, HEIGHT), (9, 80, 200))
        for name, content in files.items():
            if isinstance(content, int):  # an EXIF orientation
                content = encode(image, "JPEG", exif=turned(content))
            write_files(root / "src", {name: content})
        remarks = "\n".join(run_pack(root / "src", root / "dst").remarks)
        (field,) = re.findall(r'fields=\("image", (reader\.Boxes\(.*\))\)', remarks)
        found = {}
        options |= {"batch_size": 3, "drop_last": False, "workers": 0}
        with reader.Loader(root / "dst", fields=("name", eval(field)), **options) as loader:
            for names, boxes in loader:
                found |= dict(zip(names, boxes, strict=True))
        return found

    return pack


def rows(boxes: dict[str, Any]) -> list[list[float]]:
    """Each box with its class."""
    return np.column_stack([boxes["boxes"], boxes["labels"]]).tolist()


def test_cocos_boxes_are_those_of_the_stored_image(read: Callable[..., Any]) -> None:
    objects = [
        {"id": 1, "image_id": 1, "category_id": 90, "bbox": [1.5, 2.25, 10, 20.5], "iscrowd": 0},
        {"id": 2, "image_id": 1, "category_id": 3, "bbox": [0, 0, WIDTH, HEIGHT], "iscrowd": 1},
        {"id": 3, "image_id": 2, "category_id": 3, "bbox": [4, 8, 16, 32], "iscrowd": 0},
        {"id": 4, "image_id": 4, "category_id": 90, "bbox": [60, 40, 30, 30], "iscrowd": 0},
    ]
    names = {1: "a/1.jpg", 2: "turned.jpg", 3: "none.jpg", 4: "b/1.jpg"}
    content = {
        "images": [{"id": number, "file_name": name} for number, name in names.items()],
        "annotations": objects,
        "categories": [{"id": 90, "name": "toothbrush"}, {"id": 3, "name": "car"}],
    }
    found = read(
        {f"train2017/{name}": TURNED if number == 2 else 1 for number, name in names.items()}
        | {"annotations/instances_train2017.json": json.dumps(content)}
    )
    assert {name.removeprefix("train2017/"): rows(boxes) for name, boxes in found.items()} == {
        "a/1.jpg": [[1.5, 2.25, 10, 20.5, 1], [0, 0, WIDTH, HEIGHT, 0]],  # a crowd is one, too
        "turned.jpg": [[HEIGHT - 8 - 32, 4, 32, 16, 0]],  # as it is seen upright
        "none.jpg": [],
        "b/1.jpg": [[60, 40, 4, 8, 1]],  # cut at the edge
    }


def test_yolos_boxes_are_those_of_the_upright_image(read: Callable[..., Any]) -> None:
    found = read(
        {
            "data.yaml": "train: images/train\nval: images/val\nnames: [car, toothbrush]\n",
            "images/train/1.jpg": 1,
            "images/train/turned.jpg": TURNED,
            "images/train/none.jpg": 1,
            "images/train/empty.jpg": 1,
            "images/val/1.jpg": 1,  # of the name of another
            "labels/train/1.txt": "1 0.5 0.5 0.25 0.5\n0 0.125 0.25 0.25 0.5\n",
            "labels/train/turned.txt": "1 0.5 0.5 0.25 0.5\n",
            "labels/train/empty.txt": "",
            "labels/val/1.txt": "0 1.0 0.5 0.5 0.5\n",
        }
    )
    assert {name.removeprefix("images/"): rows(boxes) for name, boxes in found.items()} == {
        "train/1.jpg": [[32, 24, 16, 24, 1], [8, 12, 16, 24, 0]],
        "train/turned.jpg": [[HEIGHT / 2, WIDTH / 2, HEIGHT / 4, WIDTH / 2, 1]],
        "train/none.jpg": [],
        "train/empty.jpg": [],
        "val/1.jpg": [[56, 24, 16, 24, 0]],  # cut at the edge
    }


def test_vocs_boxes_are_the_numbers_of_the_xml(read: Callable[..., Any]) -> None:
    def xml(name: str, *box: float) -> str:
        corners = zip(("xmin", "ymin", "xmax", "ymax"), box, strict=True)
        bounds = "".join(f"<{corner}>{number}</{corner}>" for corner, number in corners)
        an_object = f"<object><name>{name}</name><bndbox>{bounds}</bndbox></object>"
        return f"<annotation>{an_object}</annotation>"

    found = read(
        {
            "JPEGImages/1.jpg": 1,
            "JPEGImages/2.jpg": 1,
            "JPEGImages/3.jpg": TURNED,
            "Annotations/1.xml": xml("person", 1, 1, WIDTH, HEIGHT),
            "Annotations/2.xml": xml("cat", 5.5, 6, 7, 8),
            "Annotations/3.xml": xml("cat", 4, 8, 20, 40),
            "ImageSets/Main/train.txt": "1\n3\n",
            "ImageSets/Main/val.txt": "2\n",
        }
    )
    assert {Path(name).name: rows(boxes) for name, boxes in found.items()} == {
        "1.jpg": [[1, 1, WIDTH, HEIGHT, 1]],
        "2.jpg": [[5.5, 6, 7, 8, 0]],
        "3.jpg": [[HEIGHT - 40, 4, HEIGHT - 8, 20, 0]],
    }
