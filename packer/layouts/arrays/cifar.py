"""CIFAR-10 and CIFAR-100 (Krizhevsky 2009), python and binary version, as published or unpacked.

Both versions (https://www.cs.toronto.edu/~kriz/cifar.html) give the same dataset: the pixels, the
fine label, and the coarse one as the member ``coarse.cls``. A sample is named by batch and row.
"""

import os
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from packer.errors import UnusableInput
from packer.layouts.arrays.plain_pickle import load_plain
from packer.samples.labels import class_order
from packer.samples.places import Files
from packer.samples.records import Facts, Sample, Skipped
from packer.trees.compressed import is_cifar
from packer.trees.tar_reader import TAR_ERRORS, CheckedTarInfo
from packer.trees.walk import skipped

_SIDE = 32
_PIXELS = 3 * _SIDE * _SIDE
MAX_FILE = 1 << 28  # the largest published one has 155 MB

_Columns = tuple[NDArray[np.uint8], NDArray[np.int64], NDArray[np.int64] | None]


@dataclass(frozen=True)
class _Version:
    batches: Mapping[str, str]  # file -> split
    names: str  # file of the class names

    @property
    def binary(self) -> bool:
        return self.names.endswith(".txt")

    @property
    def coarse(self) -> bool:
        return len(self.batches) == 2  # CIFAR-100

    @property
    def files(self) -> set[str]:
        return {*self.batches, self.names}


_TEN = {f"data_batch_{number}": "train" for number in range(1, 6)} | {"test_batch": "test"}
_HUNDRED = {"train": "train", "test": "test"}
_VERSIONS = (
    _Version(_TEN, "batches.meta"),
    _Version({f"{name}.bin": split for name, split in _TEN.items()}, "batches.meta.txt"),
    _Version(_HUNDRED, "meta"),
    _Version({f"{name}.bin": split for name, split in _HUNDRED.items()}, "fine_label_names.txt"),
)
_IGNORED = {"readme.html", "coarse_label_names.txt", "file.txt~"}


@dataclass(frozen=True)
class CifarSource:
    """One of the four archives, or the folder that it holds."""

    path: Path
    classes: tuple[str, ...]

    facts = Facts()

    @classmethod
    def recognises(cls, path: Path) -> bool:
        """Whether a folder or a gzipped tar is CIFAR: it has a file of class names and a batch."""
        if path.is_dir():
            names = {entry.name for entry in os.scandir(path) if entry.is_file()}
            return any(v.names in names and not names.isdisjoint(v.batches) for v in _VERSIONS)
        return path.is_file() and is_cifar(path)

    @classmethod
    def open(cls, path: Path, classes: Sequence[str] | None = None) -> "CifarSource":
        """Read the class names."""
        names = _loaded(path, _newest_ns(path)).classes
        return cls(path, tuple(names) if classes is None else class_order(path, names, classes))

    @property
    def files(self) -> Files:
        """What reads the samples."""
        return Files(self.path)

    def scan(self) -> Iterator[Sample | Skipped]:
        """The batches in their order."""
        mtime_ns = _newest_ns(self.path)
        data = _loaded(self.path, mtime_ns)
        numbers = [self.classes.index(name) for name in data.classes]
        for name in data.others:
            if name in _IGNORED:
                yield Skipped(name, "it is documentation", ignored=True)
            else:
                yield skipped(name, "it is not a part of CIFAR")
        for batch, (pixels, labels, coarse) in data.batches.items():
            for row, label in enumerate(labels.tolist()):
                image = pixels[row].reshape(3, _SIDE, _SIDE).transpose(1, 2, 0).tobytes()
                members = [] if coarse is None else [b"%d" % coarse[row]]
                yield Sample(
                    name=f"{batch}/{row:05d}",
                    key=f"{batch}/{row:05d}",
                    label=numbers[label],
                    size=_PIXELS + sum(map(len, members)),
                    mtime_ns=mtime_ns,
                    members=("coarse.cls",) if members else (),
                    split=data.splits[batch],
                    places=[[image, [_SIDE, _SIDE, 3]], *([member] for member in members)],
                )


@dataclass(frozen=True)
class _Data:
    classes: list[str]
    batches: dict[str, _Columns]  # pixels (N, 3072) channel by channel, labels, coarse labels
    splits: dict[str, str]  # of each batch
    others: list[str]  # files


@lru_cache(maxsize=1)
def _loaded(path: Path, mtime_ns: int) -> _Data:
    """Read and check everything; `mtime_ns` is when it was last written."""
    files, others = _read_folder(path) if path.is_dir() else _read_archive(path)
    version = max(_VERSIONS, key=lambda version: len(version.files & files.keys()))
    if missing := sorted(version.files - files.keys()):
        raise UnusableInput(f"{path} lacks {', '.join(missing)}: unpack the archive anew.")
    classes = _class_names(files[version.names], version, path)
    batches, splits = {}, {}
    for name, split in version.batches.items():
        read = _read_binary if version.binary else _read_pickle
        columns = read(files[name], version.coarse, f"{path}: {name}")
        if not len(columns[1]):
            raise UnusableInput(f"{path}: {name} is empty.")
        if columns[1].max() >= len(classes):
            raise UnusableInput(f"{path}: {name} has labels that have no class name.")
        batch = name.removesuffix(".bin")
        batches[batch], splits[batch] = columns, split
    return _Data(classes, batches, splits, sorted(others + list(files.keys() - version.files)))


def _newest_ns(path: Path) -> int:
    try:
        paths = [path, *path.iterdir()] if path.is_dir() else [path]
        return max(os.stat(item).st_mtime_ns for item in paths)
    except OSError as error:
        raise UnusableInput(f"{path} cannot be read: {error.strerror}.") from error


def _wanted(name: str) -> bool:
    return any(name in version.files for version in _VERSIONS)


def _check_size(path: Path, name: str, size: int) -> None:
    if size > MAX_FILE:
        raise UnusableInput(f"{path}: {name} has {size} bytes; {MAX_FILE} are the most.")


def _read_folder(path: Path) -> tuple[dict[str, bytes], list[str]]:
    names = sorted(entry.name for entry in os.scandir(path) if entry.is_file())
    for name in filter(_wanted, names):
        _check_size(path, name, os.stat(path / name).st_size)
    files = {name: (path / name).read_bytes() for name in names if _wanted(name)}
    return files, [name for name in names if name not in files]


def _read_archive(path: Path) -> tuple[dict[str, bytes], list[str]]:
    files: dict[str, bytes] = {}
    others = []
    try:
        with tarfile.open(path, "r:gz", tarinfo=CheckedTarInfo) as archive:
            for info in archive:
                name = os.path.basename(info.name)
                _check_size(path, name, info.size)
                if info.isreg() and _wanted(name) and name not in files:
                    content = archive.extractfile(info)
                    assert content is not None, "it is a regular file"
                    files[name] = content.read()
                elif not info.isdir():
                    others.append(name)
    except (OSError, EOFError, *TAR_ERRORS) as error:
        raise UnusableInput(f"{path} is damaged or cut short: {error}.") from error
    return files, others


def _class_names(data: bytes, version: _Version, path: Path) -> list[str]:
    if version.binary:
        return list(filter(None, map(str.strip, data.decode("utf-8", "replace").split("\n"))))
    content = load_plain(data, f"{path}: {version.names}")
    names = content.get("fine_label_names" if version.coarse else "label_names")
    if not isinstance(names, list) or not all(isinstance(name, bytes | str) for name in names):
        raise UnusableInput(f"{path}: {version.names} has no class names.")
    return [name.decode("utf-8", "replace") if isinstance(name, bytes) else name for name in names]


def _read_binary(data: bytes, coarse: bool, name: str) -> _Columns:
    labels = 2 if coarse else 1
    if not data or len(data) % (labels + _PIXELS):
        raise UnusableInput(f"{name} is cut short: its rows have {labels + _PIXELS} bytes each.")
    rows = np.frombuffer(data, np.uint8).reshape(-1, labels + _PIXELS)
    found = rows[:, :labels].astype(np.int64)
    return rows[:, labels:], found[:, -1], found[:, 0] if coarse else None


def _read_pickle(data: bytes, coarse: bool, name: str) -> _Columns:
    content = load_plain(data, name)
    pixels = content.get("data")
    if not isinstance(pixels, np.ndarray) or pixels.ndim != 2 or pixels.shape[1] != _PIXELS:
        raise UnusableInput(f"{name} has no rows of {_PIXELS} bytes.")

    def labels(key: str) -> NDArray[np.int64]:
        found: Any = content.get(key)
        is_whole = isinstance(found, list) and len(found) == len(pixels)
        if not is_whole or not all(type(label) is int and 0 <= label < 256 for label in found):
            raise UnusableInput(f"{name} has no label for each row.")
        return np.array(found, np.int64)

    if not coarse:
        return pixels, labels("labels"), None
    return pixels, labels("fine_labels"), labels("coarse_labels")
