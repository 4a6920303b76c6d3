"""Lists of images: CSV, TSV, JSONL and COCO's JSON. Every input is read as each of them."""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from reader.format import ShardfeedError
from targets.making import folder, images, opened, read_through


@cache
def _folder() -> Path:
    return images(folder("lists"))


def seeds() -> Iterator[bytes]:
    """With labels by name and by number, with splits, quotes, and nested values; COCO's."""
    yield b'path,label,split,note\ncat/0.jpeg,cat,train,"a, ""b"""\ndog/1.png,dog,val,\n'
    yield b"image\tclass\ncat/0.jpeg\t0\ncat/2.jpeg\t1\n"
    yield (
        b'{"image": "cat/0.jpeg", "label": 1, "boxes": [[1, 2.5, 3e2, -4]], "x": null}\n'
        b'{"image": "dog/2.jpeg", "label": 0, "text": "\\u00e9", "deep": {"a": [true]}}\n'
    )
    yield b'\xef\xbb\xbf{"file_name": "dog/1.png", "category": "dog", "split": "test"}\n'
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
    """Read a list and the images that it names."""
    for ext in ("csv", "tsv", "jsonl", "json"):
        path = _folder() / f"fuzzed.{ext}"
        path.write_bytes(data)
        try:
            read_through(opened(path))
        except ShardfeedError:
            continue
