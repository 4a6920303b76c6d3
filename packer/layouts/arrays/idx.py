"""MNIST's IDX files, gzipped or not, and those of Fashion-MNIST and EMNIST.

A folder holds ``train-images-idx3-ubyte``, ``train-labels-idx1-ubyte`` and the same of ``t10k`` or
``test``, maybe behind the set's name. The format: http://yann.lecun.com/exdb/mnist/.
"""

import gzip
import math
import os
import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from packer.errors import UnusableInput
from packer.samples.labels import MAX_CLASSES
from packer.samples.places import Files
from packer.samples.records import Facts, Sample, Skipped
from packer.trees.walk import skipped

_NAME = re.compile(r"(.*?)(train|t10k|test)-(images|labels)[-.]idx[13]-ubyte(\.gz)?")
_SPLITS = {"train": "train", "t10k": "test", "test": "test"}
_DIMENSIONS = {"images": 3, "labels": 1}
MAX_BYTES = 1 << 30  # of one file; EMNIST's largest has 547 MB
_MAX_RATIO = 1032  # of deflate
MAX_SIDE = 1 << 14


@dataclass(frozen=True)
class IdxSource:
    """A folder of IDX files."""

    path: Path
    classes: tuple[str, ...] = ()  # empty: the labels are only numbers

    facts = Facts()

    @classmethod
    def recognises(cls, path: Path) -> bool:
        """Return whether a folder holds images in IDX files."""
        matches = filter(None, map(_NAME.fullmatch, os.listdir(path)))
        return any(match[3] == "images" for match in matches)

    @classmethod
    def open(cls, path: Path, classes: Sequence[str] | None = None) -> "IdxSource":
        """Return the source; raise UnusableInput where there are several datasets."""
        sets = {match[1] for match in map(_NAME.fullmatch, os.listdir(path)) if match}
        if len(sets) > 1:
            raise UnusableInput(
                f"{path} holds several datasets: {', '.join(sorted(sets))}. Move the files of "
                "one of them to a separate folder."
            )
        return cls(path, tuple(classes or ()))

    @property
    def files(self) -> Files:
        """The reader of the samples."""
        return Files(self.path)

    def scan(self) -> Iterator[Sample | Skipped]:
        """Yield the splits, train first."""
        files: dict[tuple[str, str], str] = {}  # split and what it holds -> file
        for name in sorted(os.listdir(self.path)):
            if not (match := _NAME.fullmatch(name)):
                yield skipped(name, "it is not an IDX file")
                continue
            part = (_SPLITS[match[2]], match[3])
            if part in files:
                yield Skipped(name, f"{files[part]} has the same content", ignored=True)
            else:
                files[part] = name
        for split in sorted({split for split, _ in files}, reverse=True):
            for what in _DIMENSIONS:
                if (split, what) not in files:
                    raise UnusableInput(f"{self.path}: the file of {split} {what} is missing.")
            yield from self._split(split, files[split, "images"], files[split, "labels"])

    def _split(self, split: str, images: str, labels: str) -> Iterator[Sample]:
        mtime_ns = os.stat(self.path / images).st_mtime_ns
        numbers = _load(self.path / labels)
        pixels = _load(self.path / images)
        if len(numbers) != len(pixels):
            raise UnusableInput(
                f"{self.path}: {images} has {len(pixels)} images, {labels} {len(numbers)} labels."
            )
        known = len(self.classes) or MAX_CLASSES
        if len(numbers) and numbers.max() >= known:
            raise UnusableInput(
                f"{self.path / labels} has the label {numbers.max()}; there are {known} classes."
            )
        for row, label in enumerate(numbers.tolist()):
            name = f"{images.removesuffix('.gz')}/{row:06d}"
            yield Sample(
                name=name,
                key=f"{split}/{row:06d}",
                label=label,
                size=pixels[row].size,
                mtime_ns=mtime_ns,
                split=split,
                places=[[pixels[row].tobytes(), [*pixels[row].shape, 1]]],
            )


def _load(path: Path) -> NDArray[np.uint8]:
    """Return the array in an IDX file: (N, height, width), or (N,) for a file of labels."""
    match = _NAME.fullmatch(path.name)
    assert match is not None, "only files of that name are read"
    dimensions = _DIMENSIONS[match[3]]
    try:
        with gzip.open(path) if match[4] else open(path, "rb") as file:
            header = file.read(4 + 4 * dimensions)
            if header[:4] != bytes((0, 0, 8, dimensions)) or len(header) < 4 + 4 * dimensions:
                raise UnusableInput(
                    f"{path} does not begin as an IDX file of bytes in {dimensions} dimensions."
                )
            shape = struct.unpack(f">{dimensions}I", header[4:])
            size = math.prod(shape)
            most = os.fstat(file.fileno()).st_size * (_MAX_RATIO if match[4] else 1)
            if size > min(MAX_BYTES, most) or any(not 0 < side <= MAX_SIDE for side in shape[1:]):
                raise UnusableInput(
                    f"{path} declares {shape}, which is not possible: {most} bytes can be in "
                    f"it, at most {MAX_BYTES} are read, and {MAX_SIDE} is the longest side."
                )
            data = file.read(size + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise UnusableInput(
            f"{path} is damaged or cannot be read: {error}. Download it again."
        ) from error
    if len(data) != size:
        longer = "more" if len(data) > size else f"{len(data)}"
        raise UnusableInput(f"{path} declares {size} bytes and has {longer}. Download it again.")
    return np.frombuffer(data, np.uint8).reshape(shape)
