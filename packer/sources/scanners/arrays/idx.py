"""MNIST's IDX files, gzipped or not, and those of Fashion-MNIST and EMNIST.

A folder holds ``train-images-idx3-ubyte``, ``train-labels-idx1-ubyte`` and the same of ``t10k`` or
``test``, maybe behind the set's name. The format: http://yann.lecun.com/exdb/mnist/.
"""

import gzip
import math
import os
import re
import struct
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from packer.errors import UnusableInput
from packer.samples.records import Skipped
from packer.sources.scanners.arrays.source import IMAGES, LABELS, MAX_SIDE, Array, Arrays, Name
from packer.sources.trees.walk import skipped

_NAME = re.compile(r"(.*?)-?(train|t10k|test)-(images|labels)[-.]idx[13]-ubyte(\.gz)?")
_DIMENSIONS = {IMAGES: 3, LABELS: 1}
MAX_BYTES = 1 << 30  # of one file; EMNIST's largest has 547 MB
_MAX_RATIO = 1032  # of deflate


def is_idx(folder: Path) -> bool:
    """Return whether a folder holds images in IDX files."""
    matches = filter(None, map(_NAME.fullmatch, os.listdir(folder)))
    return any(match[3] == IMAGES for match in matches)


def read_idx(folder: Path) -> Arrays:
    """Find the arrays of a folder."""
    found: dict[Name, Array] = {}
    others = []
    for file in sorted(os.listdir(folder)):
        if not (match := _NAME.fullmatch(file)):
            others.append(skipped(file, "it is not an IDX file"))
            continue
        path, split, kind = folder / file, match[2].replace("t10k", "test"), match[3]
        name = Name(split, split, kind, match[1])
        if name in found:
            reason = f"{found[name].path.name} has the same content"
            others.append(Skipped(file, reason, ignored=True))
        else:
            read = partial(_load, path, _DIMENSIONS[kind])
            found[name] = Array(path, "", read, title=file.removesuffix(".gz"))
    for name in found:
        for kind in _DIMENSIONS:
            if name._replace(kind=kind) not in found:
                raise UnusableInput(f"{folder}: the file of {name.split} {kind} is missing.")
    return Arrays(found, others=others)


def _load(path: Path, dimensions: int) -> NDArray[np.uint8]:
    """Return the array in an IDX file: (N, height, width), or (N,) for a file of labels."""
    is_packed = path.suffix == ".gz"
    with gzip.open(path) if is_packed else open(path, "rb") as file:
        header = file.read(4 + 4 * dimensions)
        if header[:4] != bytes((0, 0, 8, dimensions)) or len(header) < 4 + 4 * dimensions:
            raise ValueError(f"it does not begin as IDX of bytes in {dimensions} dimensions")
        shape = struct.unpack(f">{dimensions}I", header[4:])
        size = math.prod(shape)
        most = min(MAX_BYTES, os.fstat(file.fileno()).st_size * (_MAX_RATIO if is_packed else 1))
        if size > most or not all(0 < side <= MAX_SIDE for side in shape[1:]):
            raise ValueError(
                f"it declares {shape}, which is not possible: it has {most} bytes at most, and "
                f"{MAX_SIDE} is the longest side"
            )
        data = file.read(size + 1)
    if len(data) != size:
        longer = "more" if len(data) > size else f"{len(data)}"
        raise ValueError(f"it declares {size} bytes and has {longer}")
    return np.frombuffer(data, np.uint8).reshape(shape)
