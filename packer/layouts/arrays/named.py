"""Arrays of images beside arrays of their labels, which are known by their names.

They are NumPy's (MedMNIST, KMNIST, ``x_train.npy``), SVHN's ``train_32x32.mat``, and STL-10's
``train_X.bin``. Nothing is unpickled, and no array is longer than its header.
"""

import csv
import math
import os
import re
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from packer.errors import UnusableInput
from packer.files.text import decoded
from packer.layouts.arrays.idx import MAX_SIDE
from packer.layouts.arrays.matlab import load_matlab
from packer.samples.labels import MAX_CLASSES, class_order, to_json
from packer.samples.places import Files
from packer.samples.records import Facts, Sample

ARRAYS = frozenset({".npz", ".npy", ".mat", ".bin"})  # extensions of their files
_IMAGES, _LABELS = "images", "labels"
_KINDS = dict.fromkeys(("images", "imgs", "x"), _IMAGES)
_KINDS |= dict.fromkeys(("labels", "targets", "y"), _LABELS)
_SPLITS = {name: name for name in ("train", "val", "test", "extra", "unlabeled")}
_SPLITS |= {"valid": "val", "validation": "val"}
_SVHN = re.compile(r"(train|test|extra)_32x32\.mat")
_STL = re.compile(r"(train|test|unlabeled)_[Xy]\.bin")
_STL_IMAGE = (3, 96, 96)  # channels, columns, rows
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_MAX_RATIO = 1032  # of deflate
MAX_BYTES = 1 << 31  # of an array; SVHN's largest has 1.6 GB
_FAULTS: tuple[type[Exception], ...] = (OSError, EOFError, ValueError, KeyError)
_FAULTS += (zipfile.BadZipFile, zlib.error)
_FAULTS += (NotImplementedError, RuntimeError)  # of zips that are packed otherwise, or encrypted


class _Name(NamedTuple):
    """The content of an array by its name: its dataset, its split, images or labels."""

    dataset: str
    split: str
    kind: str


class _Array(NamedTuple):
    path: Path
    key: str = ""  # in its file

    @property
    def name(self) -> _Name:
        """The content by its name."""
        stem, key = (re.split(r"[\W_]+", text.lower()) for text in (self.path.stem, self.key))
        words = [*key, *stem]
        kind = next((_KINDS[word] for word in words if word in _KINDS), "")
        split = next((_SPLITS[word] for word in words if word in _SPLITS), "")
        rest = [word for word in stem if word not in _KINDS and word not in _SPLITS]
        return _Name("-".join(rest), split, kind)

    def is_image(self) -> bool:
        """Whether it holds images, by its header."""
        try:
            return self.path.suffix in (".mat", ".bin") or _is_image(*self._numpy(is_head=True))
        except _FAULTS:
            return False

    def load(self) -> NDArray[Any]:
        """Return the array; raise UnusableInput if its content is not that of its name."""
        try:
            return self._load()
        except _FAULTS as error:
            raise UnusableInput(f"{self} is damaged or cannot be read: {error}.") from error

    def _load(self) -> NDArray[Any]:
        if self.path.suffix == ".bin":
            content = np.memmap(self.path, np.uint8, "r")
            if self.key == _LABELS:
                return content
            return content.reshape(-1, *_STL_IMAGE).transpose(0, 3, 2, 1)
        if self.path.suffix == ".mat":
            if self.path.stat().st_size > MAX_BYTES:
                raise ValueError(f"it has more than {MAX_BYTES} bytes")
            array = load_matlab(self.path.read_bytes(), self.path, MAX_BYTES)[self.key]
            return np.moveaxis(np.asarray(array), -1, 0) if self.key == "X" else np.asarray(array)
        return self._numpy()[2]

    def _numpy(self, *, is_head: bool = False) -> tuple[tuple[int, ...], Any, NDArray[Any]]:
        """The shape, the type and the array; without it if `is_head`."""
        if self.path.suffix == ".npy":
            with open(self.path, "rb") as file:
                return _read(file, os.fstat(file.fileno()).st_size, is_head)
        with zipfile.ZipFile(self.path) as archive:
            info = archive.getinfo(f"{self.key}.npy")
            if info.file_size > info.compress_size * _MAX_RATIO:
                raise ValueError(f"{info.compress_size} bytes cannot unpack to {info.file_size}")
            with archive.open(info) as member:
                return _read(member, info.file_size, is_head)

    def __str__(self) -> str:
        return f"{self.path}: {self.key}" if self.key else f"{self.path}"


def _read(file: IO[bytes], size: int, is_head: bool) -> tuple[tuple[int, ...], Any, NDArray[Any]]:
    version = npy.read_magic(file)
    if version not in _HEADERS:
        raise ValueError(f"version {version} is not read")
    try:
        shape, is_fortran, dtype = _HEADERS[version](file)
    except Exception as error:  # NumPy parses it as Python, so TokenError and others come, too
        raise ValueError(f"its header cannot be parsed: {error}") from error
    if is_head:
        return shape, dtype, np.empty(0)
    length = math.prod(shape) * dtype.itemsize
    if dtype.hasobject or min(shape, default=1) < 0 or not length == size - file.tell():
        raise ValueError(f"it says that it holds {shape} of {dtype}, and it has {size} bytes")
    if length > MAX_BYTES:
        raise ValueError(f"it has {length} bytes, and at most {MAX_BYTES} are read")
    array = np.frombuffer(file.read(length), dtype)
    return shape, dtype, array.reshape(shape, order="F" if is_fortran else "C")


def _is_image(shape: Sequence[int], dtype: Any, *_: object) -> bool:
    is_shaped = len(shape) == 3 or (len(shape) == 4 and shape[3] in (1, 3))
    return is_shaped and dtype == np.uint8 and all(0 < side <= MAX_SIDE for side in shape[1:3])


def _found(path: Path) -> Iterator[_Array]:
    """The arrays in a file."""
    if path.suffix == ".npy":
        yield _Array(path)
    elif path.suffix == ".npz":
        try:
            with zipfile.ZipFile(path) as archive:
                names = archive.namelist()
        except _FAULTS:
            return
        yield from (_Array(path, name[:-4]) for name in names if name.endswith(".npy"))
    elif _SVHN.fullmatch(path.name):
        yield from (_Array(path, "X"), _Array(path, "y"))
    elif _STL.fullmatch(path.name):
        yield _Array(path, _LABELS if path.stem.endswith("y") else _IMAGES)


@dataclass(frozen=True)
class ArraysSource:
    """A file with arrays, or a folder of such files."""

    path: Path
    names: Sequence[str]  # of the files
    classes: tuple[str, ...] = ()  # empty: the labels are only numbers
    known: tuple[str, ...] = ()  # the name of each number; empty: a file has none

    facts = Facts()

    def is_known(self) -> bool:
        """Whether all arrays are images or labels, by their names, and some are both."""
        arrays = self._arrays()
        images = (name for name, array in arrays.items() if name.kind == _IMAGES)
        return all(
            array.is_image() for name, array in arrays.items() if name.kind == _IMAGES
        ) and any(name._replace(kind=_LABELS) in arrays for name in images)

    def uses(self, name: str) -> bool:
        """Whether a file of the folder belongs to it."""
        return _names_classes(name) or any(_found(self.path / name))

    @classmethod
    def open(
        cls, path: Path, names: Sequence[str], classes: Sequence[str] | None = None
    ) -> "ArraysSource":
        """Return the source; raise UnusableInput where there are several datasets."""
        source = cls(path, names)
        sets = sorted({name.dataset for name in source._arrays()})
        if not sets:
            raise UnusableInput(f"{path} is not only arrays of images and labels.")
        if len(sets) > 1:
            raise UnusableInput(
                f"{path} holds several datasets: {', '.join(sets)}. Put the files of the one that "
                "you want into a folder of their own."
            )
        known = source._class_names()
        order = class_order(path, known, classes) if known and classes else known or classes
        return cls(path, names, tuple(order or ()), tuple(known))

    @property
    def files(self) -> Files:
        """The reader of the samples."""
        return Files(self.path)

    def scan(self) -> Iterator[Sample]:
        """The splits, train first."""
        arrays = self._arrays()
        mtime_ns = max(os.stat(array.path).st_mtime_ns for array in arrays.values())
        labels = {name: array for name, array in arrays.items() if name.kind == _LABELS}
        numbers = {name._replace(kind=_IMAGES): _numbers(array) for name, array in labels.items()}
        ends = [(int(one.min()), int(one.max())) for one in numbers.values() if one.size]
        least, most = min(ends, default=(0, 0))[0], max((last for _, last in ends), default=0)
        first = int(len(self.known) > 0 and most == len(self.known))  # STL-10 counts from 1
        count = len(self.classes) or MAX_CLASSES
        if most - first >= count or least < first:
            raise UnusableInput(
                f"{self.path} has labels from {least} to {most}; there are {count} classes."
            )
        order = np.array([self.classes.index(name) for name in self.known] or range(most + 1))
        for name in sorted(arrays, key=lambda name: (name.split != "train", name)):
            if name.kind == _IMAGES:
                of_split = numbers.get(name)
                if of_split is not None and of_split.ndim == 1:
                    of_split = order[of_split - first]
                yield from _split(name.split, arrays[name], of_split, mtime_ns)
            elif name._replace(kind=_IMAGES) not in arrays:
                raise UnusableInput(f"{arrays[name]}: the array of its images is missing.")

    def _arrays(self) -> dict[_Name, _Array]:
        """All arrays; none if one of them means nothing, or the same as another."""
        paths = [self.path] if self.path.is_file() else [self.path / name for name in self.names]
        each = [array for path in paths for array in _found(path)]
        found = {array.name: array for array in each if array.name.kind}
        return found if len(found) == len(each) else {}

    def _class_names(self) -> list[str]:
        """STL-10's names of classes, or KMNIST's characters; none for numbers."""
        if not (name := next(filter(_names_classes, self.names), "")):
            return []
        text = decoded((self.path / name).read_bytes(), is_cut=True)
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if name.endswith(".txt"):
            return lines
        delimiter = next((sign for sign in "\t;|" if lines and sign in lines[0]), ",")
        try:  # index, codepoint, char
            known = {int(row[0]): row[-1] for row in csv.reader(lines[1:], delimiter=delimiter)}
        except (ValueError, csv.Error):
            known = {}
        if not known or sorted(known) != list(range(len(known))):
            raise UnusableInput(f"{self.path / name} does not number its classes from 0.")
        return [known[number] for number in range(len(known))]


def _names_classes(name: str) -> bool:
    return name == "class_names.txt" or name.endswith("_classmap.csv")


def _numbers(array: _Array) -> NDArray[np.int64]:
    """Class numbers (N,), or (N, classes) of 0 and 1."""
    found = array.load()
    found = found[:, 0] if found.ndim == 2 and found.shape[1] == 1 else found
    numbers = found.astype(np.int64) if found.dtype.kind in "biuf" else np.array(-1)
    is_shaped = found.ndim == 1 or (found.ndim == 2 and numbers.size and numbers.max() < 2)
    if not is_shaped or not np.array_equal(found, numbers) or (numbers < 0).any():
        raise UnusableInput(f"{array} has {found.shape} of {found.dtype}, which are no labels.")
    if _SVHN.fullmatch(array.path.name):
        return numbers % 10  # 10 stands for 0
    return numbers


def _split(
    split: str, array: _Array, labels: NDArray[np.int64] | None, mtime_ns: int
) -> Iterator[Sample]:
    images = array.load()
    if not _is_image(images.shape, images.dtype):
        raise UnusableInput(f"{array} has {images.shape} of {images.dtype}, which are no images.")
    if labels is not None and len(labels) != len(images):
        raise UnusableInput(f"{array} has {len(images)} images, and {len(labels)} labels.")
    shape = [*images.shape[1:], 1][:3]
    for row in range(len(images)):
        label, members = -1, list[bytes]()
        if labels is not None and labels.ndim == 1:
            label = int(labels[row])
        elif labels is not None:
            members = [to_json({"labels": np.flatnonzero(labels[row]).tolist()})]
        name = f"{split}/{row:06d}" if split else f"{row:06d}"
        pixels = images[row].tobytes()
        yield Sample(
            name=name,
            key=name,
            label=label,
            size=len(pixels) + sum(map(len, members)),
            mtime_ns=mtime_ns,
            members=("json",) if members else (),
            split=split,
            places=[[pixels, shape], *([member] for member in members)],
        )
