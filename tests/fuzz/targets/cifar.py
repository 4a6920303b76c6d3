"""CIFAR's files: pickles of a batch or of the names, binary batches, and the gzipped tar of them.

An input that is a tar is the archive, without its compression; any other takes the place of each
file of a folder that is sound otherwise. Nothing that a pickle names is called.
"""

import contextlib
import gzip
import pickle
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

import numpy as np

from packer.sources.scanners.arrays.cifar import read_cifar
from packer.sources.scanners.arrays.source import ArraysSource
from reader.format import ShardfeedError
from targets.making import folder, opened, read_through, scratch
from targets.tar import sealed, tar

_ROW = 3072
_NAMES = [b"cat", b"dog"]


@cache
def _files() -> dict[str, bytes]:
    """The files of the python version, with a row each."""
    batch = _pickled({b"data": np.zeros((1, _ROW), np.uint8), b"labels": [1]})
    batches = {f"data_batch_{number}": batch for number in range(1, 6)}
    return batches | {"test_batch": batch, "batches.meta": _pickled({b"label_names": _NAMES})}


@cache
def _binaries() -> dict[str, bytes]:
    names = [f"data_batch_{number}.bin" for number in range(1, 6)]
    batch = bytes([1]) + bytes(_ROW)
    return dict.fromkeys([*names, "test_batch.bin"], batch) | {"batches.meta.txt": b"cat\ndog\n"}


@cache
def _folder(version: str) -> Path:
    root = folder(f"cifar-{version}")
    for name, content in (_files() if version == "python" else _binaries()).items():
        (root / name).write_bytes(content)
    return root


def _pickled(content: object, protocol: int = 2) -> bytes:
    return pickle.dumps(content, protocol)


def _cifar(path: Path) -> ArraysSource:
    return ArraysSource.open(path, partial(read_cifar, path))


def seeds() -> Iterator[bytes]:
    """Batches and names in several protocols, a binary batch, an archive."""
    yield _files()["batches.meta"]
    yield _files()["data_batch_1"]
    yield _pickled({"label_names": ["cat", "dog"]}, 0)
    yield _pickled({"data": np.ones((2, _ROW), np.uint8), "labels": [0, 1]}, 4)
    yield b"\x80\2}q\1(U\x0blabel_namesq\2]q\3(U\3catq\4U\3dogq\5eu."  # as Python 2 wrote them
    yield bytes([0]) + bytes(_ROW)
    yield b"cat\ndog\n"
    yield tar({f"cifar-10-batches-py/{name}": content for name, content in _files().items()})


def one(data: bytes) -> None:
    """Read a dataset with this file, or from this archive."""
    if data[257:262] == b"ustar":
        for content in {data, sealed(data)}:
            path = scratch() / "fuzzed.tar.gz"
            path.write_bytes(gzip.compress(content, 0))
            for read in (opened, _cifar):
                with contextlib.suppress(ShardfeedError):
                    read_through(read(path))
        return
    for version, names in (
        ("python", ("data_batch_1", "batches.meta")),
        ("binary", ("test_batch.bin", "batches.meta.txt")),
    ):
        root = _folder(version)
        for name in names:
            sound = (root / name).read_bytes()
            (root / name).write_bytes(data)
            with contextlib.suppress(ShardfeedError):
                read_through(_cifar(root))
            (root / name).write_bytes(sound)
