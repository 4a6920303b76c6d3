"""PNGs that are banded, and banded PNGs whose table or bytes lie.

An input is a PNG, to be banded: what comes of it decodes to the same pixels, by the bands and by
Pillow. Or it begins with ``bands``: the numbers of `_LIES` replace those of a sound image's table,
and what follows are changes of its bytes. Then a box is shown, or refused.
"""

import contextlib
import io
import struct
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from unittest import mock

import numpy as np

from packer.errors import BadImage, Unbandable
from packer.images import banding
from packer.images.probe import probe
from reader.decode.bands import cut_bands
from reader.format import Limits
from reader.format.bands import BandTable
from reader.format.pictures import opened
from reader.format.tiles import BadTable
from targets.making import picture

_MARK = b"bands"
_LIES = struct.Struct("<BBHHHHHHHH")
_MODES = ("L", "LA", "P", "RGB", "RGBA")
_SIZE = (150, 40)  # height and width


def seeds() -> Iterator[bytes]:
    """Every colour type, and every lie."""
    for mode in _MODES:
        yield _png(mode, 70, 60)
    yield _png("1", 70, 60)
    for which in range(6):
        yield _MARK + _LIES.pack(which, 1 << which & 31, 40, 3, 5, 64, 150, 40, 10, 20)
        yield _MARK + _LIES.pack(which, 0, 0, 0, 0, 0, 3, 70, 100, 20) + b"\5\1\xff"


def one(data: bytes) -> None:
    """Band a PNG, or read one that is."""
    if data.startswith(_MARK):
        if len(data) >= len(_MARK) + _LIES.size:
            _read(*_LIES.unpack_from(data, len(_MARK)), edits=data[len(_MARK) + _LIES.size :])
        return
    with contextlib.suppress(BadImage, Unbandable):
        info = probe(data, Limits(pixels=1 << 20, bytes=1 << 22))
        if info.format == "png" and banding.is_worth_it(data):
            banded, table = banding.band(data)
            values = _shown(banded, table, info.height, info.width, (0, 0, info.height, info.width))
            for picture in (data, banded):
                with opened(picture, "PNG") as image:
                    assert values.tobytes() == image.tobytes()


def _read(
    base: int, which: int, length: int, start: int, rows: int, count: int,
    height: int, width: int, top: int, left: int, edits: bytes,
) -> None:  # fmt: skip
    content, table = _image(base % len(_MODES))
    if which & 1:
        other = table.bands.copy()
        other[length % len(other)] = length
        table = replace(table, bands=other)
    if which & 2:
        table = replace(table, start=start)
    if which & 4:
        table = replace(table, rows=rows)
    if which & 8:
        table = replace(table, bands=np.resize(table.bands, count % 300))
    size = (height + 1, width + 1) if which & 16 else _SIZE
    changed = bytearray(content)
    for i in range(0, len(edits) - 2, 3):
        changed[int.from_bytes(edits[i + 1 : i + 3], "little") % len(changed)] = edits[i]
    top, left = top % size[0], left % size[1]
    box = top, left, min(60, size[0] - top), min(20, size[1] - left)
    is_sound = not which & 31 and changed == content
    try:
        values = _shown(bytes(changed), table, *size, box)
    except BadTable:
        assert not is_sound
        return
    assert values.shape[:2] == box[2:]


def _shown(
    data: bytes, table: BandTable, height: int, width: int, box: tuple[int, int, int, int]
) -> np.ndarray:
    content = memoryview(data)

    def read(start: int, stop: int) -> memoryview:
        assert 0 <= start <= stop <= len(content), (start, stop)
        return content[start:stop]

    return cut_bands(table, len(data), height, width, box).values(read)[0]


def _png(mode: str, height: int, width: int) -> bytes:
    file = io.BytesIO()
    picture(1, height, width, mode).save(file, "PNG")
    return file.getvalue()


@cache
def _image(mode: int) -> tuple[bytes, BandTable]:
    with mock.patch.object(banding, "MAX_GROWTH", 99):
        return banding.band(_png(_MODES[mode], *_SIZE))
