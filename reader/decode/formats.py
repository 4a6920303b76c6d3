"""Decode whole pictures of formats other than common JPEGs, by OpenCV (PNG, WebP) or Pillow.

The bytes may be malicious, so a picture is decoded only if its own header has the size in the
index, and only in a format that is packed: Pillow has some that start programs.
"""

import contextlib
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from reader.decode.bands import BandCut
from reader.decode.plan import View
from reader.decode.splice import Box
from reader.decode.stored import StoredImage
from reader.errors import lacks_memory
from reader.format.bands import PNG_BEGIN
from reader.format.errors import DecodeError
from reader.format.pictures import in_8_bits, opened

if TYPE_CHECKING:
    from PIL import Image

Pixels = NDArray[Any]
Read = Callable[[int, int], memoryview]
Result = TypeVar("Result")

_PNG_SIZE = struct.Struct(f">{len(PNG_BEGIN)}xII")
_PNG_COLOUR = len(PNG_BEGIN) + 9  # offset of the colour type
_GREY = (0, 4)  # without and with alpha
_COLOURED = (2, 6)  # likewise
_WEBP = struct.Struct("<4sI4s4sIxIxI")  # the sizes in both kinds of chunks (RFC 9649, RFC 6386)


def read_picture(image: StoredImage) -> Pixels:
    """Return the whole stored image, (height, width, depth), in new memory."""
    data = image.read(0, image.size)
    if image.format == "raw":
        return _raw(image, data)
    if (size := _size_for_opencv(data)) is not None:
        _check_size(image, *size)
        is_grey = image.depth == 1 and data[:1] == PNG_BEGIN[:1] and data[_PNG_COLOUR] in _GREY
        flags = cv2.IMREAD_GRAYSCALE if is_grey else cv2.IMREAD_COLOR_RGB
        pixels: Pixels | None = None
        with contextlib.suppress(cv2.error):  # Pillow has better messages
            pixels = cv2.imdecode(
                np.frombuffer(_without_profile(data), np.uint8),
                flags | cv2.IMREAD_IGNORE_ORIENTATION,
            )
        if pixels is not None:
            return _in_depth(pixels.reshape(image.height, image.width, -1), image.depth)
    with _opened(image, data) as picture:
        converted = in_8_bits(picture).convert("RGB" if image.depth == 3 else "L")
        return np.asarray(converted).reshape(image.height, image.width, -1)


def has_colours(view: View) -> bool:
    """Whether a picture stores red, green and blue for each pixel, not grey or a palette."""
    image = view.image
    data = image.read(0, image.size)
    if data[: len(PNG_BEGIN)] == PNG_BEGIN and len(data) > _PNG_COLOUR:
        return data[_PNG_COLOUR] in _COLOURED
    with _opened(image, data) as picture:
        return picture.mode in ("RGB", "RGBA", "CMYK", "YCbCr")


def read_values(views: Sequence[View]) -> list[Pixels]:
    """Return the values in each view's box of one picture, (height, width[, channels])."""
    if all(isinstance(view.cut, BandCut) for view in views):
        found = (_of_bands(view, BandCut.values)[0] for view in views)
        return [values[..., 0] if values.shape[2] == 1 else values for values in found]
    image = views[0].image
    with _opened(image, image.read(0, image.size)) as picture:
        pixels = np.asarray(picture)
    pixels = pixels.astype(np.uint8) if pixels.dtype == np.bool_ else pixels
    return [part(pixels, view.box) for view in views]


def read_colours(views: Sequence[View]) -> list[Pixels]:
    """Return red, green and blue in each view's box of one picture, (height, width, 3)."""
    if all(isinstance(view.cut, BandCut) for view in views):
        return [_in_depth(_of_bands(view, BandCut.colours), 3) for view in views]
    pixels = read_picture(replace(views[0].image, depth=3))
    return [part(pixels, view.box) for view in views]


def read_bands(view: View) -> Pixels:
    return _in_depth(_of_bands(view, BandCut.colours), view.image.depth)


def _of_bands(view: View, reading: Callable[[BandCut, Read], Result]) -> Result:
    assert isinstance(view.cut, BandCut)
    try:
        return reading(view.cut, view.image.read)
    except ValueError as error:
        raise DecodeError(f"a part of it cannot be decoded ({error})") from error


def part(pixels: Pixels, box: Box) -> Pixels:
    top, left, height, width = box
    return pixels[top : top + height, left : left + width]


def _raw(image: StoredImage, data: memoryview) -> Pixels:
    if len(data) != image.height * image.width * image.channels:
        raise DecodeError(f"it has {len(data)} bytes, not one for each value of each pixel")
    pixels = np.frombuffer(data, np.uint8).reshape(image.height, image.width, image.channels)
    return _in_depth(pixels, image.depth)


def _in_depth(pixels: Pixels, depth: int) -> Pixels:
    if pixels.shape[2] < 3:
        return pixels[..., :1] if depth == 1 else np.repeat(pixels[..., :1], depth, axis=2)
    if depth == 3:
        return pixels[..., :3]
    return cv2.cvtColor(np.ascontiguousarray(pixels[..., :3]), cv2.COLOR_RGB2GRAY)[..., None]


def _size_for_opencv(data: memoryview) -> tuple[int, int] | None:
    """Return (width, height) if OpenCV decodes the picture as Pillow does, and faster; else None.

    It returns the first frame of animations. It accepts some WebPs that Pillow refuses, but none
    with a single chunk of the right size (measured on 100,000 damaged ones).
    """
    if data[: len(PNG_BEGIN)] == PNG_BEGIN and len(data) >= _PNG_SIZE.size:
        return None if b"acTL" in bytes(data) else _PNG_SIZE.unpack_from(data)
    if len(data) < _WEBP.size:
        return None
    riff, length, webp, name, chunk, lossless, lossy = _WEBP.unpack_from(data)
    if (riff, webp) != (b"RIFF", b"WEBP") or not length + 8 == len(data) == 20 + chunk + chunk % 2:
        return None
    if name == b"VP8L":
        return (lossless & 0x3FFF) + 1, (lossless >> 14 & 0x3FFF) + 1
    return (lossy & 0x3FFF, lossy >> 16 & 0x3FFF) if name == b"VP8 " else None


def _without_profile(data: memoryview) -> bytes | memoryview:
    """Remove a PNG's colour profile: OpenCV ignores it, and libpng prints warnings on many."""
    if data[:1] != PNG_BEGIN[:1]:
        return data
    whole = bytes(data)
    if (at := whole.find(b"iCCP", 0, whole.find(b"IDAT"))) < 0:
        return data
    (length,) = struct.unpack_from(">I", whole, at - 4)
    return whole[: at - 4] + whole[at + 8 + length :]


@contextmanager
def _opened(image: StoredImage, data: memoryview) -> Iterator["Image.Image"]:
    from PIL import UnidentifiedImageError  # rarely used; workers start fast

    try:
        with opened(data) as picture:
            if picture.format == "TIFF" and {*picture.size} == {image.width, image.height}:
                picture.load()  # only now Pillow turns one whose orientation is in XMP
            _check_size(image, *picture.size)
            yield picture
    except (DecodeError, MemoryError):
        raise
    except UnidentifiedImageError as error:  # its text has an address of this process
        raise DecodeError("it is not an image of a supported format") from error
    except Exception as error:  # Pillow's plugins may raise anything
        if lacks_memory(error):
            raise MemoryError(str(error)) from error
        raise DecodeError(str(error) or type(error).__name__) from error


def _check_size(image: StoredImage, width: int, height: int) -> None:
    if (width, height) != (image.width, image.height):
        raise DecodeError(
            f"it has {width} x {height} pixels, but its index has {image.width} x {image.height}"
        )
