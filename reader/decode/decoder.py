"""Decode a member's bytes to pixels in the caller's memory.

A view's box is decoded (from its own segments if the JPEG is tiled), resized once, and turned while
it is written to the output.
"""

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
import simplejpeg
from numpy.typing import NDArray

from reader.decode.bands import BandCut
from reader.decode.formats import part, read_bands, read_picture
from reader.decode.plan import View, join, plan
from reader.decode.resize import resized
from reader.decode.splice import Box
from reader.decode.stored import StoredImage
from reader.errors import SampleError, lacks_memory
from reader.format.errors import DecodeError
from reader.format.jpeg import first_frame
from reader.geometry import Geometry

Pixels = NDArray[Any]  # uint8, (height, width, depth)

# Frames that libjpeg decodes at a reduced scale. It decodes a lossless one (C3) always at its full
# size, also into memory that is too small.
_SCALABLE = (0xC0, 0xC1, 0xC2)


class Decoder:
    """Decodes into reused memory; each thread needs its own."""

    def __init__(self) -> None:
        self.decodes = 0
        self._pixels: Pixels = np.empty(0, np.uint8)

    def whole(self, image: StoredImage) -> Pixels:
        """Return the whole upright image, (height, width, depth), in new memory."""
        height, width = image.upright_size
        out = _room(height * width, image.depth).reshape(height, width, image.depth)
        self.draw(plan(image, Geometry.of(*image.upright_size)), out)
        return out

    def stored(self, image: StoredImage) -> Pixels | None:
        """Return the whole stored image, (height, width, depth), valid until the next call.

        None if it does not decode cleanly: its parts may differ from parts decoded separately.
        """
        self.decodes += 1
        try:
            if not image.is_for_libjpeg:
                return read_picture(image)
            return self._whole_jpeg(image, 8)
        except (ValueError, SampleError):
            return None

    def draw(self, view: View, out: Pixels) -> None:
        """Fill `out`, (height, width, depth) of the view's geometry."""
        if view.is_seen:
            self._fill(view, self._decode(view), out)
        else:
            out[:] = view.fill

    def draw_all(self, views: Sequence[View], outs: Sequence[Pixels]) -> None:
        """`draw` several views of one image, which is decoded once if that is less work."""
        joint = join(views) if len(views) > 1 else None
        if joint is None:
            for view, out in zip(views, outs, strict=True):
                self.draw(view, out)
            return
        pixels = self._decode(joint)
        top, left, _, _ = _scaled(joint.box, joint.eighths)
        for view, out in zip(views, outs, strict=True):
            if view.is_seen:
                box = _scaled(view.box, joint.eighths)
                inner = box[0] - top, box[1] - left, box[2], box[3]
                self._fill(view, part(pixels, inner), out)
            else:
                out[:] = view.fill

    def _fill(self, view: View, pixels: Pixels, out: Pixels) -> None:
        top, left, height, width = view.target
        if (height, width) != out.shape[:2]:
            out[:] = view.fill
            out = out[top : top + height, left : left + width]
        self._place(pixels, view, out)

    def _decode(self, view: View) -> Pixels:
        image = view.image
        if view.decoded is not None:
            return part(view.decoded, view.box)
        self.decodes += 1
        if isinstance(view.cut, BandCut):
            return read_bands(view)
        if not image.is_for_libjpeg:
            return part(read_picture(image), view.box)
        if view.cut is not None:
            try:
                data = view.cut.build(image.read)
                size = view.cut.height, view.cut.width
                pixels = self._jpeg(data, *size, view.eighths, image.depth)
            except ValueError as error:
                raise DecodeError(f"a part of it cannot be decoded ({error})") from error
            if view.cut.shifts is not None:
                _align(pixels, view.cut.shifts, view.eighths)
            top, left, height, width = view.box
            box = (top - view.cut.top, left - view.cut.left, height, width)
            return part(pixels, _scaled(box, view.eighths))
        try:
            pixels = self._whole_jpeg(image, view.eighths)
        except ValueError:
            # Pillow accepts more than simplejpeg, and has better messages.
            return part(read_picture(image), view.box)
        return part(pixels, _scaled(view.box, view.eighths))

    def _whole_jpeg(self, image: StoredImage, eighths: int) -> Pixels:
        data = image.read(0, image.size)
        frame = first_frame(data)
        if (frame.height, frame.width) != (image.height, image.width):
            raise ValueError(f"its own header has {frame.width} x {frame.height} pixels")
        if eighths < 8 and frame.process not in _SCALABLE:
            raise ValueError("a JPEG without DCT decodes only at its full size")
        return self._jpeg(data, image.height, image.width, eighths, image.depth)

    def _jpeg(
        self, data: bytearray | memoryview, height: int, width: int, eighths: int, depth: int
    ) -> Pixels:
        """Decode a JPEG at a scale of eighths.

        Its header must have (height, width) and a process that can be scaled: libjpeg writes as
        much as the header states, regardless of the memory's size.
        """
        if self._pixels.size < height * width * depth:
            self._pixels = _room(height * width, depth)
        try:
            pixels: Pixels = simplejpeg.decode_jpeg(
                data,
                "RGB" if depth == 3 else "GRAY",
                min_height=-(-height * eighths // 8),
                min_width=-(-width * eighths // 8),
                min_factor=1 if eighths == 8 else 2,
                buffer=self._pixels,
            )
        except ValueError as error:
            if lacks_memory(error):
                raise MemoryError(str(error)) from error
            raise
        return pixels

    def _place(self, pixels: Pixels, view: View, out: Pixels) -> None:
        height, width = out.shape[:2]
        if view.transpose:
            height, width = width, height
        if view.filter is not None:
            size = height, width
            pixels = resized(pixels, view.shown_in_box, size, view.filter, view.transpose)
        elif pixels.shape[:2] != (height, width):
            down, across = pixels.shape[0] / height, pixels.shape[1] / width
            method = cv2.INTER_AREA if min(down, across) >= 2 else cv2.INTER_LINEAR
            room = None if view.transpose else out  # which is mirrored in place
            pixels = cv2.resize(pixels, (width, height), dst=room, interpolation=method)
        if view.transpose:
            pixels = cv2.transpose(pixels).reshape(width, height, -1)
        mirror(pixels, view.hflip, view.vflip, out)


def mirror(pixels: Pixels, hflip: bool, vflip: bool, out: Pixels) -> None:
    """Write `pixels` to `out`, mirrored if needed, unless they are there already."""
    if hflip or vflip:
        pixels = cv2.flip(pixels, -1 if hflip and vflip else int(hflip), dst=out)
    if not np.may_share_memory(pixels, out):
        out[:] = pixels


def draw_mask(view: View, pixels: Pixels, fill: float, filter: str = "nearest") -> Pixels:
    """Return the output of `view` for `pixels`, those of its box, in their own type."""
    top, left, height, width = view.target
    out = np.full((*view.size, *pixels.shape[2:]), fill, pixels.dtype)
    if height and width:
        size = (width, height) if view.transpose else (height, width)
        shown = resized(pixels, view.shown_in_box, size, filter, view.transpose)
        if view.transpose:
            shown = shown.swapaxes(0, 1)
        shown = shown[:: -1 if view.vflip else 1, :: -1 if view.hflip else 1]
        out[top : top + height, left : left + width] = shown
    return out


def _room(pixels: int, depth: int) -> Pixels:
    try:
        return np.empty(pixels * depth, np.uint8)
    except ValueError as error:
        raise DecodeError(f"its {pixels} pixels do not fit into memory") from error


def _scaled(box: Box, eighths: int) -> Box:
    """Return the box, to the nearest pixel, in an image decoded at a scale of eighths."""
    if eighths == 8:
        return box
    # Halves are rounded up, so that a box moved by whole MCUs moves the result by as much.
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
