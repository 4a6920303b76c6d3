"""A row of an index and the bytes of its image, which may contradict each other in everything.

An input holds both. The image is shown whole, and a box of it at some size: into memory with guards
around it, and by a simplejpeg whose memory has them too. Either is refused, or has its shape; where
the whole decodes without fault, a box at its own scale is that part of it, and one that is made
smaller looks like it. What would travel to a GPU is as large as it is said to be.
"""

import contextlib
import struct
from collections.abc import Iterator
from dataclasses import astuple, dataclass, replace

import cv2
import numpy as np
from guarded import guarded, guarded_simplejpeg
from lossless_jpeg import lossless

from packer.images.probe import probe
from packer.images.tiles import find_tiles
from reader.decode.decoder import Decoder
from reader.decode.plan import plan
from reader.decode.stored import StoredImage
from reader.format import FORMATS
from reader.format.errors import DecodeError
from reader.format.jpeg import first_frame
from reader.format.tiles import TileTable
from reader.geometry import Geometry
from reader.gpu_decode.parcels import pack
from targets.making import LIMITS, encoded, picture

_ROW = struct.Struct("<BIIBBIIHBBHHHHHH")
_SEGMENTS = struct.Struct("<H")
_LIES = {"scan_offset": 7, "frame_offset": 9, "restart_interval": 1, "mcu_height": 8}
_LIES |= {"mcu_width": 8, "height": 40, "width": 200}  # each in place of what a table has
_BOUND = 40  # grey levels, in the mean, between a box that is decoded smaller and one made smaller


@dataclass(frozen=True)
class _Row:
    """What an input says beside the image's bytes: a row of the index, and what is to be seen."""

    format: int
    height: int
    width: int
    channels: int
    orientation: int
    scan_offset: int = 0
    frame_offset: int = 0
    restart_interval: int = 0
    mcu_height: int = 0
    mcu_width: int = 0
    top: int = 3
    left: int = 5
    box_height: int = 20
    box_width: int = 30
    out_height: int = 9
    out_width: int = 7


def seeds() -> Iterator[bytes]:
    """Images of all kinds under their own row, under those of others, and JPEGs of all frames."""
    images = list(_images())
    for data in images:
        yield _input(_honest(data), data)
    for data in images[:6]:
        row = _honest(data)
        other = astuple(row)[5:]
        for process in range(0xC0, 0xD0):
            changed = bytearray(data)
            changed[first_frame(data).offset - 4] = process
            yield _input(row, bytes(changed), data)
        for height, width in ((8, 8), (row.height * 8, row.width * 8), (row.height, row.width + 1)):
            yield _input(_Row(0, height, width, 3, 6, *other), data)
        for name, value in _LIES.items() if row.restart_interval else ():
            lie = replace(row, **{name: value})
            yield _input(lie, data)
            yield _input(lie, data, segments=_adding_up(lie, len(data)))


def _images() -> Iterator[bytes]:
    yield lossless(np.asarray(picture(0)))
    yield lossless(np.asarray(picture(0, mode="L")))
    yield encoded("JPEG", subsampling="4:2:0", restart_marker_blocks=1)
    yield encoded("JPEG", subsampling="4:4:4", restart_marker_blocks=2)
    yield encoded("JPEG", mode="L", restart_marker_blocks=4)
    yield encoded("JPEG", progressive=True)
    yield encoded("JPEG", mode="CMYK")
    for kind in ("PNG", "WEBP", "BMP", "GIF", "TIFF", "PPM"):
        yield encoded(kind)
    yield encoded("PNG", mode="L")


def _honest(data: bytes) -> _Row:
    info = probe(data)
    row = _Row(FORMATS.index(info.format), info.height, info.width, info.channels, 1)
    with contextlib.suppress(Exception):
        tiles = find_tiles(data)
        names = ("scan_offset", "frame_offset", "restart_interval", "mcu_height", "mcu_width")
        return replace(row, **{name: getattr(tiles, name) for name in names})
    return row


def _input(
    row: _Row, data: bytes, tiled: bytes | None = None, segments: np.ndarray | None = None
) -> bytes:
    if segments is None:
        segments = find_tiles(tiled or data).segments if row.restart_interval else np.empty(0)
    given = segments.astype("<u2").tobytes()
    return _ROW.pack(*astuple(row)) + _SEGMENTS.pack(len(segments)) + given + data


def _adding_up(row: _Row, size: int) -> np.ndarray:
    """As many segments as the numbers of a row ask for, and of the right sum, where that can be."""
    mcus = -(-row.width // max(row.mcu_width, 1)) * -(-row.height // max(row.mcu_height, 1))
    count = min(-(-mcus // max(row.restart_interval, 1)), 1 << 15)
    room = max(size - row.scan_offset - 2 * count, 0)
    segments = np.full(count, min(room // max(count, 1), 65_535))
    segments[-1:] += min(room % max(count, 1), 65_535 - segments[-1:].sum())
    return segments


def one(data: bytes) -> None:
    """Show an image as its row has it."""
    start = _ROW.size + _SEGMENTS.size
    if len(data) < start:
        return
    row = _Row(*_ROW.unpack_from(data))
    (count,) = _SEGMENTS.unpack_from(data, _ROW.size)
    content = data[start + 2 * count :]
    segments = np.frombuffer(data[start : start + 2 * count], np.uint8)
    image = _stored(row, segments[: len(segments) // 2 * 2].view("<u2"), content)
    if not 0 < image.height * image.width <= LIMITS.pixels:
        return  # as `Shard.image` refuses it
    geometry = Geometry.of(*image.upright_size)
    geometry.crop(row.top, row.left, row.box_height % 512 + 1, row.box_width % 512 + 1)
    whole = _shown(image, Geometry.of(*image.upright_size))
    same = _shown(image, geometry)
    geometry.resize(row.out_height % 128 + 1, row.out_width % 128 + 1)
    smaller = _shown(image, geometry)
    _check_parcel(image, geometry)
    with guarded_simplejpeg():
        is_sound = Decoder().stored(image) is not None
    if whole is None or not is_sound:
        return  # of what is damaged, a part by itself may show more
    box = whole[row.top :, row.left :][: row.box_height % 512 + 1, : row.box_width % 512 + 1]
    if box.shape[:2] != (row.box_height % 512 + 1, row.box_width % 512 + 1):
        return  # some of it lies beside the image
    if same is not None:
        assert (same == box).all(), "a crop is not that part of the whole"
    if smaller is not None:
        size = smaller.shape[1::-1]
        method = cv2.INTER_AREA if min(box.shape[:2]) > max(size) else cv2.INTER_LINEAR
        expected = cv2.resize(box, size, interpolation=method)
        difference = np.abs(smaller.astype(int) - expected).mean()
        assert difference < _BOUND, f"it differs by {difference}"


def _stored(row: _Row, segments: np.ndarray, content: bytes) -> StoredImage:
    def read(start: int, stop: int) -> memoryview:
        assert 0 <= start <= stop <= len(content), (start, stop)
        return memoryview(content)[start:stop]

    tiles = None
    if len(segments):
        numbers = astuple(row)[5:10]
        tiles = TileTable(segments, *numbers)
    return StoredImage(
        read,
        len(content),
        FORMATS[row.format % len(FORMATS)],
        row.height,
        row.width,
        (row.channels - 1) % 4 + 1,
        (row.orientation - 1) % 8 + 1,
        tiles,
    )


def _shown(image: StoredImage, geometry: Geometry) -> np.ndarray | None:
    shape = (geometry.height, geometry.width, 3)
    with guarded_simplejpeg(), guarded(shape) as out, contextlib.suppress(DecodeError):
        Decoder().draw(plan(image, geometry), out)
        return out.copy()
    return None


def _check_parcel(image: StoredImage, geometry: Geometry) -> None:
    with guarded_simplejpeg(), contextlib.suppress(DecodeError):
        parcel, parts = pack(plan(image, geometry), Decoder())
        if parcel.length:
            assert len(parts[0]) == parcel.length
            assert 0 <= parcel.top <= parcel.top + parcel.box_height <= parcel.height
            assert 0 <= parcel.left <= parcel.left + parcel.box_width <= parcel.width
        if parcel.is_jpeg:
            frame = first_frame(bytes(parts[0]))
            assert (frame.height, frame.width) == (parcel.height, parcel.width)
        elif parcel.length:
            assert parcel.length == parcel.height * parcel.width * 3
