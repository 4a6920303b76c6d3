"""CIFAR-10 and CIFAR-100 (Krizhevsky 2009), python and binary version, as published or unpacked.

Both versions (https://www.cs.toronto.edu/~kriz/cifar.html) give the same dataset: the pixels, the
fine label, and the coarse one as the member ``coarse.cls``. A sample is named by batch and row.
"""

import os
import tarfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from packer.errors import UnusableInput
from packer.samples.records import Skipped
from packer.sources.scanners.arrays.plain_pickle import load_plain
from packer.sources.scanners.arrays.source import COARSE, IMAGES, LABELS, Array, Arrays, Name
from packer.sources.trees.compressed import is_cifar as is_archive
from packer.sources.trees.tar_reader import TAR_ERRORS, CheckedTarInfo
from packer.sources.trees.walk import skipped

_SHAPE = (3, 32, 32)  # channels, rows, columns
_PIXELS = 3 * 32 * 32
MAX_FILE = 1 << 28  # the largest published one has 155 MB


class _Version(NamedTuple):
    names: str  # the file of the class names: a text in the binary version
    batches: list[str]  # files
    labels: list[str]  # of a row

    @property
    def files(self) -> set[str]:
        return {*self.batches, self.names}


_TEN = [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"], ["labels"]
_HUNDRED = ["train", "test"], ["fine_labels", "coarse_labels"]
_VERSIONS = [
    _Version(names, [f"{name}{ext}" for name in batches], labels)
    for (batches, labels), ext, names in (
        (_TEN, "", "batches.meta"),
        (_TEN, ".bin", "batches.meta.txt"),
        (_HUNDRED, "", "meta"),
        (_HUNDRED, ".bin", "fine_label_names.txt"),
    )
]
_FILES = frozenset(name for version in _VERSIONS for name in (version.names, *version.batches))
_IGNORED = {"readme.html", "coarse_label_names.txt", "file.txt~"}


def is_cifar(path: Path) -> bool:
    """Return whether a folder or a gzipped tar is CIFAR: it has class names and a batch."""
    if path.is_dir():
        names = {name for name in _FILES.intersection(os.listdir(path)) if (path / name).is_file()}
        return any(v.names in names and not names.isdisjoint(v.batches) for v in _VERSIONS)
    return path.is_file() and is_archive(path)


def read_cifar(path: Path) -> Arrays:
    """Read all of it."""
    files, others = {}, []
    try:
        for name, size, read in _contents(path):
            if read is None or name in files or not any(name in v.files for v in _VERSIONS):
                others.append(name)
            elif size > MAX_FILE:
                raise UnusableInput(f"{path}: {name} has {size} bytes; {MAX_FILE} are the most.")
            else:
                files[name] = read()
    except (OSError, EOFError, *TAR_ERRORS) as error:
        raise UnusableInput(
            f"{path} is damaged or truncated: {error}. Download it again."
        ) from error
    version = max(_VERSIONS, key=lambda version: len(version.files & files.keys()))
    if missing := sorted(version.files - files.keys()):
        raise UnusableInput(f"{path} lacks {', '.join(missing)}. Unpack the archive again.")
    arrays = {}
    for name in version.batches:
        columns = _columns(files[name], version, f"{path}: {name}")
        split, title = "test" if name.startswith("test") else "train", name.removesuffix(".bin")
        for kind, column in zip((IMAGES, LABELS, COARSE), columns, strict=False):
            where = path / name if path.is_dir() else path
            arrays[Name(split, title, kind)] = Array(where, name, partial(np.asarray, column))
    names = _class_names(files[version.names], version, f"{path}: {version.names}")
    others = sorted(others + list(files.keys() - version.files))
    return Arrays(arrays, names, list(map(_other, others)), digits=5)


def _other(name: str) -> Skipped:
    if name in _IGNORED:
        return Skipped(name, "it is documentation", ignored=True)
    return skipped(name, "it is not a part of CIFAR")


def _contents(path: Path) -> Iterator[tuple[str, int, Callable[[], bytes] | None]]:
    """Yield the name and the size of each file, and what reads it; None if it is a link."""
    if path.is_dir():
        files = [item for item in sorted(path.iterdir()) if item.is_file()]
        yield from ((item.name, item.stat().st_size, item.read_bytes) for item in files)
        return
    with tarfile.open(path, "r:gz", tarinfo=CheckedTarInfo) as archive:
        for info in archive:
            if not info.isdir():
                content = archive.extractfile(info) if info.isreg() else None
                read = content.read if content is not None else None
                yield os.path.basename(info.name), info.size, read


def _class_names(data: bytes, version: _Version, where: str) -> list[str]:
    if version.names.endswith(".txt"):
        return list(filter(None, map(str.strip, data.decode("utf-8", "replace").split("\n"))))
    names = load_plain(data, where).get(f"{version.labels[0][:-1]}_names")
    if not isinstance(names, list) or not all(isinstance(name, bytes | str) for name in names):
        raise UnusableInput(f"{where} has no class names.")
    return [name.decode("utf-8", "replace") if isinstance(name, bytes) else name for name in names]


def _columns(data: bytes, version: _Version, where: str) -> list[Any]:
    """Return the images of a batch and the labels of each kind."""
    pixels: Any
    labels: list[Any]
    if version.names.endswith(".txt"):
        count = len(version.labels)
        if not data or len(data) % (count + _PIXELS):
            raise UnusableInput(f"{where} is truncated: its rows have {count + _PIXELS} bytes.")
        rows = np.frombuffer(data, np.uint8).reshape(-1, count + _PIXELS)
        pixels, labels = rows[:, count:], list(rows.T[:count][::-1])  # the coarse one is first
    else:
        content = load_plain(data, where)
        pixels, labels = content.get("data"), [content.get(name) for name in version.labels]
        if not isinstance(pixels, np.ndarray) or pixels.shape[1:] != (_PIXELS,):
            raise UnusableInput(f"{where} has no rows of {_PIXELS} bytes.")
        if not all(isinstance(one, list) and {*map(type, one)} == {int} for one in labels):
            raise UnusableInput(f"{where} has no label for each row.")
    return [pixels.reshape(-1, *_SHAPE).transpose(0, 2, 3, 1), *labels]
