"""Arrays of images beside arrays of their labels, which are known by their names.

They are NumPy's (MedMNIST, KMNIST, ``x_train.npy``), SVHN's ``train_32x32.mat``, and STL-10's
``train_X.bin``. Nothing is unpickled, and no array is longer than its header.
"""

import math
import os
import re
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from packer.errors import UnusableInput
from packer.files.text import decoded
from packer.images.arrays import HEAD, Header, header_of
from packer.sources.scanners.arrays.matlab import load_matlab
from packer.sources.scanners.arrays.source import (
    FAULTS,
    IMAGES,
    LABELS,
    Array,
    Arrays,
    Name,
    are_images,
)

ARRAYS = frozenset({".npz", ".npy", ".mat", ".bin"})  # extensions of their files
_KINDS = dict.fromkeys(("images", "imgs", "x"), IMAGES)
_KINDS |= dict.fromkeys(("labels", "targets", "y"), LABELS)
_SPLITS = {name: name for name in ("train", "val", "test", "extra", "unlabeled")}
_SPLITS |= {"valid": "val", "validation": "val"}
_SVHN = re.compile(r"(train|test|extra)_32x32\.mat")
_STL = re.compile(r"(train|test|unlabeled)_[Xy]\.bin")
_STL_IMAGE = (3, 96, 96)  # channels, columns, rows
_MAX_RATIO = 1032  # of deflate
MAX_BYTES = 1 << 31  # of an array; SVHN's largest has 1.6 GB


def are_arrays(files: Sequence[Path]) -> bool:
    """Return whether all arrays are images or labels, by their names, and some are both."""
    arrays = _arrays(files)
    images = [name for name in arrays if name.kind == IMAGES]
    return all(_is_image(arrays[name]) for name in images) and any(
        name._replace(kind=LABELS) in arrays for name in images
    )


def has_arrays(file: Path) -> bool:
    """Return whether a file belongs to arrays."""
    return _names_classes(file) or any(_in_file(file))


def read_named(path: Path, files: Sequence[Path]) -> Arrays:
    """Find the arrays in the files at `path`."""
    arrays = _arrays(files)
    if not arrays:
        raise UnusableInput(f"{path} is not only arrays of images and labels.")
    return Arrays(arrays, _class_names(files))


def _arrays(files: Sequence[Path]) -> dict[Name, Array]:
    """All arrays; none if one of them means nothing, or the same as another."""
    each = [array for file in files for array in _in_file(file)]
    found = {name: array for array in each if (name := _name(array)).kind}
    return found if len(found) == len(each) else {}


def _name(array: Array) -> Name:
    stem, key = (re.split(r"[\W_]+", text.lower()) for text in (array.path.stem, array.key))
    words = [*key, *stem]
    kind = next((_KINDS[word] for word in words if word in _KINDS), "")
    split = next((_SPLITS[word] for word in words if word in _SPLITS), "")
    rest = [word for word in stem if word not in _KINDS and word not in _SPLITS]
    return Name(split, split, kind, "-".join(rest))


def _in_file(path: Path) -> Iterator[Array]:
    """The arrays in a file."""
    keys: Sequence[str] = ()
    read: Callable[[Path, str], NDArray[Any]] = _numpy
    if path.suffix == ".npy":
        keys = [""]
    elif path.suffix == ".npz":
        try:
            with zipfile.ZipFile(path) as archive:
                keys = [name[:-4] for name in archive.namelist() if name.endswith(".npy")]
        except FAULTS:
            return
    elif _SVHN.fullmatch(path.name):
        keys, read = "Xy", _svhn
    elif _STL.fullmatch(path.name):
        keys, read = [LABELS if path.stem.endswith("y") else IMAGES], _stl
    yield from (Array(path, key, partial(read, path, key)) for key in keys)


def _stl(path: Path, key: str) -> NDArray[Any]:
    content = np.memmap(path, np.uint8, "r")
    if key == LABELS:
        return content
    return content.reshape(-1, *_STL_IMAGE).transpose(0, 3, 2, 1)


def _svhn(path: Path, key: str) -> NDArray[Any]:
    if path.stat().st_size > MAX_BYTES:
        raise ValueError(f"it has more than {MAX_BYTES} bytes")
    array = np.asarray(load_matlab(path.read_bytes(), path, MAX_BYTES)[key])
    if key == "X":
        return np.moveaxis(array, -1, 0)
    return np.where(array == 10, 0, array)


def _numpy(path: Path, key: str) -> NDArray[Any]:
    shape, dtype, order, start = _header(path, key)
    with _opened(path, key) as (file, size):
        length = size - start
        is_plain = not dtype.hasobject and min(shape, default=1) >= 0
        if not is_plain or math.prod(shape) * dtype.itemsize != length:
            raise ValueError(f"it says that it holds {shape} of {dtype}, and it has {size} bytes")
        if length > MAX_BYTES:
            raise ValueError(f"it has {length} bytes, and at most {MAX_BYTES} are read")
        file.read(start)
        return np.frombuffer(file.read(length), dtype).reshape(shape, order=order)


def _is_image(array: Array) -> bool:
    """Whether an array holds images, by its header."""
    if array.path.suffix in (".mat", ".bin"):
        return True
    try:
        header = _header(array.path, array.key)
    except FAULTS:
        return False
    return are_images(header.shape, header.dtype)


def _header(path: Path, key: str) -> Header:
    with _opened(path, key) as (file, _):
        if header := header_of(file.read(HEAD)):
            return header
    raise ValueError("its header cannot be parsed")


@contextmanager
def _opened(path: Path, key: str) -> Iterator[tuple[IO[bytes], int]]:
    """Open a file of NumPy's, or one in an archive, and give its size."""
    if path.suffix == ".npy":
        with open(path, "rb") as file:
            yield file, os.fstat(file.fileno()).st_size
        return
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo(f"{key}.npy")
        if info.file_size > info.compress_size * _MAX_RATIO:
            raise ValueError(f"{info.compress_size} bytes cannot unpack to {info.file_size}")
        with archive.open(info) as member:
            yield member, info.file_size


def _class_names(files: Sequence[Path]) -> list[str]:
    """STL-10's names of classes, or KMNIST's characters; none for numbers."""
    if not (file := next(filter(_names_classes, files), None)):
        return []
    text = decoded(file.read_bytes(), is_cut=True)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    if file.suffix == ".txt":
        return lines
    sign = next((sign for sign in "\t;|" if lines and sign in lines[0]), ",")
    rows = [line.split(sign) for line in lines[1:]]  # index, codepoint, char
    if not rows or [row[0] for row in rows] != list(map(str, range(len(rows)))):
        raise UnusableInput(f"{file} does not number its classes from 0.")
    return [row[-1] for row in rows]


def _names_classes(file: Path) -> bool:
    return file.name == "class_names.txt" or file.name.endswith("_classmap.csv")
