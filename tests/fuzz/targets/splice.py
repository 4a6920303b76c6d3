"""Crops of tiled JPEGs whose segment table, height, width, subsampling or bytes lie.

An input says, as `_Lies` lays it out, which numbers of a sound image are replaced and which bytes
of it are changed. The image is shown as the reader shows it: no byte outside of the member is read,
the output has its shape, and without a lie it is the crop of the whole image.
"""

import io
import struct
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from packer.images.tiles import find_tiles
from reader.decode.decoder import Decoder
from reader.decode.plan import plan
from reader.decode.stored import StoredImage
from reader.format.errors import DecodeError
from reader.format.tiles import TileTable
from reader.geometry import Geometry
from targets.making import picture

_LAYOUT = struct.Struct("<BHHHHHBBIIHHHHHBB")
_KINDS = ("4:4:4", "4:2:0", "4:2:2", "grey")
_INTERVALS = (1, 2, 3)  # MCUs
_LIES = 9  # bits of `_Lies.which`


@dataclass(frozen=True)
class _Lies:
    """What an input says: which image, which numbers to replace (a bit each), and by what."""

    base: int
    which: int
    segments: int
    scan_offset: int
    frame_offset: int
    restart_interval: int
    mcu_height: int
    mcu_width: int
    height: int
    width: int
    top: int
    left: int
    box_height: int
    box_width: int
    out: int
    orientation: int
    wide: int


def seeds() -> Iterator[bytes]:
    """Every image without a lie, and one with each lie."""
    for base in range(len(_KINDS) * len(_INTERVALS)):
        yield _LAYOUT.pack(base, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 5, 11, 30, 24, 1, 0)
    for bit in range(_LIES):
        numbers = (1 << bit, 4, 7, 9, 1, 8, 8, 40, 200)
        yield _LAYOUT.pack(4, *numbers, 3, 5, 16, 30, 24, 6, 1) + b"\5\1\xff"


def one(data: bytes) -> None:
    """Show a crop of an image."""
    if len(data) < _LAYOUT.size:
        return
    lies = _Lies(*_LAYOUT.unpack_from(data))
    edits = data[_LAYOUT.size :]
    kind = lies.base % len(_KINDS)
    content, honest = _image(kind, lies.base // len(_KINDS) % len(_INTERVALS))
    told = _told(honest, lies)
    changed = bytearray(content)
    for at, value in ((edits[i], edits[i + 1 : i + 3]) for i in range(0, len(edits) - 2, 3)):
        changed[int.from_bytes(value, "little") % len(changed)] = at
    image = replace(told, read=_reading(bytes(changed)))
    upright = image.upright_size
    box = (
        lies.top % max(upright[0], 1),
        lies.left % max(upright[1], 1),
        lies.box_height % 2048 + 1,
        lies.box_width % 2048 + 1,
    )
    side = lies.out % 300 + 1
    is_sound = not lies.which % (1 << _LIES) and changed == content
    try:
        pixels = _shown(image, box, side)
        whole = Decoder().whole(image) if is_sound else None
    except DecodeError:
        assert not is_sound
        return
    assert pixels.shape == (side, side, 3)
    if whole is not None and box[0] + side <= upright[0] and box[1] + side <= upright[1]:
        part = _shown(image, (*box[:2], side, side), side)
        assert (part == whole[box[0] : box[0] + side, box[1] : box[1] + side]).all()


@cache
def _image(kind: int, interval: int) -> tuple[bytes, StoredImage]:
    """A JPEG with restart markers, and what an index says of it."""
    file = io.BytesIO()
    name = _KINDS[kind]
    options = {} if name == "grey" else {"subsampling": name}
    # 9 MCUs in a row, which the interval 2 does not divide; or 6, where it must divide them.
    width = 72 if name in ("4:4:4", "grey") else 96
    image = picture(kind, 40, width, "L" if name == "grey" else "RGB")
    image.save(file, "JPEG", restart_marker_blocks=_INTERVALS[interval], **options)
    content = file.getvalue()
    found = find_tiles(content)
    table = replace(found, segments=found.segments.astype(np.uint16))
    stored = StoredImage(_reading(content), len(content), "jpg", 40, width, 3, 1, table)
    return content, stored


def _reading(content: bytes):
    def read(start: int, stop: int) -> memoryview:
        assert 0 <= start <= stop <= len(content), (start, stop)
        return memoryview(content)[start:stop]

    return read


def _told(image: StoredImage, lies: _Lies) -> StoredImage:
    """The image as a lying index has it."""
    table = image.tiles
    assert table is not None
    if lies.which & 1:
        table = replace(table, segments=_other_segments(table, lies.segments))
    names = ("scan_offset", "frame_offset", "restart_interval", "mcu_height", "mcu_width")
    for bit, name in enumerate(names, 1):
        if lies.which >> bit & 1:
            table = replace(table, **{name: getattr(lies, name)})
    for bit, name in ((6, "height"), (7, "width")):
        if lies.which >> bit & 1 and getattr(lies, name):
            image = replace(image, **{name: getattr(lies, name)})
    if lies.which >> 8 & 1:
        table = _adding_up(table, image)
    return replace(image, tiles=table, orientation=lies.orientation % 8 + 1)


def _other_segments(table: TileTable, number: int) -> np.ndarray:
    """Two segments of other lengths that add up to the same; or one more, or one less."""
    segments, kind = table.segments.astype(np.int64), np.uint32 if number & 2 else np.uint16
    first, second = number >> 8, (number >> 4) % len(segments)
    if number & 1:
        other = segments[:second] if number & 4 else np.append(segments, segments[:second])
        return other.astype(kind)
    segments[first % len(segments)] += number >> 2
    segments[second] -= number >> 2
    return segments.astype(kind)


def _adding_up(table: TileTable, image: StoredImage) -> TileTable:
    """As many segments as the other numbers ask for, and of the right sum, where that can be."""
    mcus = -(-image.width // max(table.mcu_width, 1)) * -(-image.height // max(table.mcu_height, 1))
    count = -(-mcus // max(table.restart_interval, 1))
    room = image.size - table.scan_offset - 2 * count
    if not 0 < count <= 1 << 16 or room < 0:
        return table
    segments = np.full(count, room // count, np.uint32)
    segments[-1] += room % count
    return replace(table, segments=segments)


def _shown(image: StoredImage, box: tuple[int, int, int, int], side: int) -> np.ndarray:
    geometry = Geometry.of(*image.upright_size)
    geometry.crop(*box)
    geometry.resize(side, side)
    pixels = np.zeros((side, side, 3), np.uint8)
    Decoder().draw(plan(image, geometry), pixels)
    return pixels
