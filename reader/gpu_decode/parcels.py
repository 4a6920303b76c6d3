"""Send images to the GPU as JPEGs, without decoding them in workers.

A worker extracts the tiles of each JPEG that a view touches (`reader.decode.splice`). These bytes
are in the batch's slot, one sample after the other, with a row of numbers, a `Parcel`, that has the
crop. If nvJPEG cannot decode an image, the worker decodes it and sends its finished pixels instead.
"""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reader.dataset.dataset import Dataset
from reader.decode.decoder import Decoder
from reader.decode.plan import View
from reader.decode.splice import Cut
from reader.format import FORMATS
from reader.format.errors import DecodeError
from reader.format.jpeg import FRAMES, Frame, frame_at, segments_of

_ROOM = 1.5  # times the mean bytes of a row; a chunk's rows share it, the rest is sent by message

# Pixels (across, down) of each chroma sample that nvJPEG supports.
_SUBSAMPLINGS = {(1, 1), (2, 1), (2, 2), (1, 2), (4, 1), (4, 2)}
_BASELINE, _PROGRESSIVE = 0xC0, 0xC2
_ADOBE_RGB = re.compile(rb"Adobe.{6}\0", re.DOTALL)  # or CMYK: nvJPEG would decode it as YCbCr


class Parcel(NamedTuple):
    """The bytes of one image in a batch, and its crop: numbers, or arrays of them."""

    offset: Any = 0  # of its bytes; -1 if they are sent by message
    length: Any = 0  # of its JPEG, or of its finished pixels; 0 if it is not visible
    is_jpeg: Any = 0  # otherwise pixels
    height: Any = 0  # and `width`: of the decoded bytes
    width: Any = 0
    top: Any = 0  # to `box_width`: the visible part of them
    left: Any = 0
    box_height: Any = 0
    box_width: Any = 0
    target_top: Any = 0  # to `target_width`: the part of the output that it fills
    target_left: Any = 0
    target_height: Any = 0
    target_width: Any = 0
    transpose: Any = 0  # after resizing, before `hflip` and `vflip`
    hflip: Any = 0
    vflip: Any = 0
    fill: Any = 0  # the grey value of the rest
    # number of MCU rows with a shift, int32 after the JPEG: how much further right the box begins
    shifted: Any = 0


PARCEL_NUMBERS = len(Parcel._fields)


class Packed(NamedTuple):
    """A parcel without its offset, and its bytes, valid until the next `pack`."""

    parcel: Parcel
    parts: Sequence[Any]


def pack(view: View, decoder: Decoder) -> Packed:
    """Return the bytes that `view` needs, decoded only if nvJPEG cannot do it."""
    if not view.is_seen:
        return Packed(Parcel(fill=view.fill), [])
    image = view.image
    if image.is_for_libjpeg and view.filter is None:
        data: bytearray | memoryview
        if not isinstance(view.cut, Cut):
            data, size, start = image.read(0, image.size), (image.height, image.width), (0, 0)
        else:
            cut = view.cut
            size, start = (cut.height, cut.width), (cut.top, cut.left)
            try:
                data = cut.build(image.read)
            except ValueError as error:
                raise DecodeError(f"a part of it cannot be extracted ({error})") from error
            content = np.frombuffer(data, np.uint8)
            if (content[cut.markers - 1] != 0xFF).any():
                raise DecodeError("its restart markers contradict its segment table")
        if is_for_nvjpeg(data, *size):
            return Packed(*_sent_encoded(view, data, size, start))
    pixels = np.empty((*view.size, 3), np.uint8)
    decoder.draw(view, pixels)
    height, width = view.size
    finished = Parcel(0, pixels.size, 0, height, width, 0, 0, height, width, 0, 0, height, width)
    return Packed(finished, [pixels.reshape(-1)])


def _sent_encoded(
    view: View, data: Any, size: tuple[int, int], start: tuple[int, int]
) -> tuple[Parcel, list[Any]]:
    shifts = view.cut.shifts if isinstance(view.cut, Cut) else None
    parcel = Parcel(
        0,
        len(data),
        1,
        *size,
        view.box[0] - start[0],
        view.box[1] - start[1],
        *view.box[2:],
        *view.target,
        int(view.transpose),
        int(view.hflip),
        int(view.vflip),
        view.fill,
        0 if shifts is None else len(shifts),
    )
    content = np.frombuffer(data, np.uint8)
    if shifts is None:
        return parcel, [content]
    return parcel, [content, shifts.astype(np.int32).view(np.uint8)]


def is_for_nvjpeg(data: bytes | bytearray | memoryview, height: int, width: int) -> bool:
    """Whether nvJPEG decodes this JPEG correctly: 8 bits, grey or YCbCr, with an end."""
    is_plain = False
    if bytes(data[-2:]) != b"\xff\xd9":
        return False
    try:
        for marker, at, end in segments_of(data):
            if marker in FRAMES:
                if is_plain or not _is_plain_frame(frame_at(data, marker, at, end), height, width):
                    return False
                is_plain = True
            elif marker == 0xEE and _ADOBE_RGB.match(data, at + 2, end):
                return False
    except ValueError:
        return False
    return is_plain


def _is_plain_frame(frame: Frame, height: int, width: int) -> bool:
    if frame.process not in (_BASELINE, _PROGRESSIVE) or frame.precision != 8:
        return False
    if (frame.height, frame.width) != (height, width):
        return False
    luma, *chroma = frame.sampling
    if not chroma:
        return True
    return luma in _SUBSAMPLINGS and chroma == [(1, 1), (1, 1)] and frame.components[::3] != b"RGB"


def room_for(dataset: Dataset, size: tuple[int, int]) -> int:
    """Return the bytes for a row of images that are resized to `size`, by the index's sizes."""
    raw, largest, total = size[0] * size[1] * 3, 0, 0
    for columns in dataset.shard_columns("size", "format", "channels"):
        is_jpeg = (columns["format"] == FORMATS.index("jpg")) & (columns["channels"] != 4)
        sizes = np.where(is_jpeg, columns["size"].astype(np.int64), raw)
        largest, total = max(largest, int(sizes.max())), total + int(sizes.sum())
    room = int(min(largest, _ROOM * total / len(dataset)))
    return room + -room % 8


def parcels(table: NDArray[np.int64]) -> Parcel:
    return Parcel(*table.T)
