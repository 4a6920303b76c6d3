"""Pictures of arrays: a ``.npy`` of the pixels or of the bands of one image."""

import io
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from PIL import Image

from packer.errors import BadImage, message_of
from packer.images.probe import check_size
from reader.format import Limits
from reader.format.members import DECODERS

MAGIC = b"\x93NUMPY"  # begins an array
HEAD = 4096  # bytes that have its header
_MOST_SHOWN = 3  # bands
_READ = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}


class Header(NamedTuple):
    shape: tuple[int, ...]
    dtype: Any
    order: Literal["F", "C"]
    size: int  # bytes of the header


def header_of(head: bytes) -> Header | None:
    """Return the header of an array that begins so; None for anything else."""
    try:
        file = io.BytesIO(head)
        shape, is_fortran, dtype = _READ[npy.read_magic(file)](file)
    except Exception:  # NumPy parses it as Python, so TokenError and others come, too
        return None
    return Header(shape, dtype, "F" if is_fortran else "C", file.tell())


def is_picture(shape: tuple[int, ...], dtype: Any) -> bool:
    """Return whether an array is pixels, which a picture holds without loss."""
    return dtype == np.uint8 and (len(shape) == 2 or (len(shape) == 3 and shape[2] in (1, 3)))


def picture_of(data: bytes, limits: Limits, *, is_kept: bool) -> tuple[Image.Image, str]:
    """Return the picture of an array, and what is lost; raise BadImage if that is not `is_kept`."""
    try:
        array = DECODERS["npy"](data)
    except MemoryError:
        raise  # which says nothing of the file
    except Exception as error:  # as above
        raise BadImage(f"its array cannot be read ({message_of(error)})") from error
    shape, dtype = array.shape, array.dtype
    if len(shape) not in (2, 3) or dtype.kind not in "biuf" or not array.size:
        raise BadImage(
            f"its array is {dtype} {shape}; numbers of shape (height, width) or (height, width, "
            "bands) are required"
        )
    check_size(shape[0], shape[1], limits)
    bands = shape[2] if len(shape) == 3 else 1
    shown = array.reshape(*shape[:2], bands)[..., : _MOST_SHOWN if bands >= _MOST_SHOWN else 1]
    if dtype != np.uint8:
        shown = _scaled(shown)
    picture = Image.fromarray(np.ascontiguousarray(shown[..., 0] if shown.shape[2] == 1 else shown))
    if is_picture(shape, dtype):
        return picture, ""
    if not is_kept:
        raise BadImage(f"its array is {dtype} {shape}, which a picture does not hold")
    of = "the band" if bands == 1 else "band 1" if bands < _MOST_SHOWN else "bands 1 to 3"
    return picture, (
        f"{bands} band{'s' * (bands > 1)} of {dtype}, kept as npy; the picture is made of {of}"
    )


def _scaled(values: NDArray[Any]) -> NDArray[np.uint8]:
    """Return the values from the least to the most, which are finite, as 0 to 255."""
    values = values.astype(np.float64)
    values[~np.isfinite(values)] = np.nan
    with np.errstate(all="ignore"):
        low, high = np.nanmin(values), np.nanmax(values)
        found = (values - low) / ((high - low) or 1) * 255
    return np.nan_to_num(found).round().astype(np.uint8)
