"""Doing it: from a member's bytes to pixels in the caller's memory.

The box of a `Geometry` is carried back through the EXIF orientation into the image as stored, that
box is decoded (a JPEG at a reduced scale where the box is at least twice the target), resized once
and turned upright on its way into the output.
"""

import io
import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cv2
import numpy as np
import simplejpeg
from numpy.typing import NDArray

from reader.splice import BadTable, Box, TileTable, cut
from reader.transforms import Geometry

Pixels = NDArray[Any]  # uint8, (height, width, 3)

# EXIF orientation -> (transpose, then mirror left-right, then mirror up-down) makes it upright.
_UPRIGHT = {
    1: (False, False, False),
    2: (False, True, False),
    3: (False, True, True),
    4: (False, False, True),
    5: (True, False, False),
    6: (True, True, False),
    7: (True, True, True),
    8: (True, False, True),
}


@dataclass(frozen=True)
class StoredImage:
    """An image as it lies in a shard; `height` and `width` before `orientation`.

    Attributes:
        read: ``read(start, stop)`` gives a range of the image's `size` bytes.
        tiles: the segment table of a tiled JPEG.
    """

    read: Callable[[int, int], bytes]
    size: int
    format: str
    height: int
    width: int
    channels: int
    orientation: int
    tiles: TileTable | None = None

    @property
    def data(self) -> bytes:
        """All its bytes."""
        return self.read(0, self.size)

    @property
    def upright_size(self) -> tuple[int, int]:
        """(height, width) as people see it."""
        if _UPRIGHT[self.orientation][0]:
            return self.width, self.height
        return self.height, self.width


class DecodeError(ValueError):
    """The bytes do not decode to the image that the index describes; its text is the reason."""


class Decoder:
    """Decodes into memory that it reuses: one for each thread."""

    def __init__(self) -> None:
        self._pixels = np.empty(0, np.uint8)
        self._resized = np.empty(0, np.uint8)

    def whole(self, image: StoredImage) -> Pixels:
        """The whole upright image, (height, width, 3) RGB, in memory of its own.

        Raises:
            DecodeError: it does not decode.
        """
        out = np.empty((*image.upright_size, 3), np.uint8)
        self.render(image, Geometry.of(*image.upright_size), out)
        return out

    def render(self, image: StoredImage, geometry: Geometry, out: Pixels) -> None:
        """Fill `out`, (geometry.height, geometry.width, 3) RGB, with what `geometry` shows.

        Raises:
            DecodeError: the image does not decode.
        """
        box, target = _visible(geometry, image.upright_size)
        if target != (0, 0, geometry.height, geometry.width):
            out[:] = 0
            top, left, height, width = target
            if geometry.vflip:
                top = geometry.height - top - height
            if geometry.hflip:
                left = geometry.width - left - width
            out = out[top : top + height, left : left + width]
            if not height or not width:
                return
        transpose, hflip, vflip = _UPRIGHT[image.orientation]
        box = _as_stored(box, image.upright_size, image.orientation)
        height, width = out.shape[:2]
        if transpose:
            height, width = width, height
        pixels = self._decode(image, box, height, width)
        self._place(pixels, transpose, hflip != geometry.hflip, vflip != geometry.vflip, out)

    def _decode(self, image: StoredImage, box: Box, height: int, width: int) -> Pixels:
        """The box of the stored image, at least (height, width) large where the box is."""
        if image.format != "jpg" or image.channels == 4:
            return _part(_any_format(image), box)
        # Scales are eighths: the smallest that keeps the box as large as the target.
        eighths = 8
        if box[2] >= 2 * height and box[3] >= 2 * width:
            eighths = math.ceil(8 / min(box[2] / height, box[3] / width))
        pixels = None
        if image.tiles is not None:
            pixels = self._spliced(image, image.tiles, box, eighths)
        if pixels is None:
            try:
                whole = self._jpeg(image.data, image.height, image.width, eighths)
            except ValueError:
                # Pillow forgives more than simplejpeg, and says better what is wrong.
                return _part(_any_format(image), box)
            pixels = _part(whole, _scaled(box, eighths))
        return pixels

    def _spliced(
        self, image: StoredImage, tiles: TileTable, box: Box, eighths: int
    ) -> Pixels | None:
        """The box, decoded from the segments that it touches; None if that is not worth it."""
        try:
            part = cut(tiles, image.size, image.height, image.width, box, eighths < 8, image.read)
            if part is None:
                return None
            pixels = self._jpeg(part.data, part.height, part.width, eighths)
        except BadTable as error:
            raise DecodeError(str(error)) from error
        except ValueError as error:
            raise DecodeError(f"a part of it does not decode ({error})") from error
        if part.shifts is not None:
            _align(pixels, part.shifts, eighths)
        inside = (box[0] - part.top, box[1] - part.left, box[2], box[3])
        return _part(pixels, _scaled(inside, eighths))

    def _jpeg(self, data: bytes | bytearray, height: int, width: int, eighths: int) -> Pixels:
        """Decode a JPEG of (height, width) at a scale of eighths.

        Raises:
            ValueError: it does not decode without a warning, or has another size.
        """
        if self._pixels.size < height * width * 3:
            self._pixels = np.empty(height * width * 3, np.uint8)
        scaled = -(-height * eighths // 8), -(-width * eighths // 8)
        pixels = simplejpeg.decode_jpeg(
            data,
            "RGB",
            min_height=scaled[0],
            min_width=scaled[1],
            min_factor=1 if eighths == 8 else 2,
            buffer=self._pixels,
        )
        if pixels.shape[:2] != scaled:
            raise ValueError(f"its own header says {pixels.shape[1]} x {pixels.shape[0]} pixels")
        return pixels

    def _place(
        self, pixels: Pixels, transpose: bool, hflip: bool, vflip: bool, out: Pixels
    ) -> None:
        """Resize `pixels`, turn them, and write them to `out` with as few passes as it takes."""
        height, width = out.shape[:2]
        if transpose:
            height, width = width, height
        turns = transpose or hflip or vflip
        if pixels.shape[:2] != (height, width):
            down, across = pixels.shape[0] / height, pixels.shape[1] / width
            method = cv2.INTER_AREA if min(down, across) >= 2 else cv2.INTER_LINEAR
            resized = self._scratch(height, width) if turns else out
            pixels = cv2.resize(pixels, (width, height), dst=resized, interpolation=method)
        if transpose:
            pixels = cv2.transpose(pixels)
        if hflip or vflip:
            code = -1 if hflip and vflip else int(hflip)
            pixels = cv2.flip(pixels, code, dst=out)
        if not np.may_share_memory(pixels, out):
            out[:] = pixels

    def _scratch(self, height: int, width: int) -> Pixels:
        if self._resized.size != height * width * 3:
            self._resized = np.empty(height * width * 3, np.uint8)
        return self._resized.reshape(height, width, 3)


def _visible(geometry: Geometry, size: tuple[int, int]) -> tuple[Box, Box]:
    """The part of the geometry's box inside the image, in whole pixels, and where it goes."""
    tops = _clip(geometry.top, geometry.box_height, size[0], geometry.height)
    lefts = _clip(geometry.left, geometry.box_width, size[1], geometry.width)
    return (tops[0], lefts[0], tops[1], lefts[1]), (tops[2], lefts[2], tops[3], lefts[3])


def _clip(start: float, length: float, limit: int, target: int) -> Box:
    """(source start, source length, target start, target length) along one axis."""
    if start >= -0.5 and start + length <= limit + 0.5:
        first = min(max(round(start), 0), limit - 1)
        return first, max(min(round(start + length), limit) - first, 1), 0, target
    scale = target / length
    inside, end = max(start, 0.0), min(start + length, float(limit))
    if end <= inside:
        return 0, 0, 0, 0
    begin, stop = round((inside - start) * scale), round((end - start) * scale)
    return round(inside), max(round(end) - round(inside), 1), begin, stop - begin


def _scaled(box: Box, eighths: int) -> Box:
    """The same box, to the nearest pixel, in an image decoded at a scale of eighths."""
    if eighths == 8:
        return box
    # Halves are rounded up, so that moving the box by whole MCUs moves the result alike.
    top, left, bottom, right = (
        (edge * eighths + 4) // 8 for edge in (box[0], box[1], box[0] + box[2], box[1] + box[3])
    )
    return top, left, max(bottom - top, 1), max(right - left, 1)


def _align(pixels: Pixels, shifts: NDArray[Any], eighths: int) -> None:
    """Move each row of MCUs, 8 pixels high before scaling, left by its shift."""
    for row, shift in enumerate((shifts * eighths // 8).tolist()):
        if shift:
            rows = pixels[row * eighths : (row + 1) * eighths]
            rows[:, :-shift] = rows[:, shift:]


def _part(pixels: Pixels, box: Box) -> Pixels:
    top, left, height, width = box
    return pixels[top : top + height, left : left + width]


def _as_stored(box: Box, upright: tuple[int, int], orientation: int) -> Box:
    """The same box in the image before it was turned upright."""
    transpose, hflip, vflip = _UPRIGHT[orientation]
    top, left, height, width = box
    if vflip:
        top = upright[0] - top - height
    if hflip:
        left = upright[1] - left - width
    return (left, top, width, height) if transpose else (top, left, height, width)


def _any_format(image: StoredImage) -> Pixels:
    """The whole stored image by OpenCV (PNG) or Pillow, in memory of its own."""
    pixels = None
    if image.format == "png":
        flags = cv2.IMREAD_COLOR_RGB | cv2.IMREAD_IGNORE_ORIENTATION
        pixels = cv2.imdecode(np.frombuffer(image.data, np.uint8), flags)
    if pixels is None:
        pixels = _with_pillow(image)
    if pixels.shape[:2] != (image.height, image.width):
        raise DecodeError(_size_differs(image, pixels.shape[1], pixels.shape[0]))
    return pixels


def _with_pillow(image: StoredImage) -> Pixels:
    from PIL import Image  # few data sets need it, and workers should start fast

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # remarks on metadata
            with Image.open(io.BytesIO(image.data)) as opened:
                if opened.size != (image.width, image.height):
                    raise DecodeError(_size_differs(image, *opened.size))
                if opened.mode.startswith("I;16"):
                    grey = (np.asarray(opened) >> 8).astype(np.uint8)
                    return np.stack([grey] * 3, axis=-1)
                return np.asarray(opened.convert("RGB"))
    except (OSError, SyntaxError, ValueError, EOFError) as error:
        if isinstance(error, DecodeError):
            raise
        raise DecodeError(str(error)) from error


def _size_differs(image: StoredImage, width: int, height: int) -> str:
    return f"it is {width} x {height} pixels, its index says {image.width} x {image.height}"
