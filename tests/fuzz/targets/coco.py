"""COCO's annotation files."""

import contextlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from reader.format import ShardfeedError
from targets.making import folder, images, opened, read_through


@cache
def _folder() -> Path:
    return images(folder("coco"))


def seeds() -> Iterator[bytes]:
    """Instances and captions; one with ids that are texts, laid out by a person."""
    listed = [
        {"id": 7, "file_name": "cat/0.jpeg", "width": 72},
        {"id": 3, "file_name": "dog/1.png"},
    ]
    objects = [
        {"id": 1, "image_id": 7, "category_id": 2, "bbox": [1, 2, 3.5, 4], "iscrowd": 0},
        {"id": 2, "image_id": 3, "category_id": 5, "bbox": [0, 0, 1e1, 4], "segmentation": [[1]]},
        {"id": 3, "image_id": 9, "category_id": 5, "bbox": [0, 0, 1, 1]},
    ]
    categories = [{"id": 5, "name": "dog"}, {"id": 2, "name": "cat"}]
    whole = {"info": {}, "images": listed, "annotations": objects, "categories": categories}
    yield json.dumps(whole).encode()
    captions = [{"image_id": 7, "caption": "a cät"}, {"image_id": 7, "caption": ""}]
    yield json.dumps({"annotations": captions, "images": listed}, indent=1).encode()
    listed[0]["id"] = captions[0]["image_id"] = "seven"
    text = json.dumps({"images": listed, "annotations": captions}, ensure_ascii=False)
    yield text.encode()


def one(data: bytes) -> None:
    """Read an annotation file and the images that it names."""
    path = _folder() / "fuzzed.json"
    path.write_bytes(data)
    with contextlib.suppress(ShardfeedError):
        read_through(opened(path))
