"""IDX files. An input takes the place of the images, of the labels, and of gzipped images."""

import contextlib
import gzip
import struct
from collections.abc import Iterator

from packer.layouts.arrays.idx import IdxSource
from reader.format import ShardfeedError
from targets.making import folder, read_through

_IMAGES = struct.pack(">4B3I", 0, 0, 8, 3, 2, 4, 5) + bytes(40)
_LABELS = struct.pack(">4BI", 0, 0, 8, 1, 2) + bytes([0, 7])


def seeds() -> Iterator[bytes]:
    """Images, labels, none of both, and gzipped images."""
    yield _IMAGES
    yield _LABELS
    yield struct.pack(">4B3I", 0, 0, 8, 3, 0, 28, 28)
    yield gzip.compress(_IMAGES)


def one(data: bytes) -> None:
    """Read a dataset with this file."""
    images, labels = "train-images-idx3-ubyte", "train-labels-idx1-ubyte"
    for files in (
        {images: data, labels: _LABELS},
        {images: _IMAGES, labels: data},
        {f"{images}.gz": data, labels: _LABELS},
        {f"{images}.gz": gzip.compress(data, 1), labels: _LABELS},
    ):
        root = folder("idx")
        for name, content in files.items():
            (root / name).write_bytes(content)
        with contextlib.suppress(ShardfeedError):
            read_through(IdxSource.open(root))
