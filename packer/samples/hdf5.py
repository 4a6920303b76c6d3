"""Images in HDF5 files, which h5py reads: a row of a dataset, or a dataset of its own."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from numpy.typing import NDArray

from packer.errors import Unreadable

WHOLE = -1  # in place of a row: all of a dataset
_CHUNKS = 1 << 28  # bytes of chunks that are kept decompressed
FAULTS = (OSError, ValueError, KeyError, RuntimeError, TypeError)


def item(path: Path, mtime_ns: int, dataset: str, row: int) -> bytes:
    """Return encoded bytes, or pixels with channels last, of a file last written at `mtime_ns`."""
    try:
        return content(_kept(path, mtime_ns)[dataset], row).tobytes()
    except FAULTS as error:
        raise Unreadable(f"{dataset} of {path.name} cannot be read: {error}") from error


def content(dataset: Any, row: int) -> NDArray[np.uint8]:
    """Return the bytes of an image that is encoded, or its pixels with channels last."""
    value = dataset[()] if row == WHOLE else dataset[row]
    if isinstance(value, bytes):
        return np.frombuffer(value, np.uint8)
    found = np.asarray(value)
    if found.dtype.kind in "VS":
        return np.frombuffer(found.tobytes(), np.uint8)
    return found.transpose(1, 2, 0) if is_channels_first(found.shape) else found


def is_channels_first(shape: tuple[int, ...]) -> bool:
    """Return whether an image of this shape has its channels first, which they are not if last."""
    return len(shape) == 3 and shape[0] in (1, 3) and shape[2] not in (1, 3)


def opened(path: Path) -> Any:
    """Return a file to be read, which others may read and write; a context manager."""
    return h5py.File(path, "r", rdcc_nbytes=_CHUNKS, locking=False)


@lru_cache(maxsize=4)
def _kept(path: Path, mtime_ns: int) -> Any:
    return opened(path)
