"""Arrays within entries: pixels, few numbers, or a member ``.npy``."""

import io
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib import format as npy

from packer.errors import BadImage
from packer.sources.containers.entries import Blob, Window

_FEW = 64  # numbers that go into the JSON
_CHANNELS = (1, 3)
_SMALLEST_SIDE = 4  # of pixels with channels first


def array(
    window: Window, at: int, shape: Sequence[int], kind: Any, *, pictures: bool = True
) -> Any:
    """Return the array of this shape and dtype at an offset; without `pictures`, it is no image."""
    dtype, shape = np.dtype(kind), list(map(int, shape))
    size = math.prod(shape) * dtype.itemsize
    if dtype.hasobject or size > window.size:
        raise BadImage("it has an array that is larger than its file, or of Python's objects")
    if dtype == np.uint8 and size:
        if len(shape) == 2 or (len(shape) == 3 and shape[2] in _CHANNELS):
            return Blob([window.file, at, size, [*shape, 1][:3]], size)
        if len(shape) == 3 and shape[0] in _CHANNELS and min(shape[1:]) >= _SMALLEST_SIDE:
            planes = np.frombuffer(window.read(at, size), np.uint8).reshape(shape)
            pixels = planes.transpose(1, 2, 0).tobytes()
            return Blob([pixels, [*shape[1:], shape[0]]], size)
    found = np.frombuffer(window.read(at, size), dtype).reshape(shape)
    if found.size <= _FEW:
        return found.tolist()
    file = io.BytesIO()
    npy.write_array(file, found, allow_pickle=False)
    return Blob([file.getvalue()], file.tell(), file.getvalue()[:32])
