"""Convert values of a field to and from arrays of a batch."""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_TENSOR_TYPES = "?efdFD" + np.typecodes["AllInteger"]  # NumPy's types that torch has too


class PictureForm(NamedTuple):
    channels: int


def are_views(value: Any, count: int) -> bool:
    return isinstance(value, (list, tuple)) and len(value) == count


def as_array(value: Any) -> NDArray[Any] | None:
    """Return a number, array or tensor as an array in native byte order; None for others."""
    if isinstance(value, (str, bytes, dict, list, tuple)) or value is None:
        return None
    try:
        array = np.asarray(value)
    except (TypeError, RuntimeError):  # torch's tensors of bfloat16, or with a gradient
        return None
    if array.dtype.char not in _TENSOR_TYPES:
        return None
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def channels_last(value: Any, given: Any, channels: int) -> Any:
    """Return a mapped picture whose first and last dimension might be its channels.

    The picture that `map_sample` was `given` shows which they are; its channels are then last.

    Raises:
        ValueError: it does not show it.
    """
    if isinstance(value, list) and isinstance(given, list) and len(value) == len(given):
        return [channels_last(*pair, channels) for pair in zip(value, given, strict=True)]
    array = as_array(value)
    if array is None or array.ndim < 3 or array.shape[-1] not in (3, channels):
        return value
    if array.shape[-3] != array.shape[-1] or value is given:
        return value
    shape = np.shape(given)
    moved = shape[-1:] + shape[:-1]
    if shape != moved and array.shape == shape:
        return value
    if shape != moved and array.shape == moved:
        return np.moveaxis(array, -3, -1)
    first, width, last = array.shape[-3:]
    raise ValueError(
        f"map_sample returned an image of {first} x {width} x {last} numbers, which may be "
        f"({first}, H, W) or (H, W, {last}). Pad images that are so small"
    )


def in_own_shape(room: NDArray[Any], size: Sequence[int], axis: int = 0) -> NDArray[Any]:
    """Return the beginning of a row's memory with another height and width, from `axis` on."""
    memory, shape = room.reshape(-1), (*room.shape[:axis], *size, *room.shape[axis + 2 :])
    length = math.prod(shape)
    if length > memory.size:
        raise ValueError(
            f"an image of {size[0]} x {size[1]} pixels does not fit the batch's memory"
        )
    return memory[:length].reshape(shape)
