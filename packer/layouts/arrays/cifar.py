"""CIFAR-10 and CIFAR-100 (Krizhevsky 2009), python and binary version, as published or unpacked.

Both versions (https://www.cs.toronto.edu/~kriz/cifar.html) give the same dataset: the pixels, the
fine label, and the coarse one as the member ``coarse.cls``. A sample is named by batch and row.
"""

import os
import tarfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
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
    """One of the four archives, or the folder that it holds; all of it is in memory."""

    path: Path
    classes: tuple[str, ...]
    names: list[str]  # of the classes, in the order of the files' labels
    batches: dict[str, tuple[str, _Columns]]  # their splits, and what they hold
    others: list[str]  # files
    mtime_ns: int  # when the newest file was written

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
        """Read and check everything."""
        files, others = {}, []
        try:
            for name, size, read in _contents(path):
                is_known = any(name in version.files for version in _VERSIONS)
                if read is None or name in files or not is_known:
                    others.append(name)
                    continue
                if size > MAX_FILE:
                    few = f"{MAX_FILE} are the most"
                    raise UnusableInput(f"{path}: {name} has {size} bytes; {few}.")
                files[name] = read()
        except (OSError, EOFError, *TAR_ERRORS) as error:
            raise UnusableInput(
                f"{path} is damaged or truncated: {error}. Download it again."
            ) from error
        version = max(_VERSIONS, key=lambda version: len(version.files & files.keys()))
        if missing := sorted(version.files - files.keys()):
            raise UnusableInput(f"{path} lacks {', '.join(missing)}. Unpack the archive again.")
        names = _class_names(files[version.names], version, path)
        batches = {}
        for name, split in version.batches.items():
            read_batch = _read_binary if version.binary else _read_pickle
            columns = read_batch(files[name], version.coarse, f"{path}: {name}")
            if not len(columns[1]):
                raise UnusableInput(f"{path}: {name} is empty.")
            if columns[1].max() >= len(names):
                raise UnusableInput(f"{path}: {name} has labels that have no class name.")
            batches[name.removesuffix(".bin")] = split, columns
        others = sorted(others + list(files.keys() - version.files))
        order = tuple(names) if classes is None else class_order(path, names, classes)
        return cls(path, order, names, batches, others, _newest_ns(path))

    @property
    def files(self) -> Files:
        """The reader of the samples."""
        return Files(self.path)

    def scan(self) -> Iterator[Sample | Skipped]:
        """Yield the batches in their order."""
        numbers = [self.classes.index(name) for name in self.names]
        for name in self.others:
            if name in _IGNORED:
                yield Skipped(name, "it is documentation", ignored=True)
            else:
                yield skipped(name, "it is not a part of CIFAR")
        for batch, (split, (pixels, labels, coarse)) in self.batches.items():
            for row, label in enumerate(labels.tolist()):
                image = pixels[row].reshape(3, _SIDE, _SIDE).transpose(1, 2, 0).tobytes()
                members = [] if coarse is None else [b"%d" % coarse[row]]
                yield Sample(
                    name=f"{batch}/{row:05d}",
                    key=f"{batch}/{row:05d}",
                    label=numbers[label],
                    size=_PIXELS + sum(map(len, members)),
                    mtime_ns=self.mtime_ns,
                    members=("coarse.cls",) if members else (),
                    split=split,
                    places=[[image, [_SIDE, _SIDE, 3]], *([member] for member in members)],
                )


def _newest_ns(path: Path) -> int:
    try:
        paths = [path, *path.iterdir()] if path.is_dir() else [path]
        return max(os.stat(item).st_mtime_ns for item in paths)
    except OSError as error:
        raise UnusableInput(f"{path} cannot be read: {error.strerror}.") from error


def _contents(path: Path) -> Iterator[tuple[str, int, Callable[[], bytes] | None]]:
    """Yield the name and the size of each file, and what reads it; None if it is a link."""
    if path.is_dir():
        files = sorted((item for item in os.scandir(path) if item.is_file()), key=lambda i: i.name)
        yield from ((item.name, item.stat().st_size, Path(item).read_bytes) for item in files)
        return
    with tarfile.open(path, "r:gz", tarinfo=CheckedTarInfo) as archive:
        for info in archive:
            if not info.isdir():
                content = archive.extractfile(info) if info.isreg() else None
                read = content.read if content is not None else None
                yield os.path.basename(info.name), info.size, read


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
        raise UnusableInput(f"{name} is truncated: its rows have {labels + _PIXELS} bytes each.")
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
