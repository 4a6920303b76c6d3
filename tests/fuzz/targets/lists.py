"""Lists of images: CSV, TSV and JSONL. Every input is read as each of them."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from reader.format import ShardfeedError
from targets.making import folder, images, opened, read_through


@cache
def _folder() -> Path:
    return images(folder("lists"))


def seeds() -> Iterator[bytes]:
    """With labels by name and by number, with splits, quotes, and nested values."""
    yield b'path,label,split,note\ncat/0.jpeg,cat,train,"a, ""b"""\ndog/1.png,dog,val,\n'
    yield b"image\tclass\ncat/0.jpeg\t0\ncat/2.jpeg\t1\n"
    yield (
        b'{"image": "cat/0.jpeg", "label": 1, "boxes": [[1, 2.5, 3e2, -4]], "x": null}\n'
        b'{"image": "dog/2.jpeg", "label": 0, "text": "\\u00e9", "deep": {"a": [true]}}\n'
    )
    yield b'\xef\xbb\xbf{"file_name": "dog/1.png", "category": "dog", "split": "test"}\n'


def one(data: bytes) -> None:
    """Read a list and the images that it names."""
    for ext in ("csv", "tsv", "jsonl"):
        path = _folder() / f"fuzzed.{ext}"
        path.write_bytes(data)
        try:
            read_through(opened(path))
        except ShardfeedError:
            continue
