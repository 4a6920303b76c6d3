"""IDX files, and other arrays of images and labels.

An input takes the place of the images, of the labels, and of gzipped images; or of an array.
"""

import contextlib
import gzip
import io
import struct
from collections.abc import Iterator
from functools import partial

import numpy as np

from packer.sources.scanners.arrays.idx import read_idx
from packer.sources.scanners.arrays.named import are_arrays, read_named
from packer.sources.scanners.arrays.source import ArraysSource
from reader.format import ShardfeedError
from targets.making import folder, read_through

_IMAGES = struct.pack(">4B3I", 0, 0, 8, 3, 2, 4, 5) + bytes(40)
_LABELS = struct.pack(">4BI", 0, 0, 8, 1, 2) + bytes([0, 7])


def _npy(array: object) -> bytes:
    held = io.BytesIO()
    np.save(held, np.asarray(array))
    return held.getvalue()


_ARRAYS = {
    "x.npy": {"y.npy": _npy([0, 1])},
    "y.npy": {"x.npy": _npy(np.zeros((2, 4, 5), np.uint8))},
    "train.npz": {},
    "train_32x32.mat": {},
    "train_X.bin": {"train_y.bin": b"\1\2", "class_names.txt": b"cat\ndog\n"},
    "train_y.bin": {"train_X.bin": bytes(2 * 3 * 96 * 96)},
}


def seeds() -> Iterator[bytes]:
    """Images, labels, none of both, gzipped images, and arrays of each form."""
    yield _IMAGES
    yield _LABELS
    yield struct.pack(">4B3I", 0, 0, 8, 3, 0, 28, 28)
    yield gzip.compress(_IMAGES)
    yield _npy(np.zeros((2, 4, 5), np.uint8))
    yield _npy(np.arange(2))
    held = io.BytesIO()
    np.savez_compressed(held, x=np.zeros((2, 4, 5), np.uint8), y=np.arange(2))
    yield held.getvalue()
    yield bytes(2 * 3 * 96 * 96)


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
            read_through(ArraysSource.open(root, partial(read_idx, root)))
    for name, others in _ARRAYS.items():
        root = folder("arrays")
        for file, content in (others | {name: data}).items():
            (root / file).write_bytes(content)
        paths = [root / file for file in sorted({*others, name})]
        are_arrays(paths)
        with contextlib.suppress(ShardfeedError):
            read_through(ArraysSource.open(root, partial(read_named, root, paths)))
