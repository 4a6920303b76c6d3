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
_APP1, _APP14 = 0xE1, 0xEE
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
        if parts := parts_for_nvjpeg(data, *size):
            return _sent_encoded(view, parts, size, start)
    pixels = np.empty((*view.size, 3), np.uint8)
    decoder.draw(view, pixels)
    return Packed(finished(view.size), [pixels.reshape(-1)])


def finished(size: tuple[int, int], offset: int = 0) -> Parcel:
    return Parcel(offset, size[0] * size[1] * 3, 0, *size, 0, 0, *size, 0, 0, *size)


def _sent_encoded(
    view: View, parts: Sequence[Any], size: tuple[int, int], start: tuple[int, int]
) -> Packed:
    shifts = view.cut.shifts if isinstance(view.cut, Cut) else None
    parcel = Parcel(
        0,
        sum(map(len, parts)),
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
    if shifts is not None:
        parts = [*parts, shifts.astype(np.int32).view(np.uint8)]
    return Packed(parcel, parts)


def parts_for_nvjpeg(
    data: bytes | bytearray | memoryview, height: int, width: int
) -> list[NDArray[Any]]:
    """Return a JPEG without its Exif in parts; none unless nvJPEG decodes it correctly.

    It has 8 bits, is grey or YCbCr, and has an end. By its Exif, TorchCodec would turn it upright.
    """
    if bytes(data[-2:]) != b"\xff\xd9":
        return []
    content, parts, kept = np.frombuffer(data, np.uint8), [], 0
    is_plain = False
    try:
        for marker, at, end in segments_of(data):
            if marker in FRAMES:
                if is_plain or not _is_plain_frame(frame_at(data, marker, at, end), height, width):
                    return []
                is_plain = True
            elif marker == _APP14 and _ADOBE_RGB.match(data, at + 2, end):
                return []
            elif marker == _APP1:
                parts.append(content[kept : at - 2])
                kept = end
    except ValueError:
        return []
    return [*parts, content[kept:]] if is_plain else []


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
