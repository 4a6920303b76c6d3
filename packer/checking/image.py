"""Whether an image in a shard is the one that its index describes."""

import struct
import zlib
from collections.abc import Iterator, Mapping

import numpy as np

from packer.errors import BadImage
from packer.images.probe import probe
from reader.format import (
    FORMATS,
    Limits,
)
from reader.format.index import Column

CHANGED = "its bytes are not those that were packed"


def image_faults(columns: Mapping[str, Column], row: int, data: memoryview) -> Iterator[str]:
    """What is wrong with the image of a row, whose bytes are `data`, without decoding it."""
    if zlib.crc32(data) != columns["crc32"][row]:
        yield CHANGED
    if FORMATS[int(columns["format"][row])] == "raw":
        shape = [int(columns[name][row]) for name in ("height", "width", "channels")]
        if len(data) != shape[0] * shape[1] * shape[2]:
            yield f"{len(data)} bytes are not {' x '.join(map(str, shape))} values"
    if "segment" in columns and not _tiles_fit(columns, row, data):
        yield "its segments do not lie where its index says"


def contradictions(
    columns: Mapping[str, Column], row: int, data: bytes, limits: Limits
) -> Iterator[str]:
    """What an index, which may be damaged, says otherwise than the image of a row itself.

    That is decoded to know what it is: by libraries to which hostile bytes may do anything.
    """
    kind = FORMATS[int(columns["format"][row])]
    if kind == "raw":
        return
    try:
        info = probe(data, limits)
    except BadImage as error:
        yield str(error)
        return
    names = ("height", "width", "channels", "orientation")
    told = (kind, *(int(columns[name][row]) for name in names))
    if (info.format, *(getattr(info, name) for name in names)) != told:
        yield f"it is not what its index says, but {info}"


def _tiles_fit(columns: Mapping[str, Column], row: int, data: memoryview) -> bool:
    """Whether markers and sizes lie in a tiled JPEG where the index has them."""
    first, last = columns["segment_offset"][row : row + 2].tolist()
    if first == last:
        return True
    segments = columns["segment"][first:last].astype(np.int64)
    markers = int(columns["scan_offset"][row]) + np.cumsum(segments + 2) - 2
    if markers[-1] + 2 != len(data):
        return False
    height, width = int(columns["height"][row]), int(columns["width"][row])
    tile = [int(columns[name][row]) for name in ("mcu_height", "mcu_width", "restart_interval")]
    if min(tile) == 0:
        return False
    mcus = -(-height // tile[0]) * -(-width // tile[1])
    pixels = np.frombuffer(data, np.uint8)
    codes = np.append(0xD0 + np.arange(len(segments) - 1) % 8, 0xD9)
    frame = int(columns["frame_offset"][row])
    return bool(
        len(segments) == -(-mcus // tile[2])
        and (pixels[markers] == 0xFF).all()
        and (pixels[markers + 1] == codes).all()
        and data[frame : frame + 4] == struct.pack(">HH", height, width)
    )
