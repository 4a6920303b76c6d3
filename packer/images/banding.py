"""Banded PNG: the same pixels and metadata, in bands that inflate independently.

`reader.format.bands` has the form. Each band takes the one of PNG's fast filters that deflates
best: photographs grow by some 5%. An image that grows too much, or does not have 8 bits, stays
unchanged.
"""

import struct
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray
from zlib_ng import zlib_ng

from packer.errors import Unbandable
from reader.format import bands, tar
from reader.format.pictures import opened

ROWS = 64  # of a band: with fewer it is more bytes, with more a crop inflates more (measured)
MAX_GROWTH = 0.1
_WORTH = 2500  # pixels; with fewer a whole image decodes as fast as it is (measured)
_LEVEL = 7  # 8 and 9 take up to three times as long for 0.3% (measured)
_TRIED = 16  # rows of a band that tell which filter suits it
_ZLIB_HEADER = b"\x78\xda"  # RFC 1950: a window of 32 KiB, much effort
_MODES = {"L": 1, "P": 1, "LA": 2, "RGB": 3, "RGBA": 4}  # Pillow's, whose bytes are PNG's

Pixels = NDArray[np.uint8]


def transcoders() -> dict[str, str]:
    """Return what bands PNGs here, with versions: their bytes depend on it."""
    return {"zlib-ng": str(zlib_ng.ZLIBNG_RUNTIME_VERSION)}


def is_worth_it(data: bytes) -> bool:
    """Return whether bands would let a sound PNG decode faster: not if it is so small."""
    if not data.startswith(bands.PNG_BEGIN):
        return False
    width, height = struct.unpack_from(">II", data, len(bands.PNG_BEGIN))
    return bool(height * width >= _WORTH)


def band(data: bytes) -> tuple[bytes, bands.BandTable]:
    """Return the banded form of a sound PNG, its other chunks in their order, and its table."""
    width, height, bits, colour = struct.unpack_from(">IIBB", data, len(bands.PNG_BEGIN))
    if bits != 8 or colour not in bands.CHANNELS:
        raise Unbandable(f"its values have {bits} bits, not 8")
    chunks = list(_chunks(data))
    names = [name for name, _ in chunks]
    first = names.index(b"IDAT")
    if b"acTL" in names:
        raise Unbandable("it is an animation")
    with opened(data, "PNG") as image:
        image.load()
        if _MODES.get(image.mode) != bands.CHANNELS[colour]:
            raise Unbandable(f"Pillow reads it as {image.mode}")
        values = np.asarray(image).reshape(height, width * bands.CHANNELS[colour])
    palette = dict(chunks[:first][::-1]).get(b"PLTE", b"")
    if colour == bands.PALETTE and int(values.max()) >= len(palette) // 3:
        raise Unbandable("it has a value that is not in its palette")
    stream, lengths = _deflated(values, bands.CHANNELS[colour])
    plain = struct.pack(">IIBBBBB", width, height, 8, colour, 0, 0, 0)  # without interlacing
    behind = [chunk for chunk in chunks[first:] if chunk[0] != b"IDAT"]
    head = b"".join([bands.PNG_BEGIN[:8], *_written([(b"IHDR", plain), *chunks[1:first]])])
    tail = data[8 + sum(12 + len(content) for _, content in chunks) :]  # belongs to no chunk
    banded = b"".join([head, *_written([(b"IDAT", stream), *behind]), tail])
    if tar.padded(len(banded)) > max(tar.padded(len(data)), (1 + MAX_GROWTH) * len(data)):
        raise Unbandable(f"its bands take more than {MAX_GROWTH:.0%} more bytes")
    start = len(head) + 8 + len(_ZLIB_HEADER)
    return banded, bands.BandTable(np.array(lengths, np.int64), start, ROWS)


def check_pixels(one: bytes, other: bytes) -> None:
    with opened(one, "PNG") as image, opened(other, "PNG") as banded:
        if image.mode != banded.mode or image.tobytes() != banded.tobytes():
            raise Unbandable("its pixels would not stay the same")


def _deflated(values: Pixels, per_pixel: int) -> tuple[bytes, list[int]]:
    parts, checksum = [_ZLIB_HEADER], 1
    for top in range(0, len(values), ROWS):
        rows = values[top : top + ROWS]
        middle = len(rows) // 2
        tried = rows[max(0, middle - _TRIED // 2) : middle + _TRIED // 2]
        kinds = bands.UP, bands.SUB, bands.NONE
        sizes = {kind: len(_band(_filtered(tried, kind, per_pixel))) for kind in kinds}
        filtered = _filtered(rows, min(sizes, key=lambda kind: sizes[kind]), per_pixel)
        checksum = zlib_ng.adler32(filtered, checksum)
        parts.append(_band(filtered))
    lengths = [len(part) for part in parts[1:]]
    return b"".join([*parts, bands.END_OF_STREAM, struct.pack(">I", checksum)]), lengths


def _band(filtered: bytes) -> bytes:
    deflate = zlib_ng.compressobj(_LEVEL, zlib_ng.DEFLATED, -15)
    return deflate.compress(filtered) + deflate.flush(zlib_ng.Z_FULL_FLUSH)


def _filtered(rows: Pixels, kind: int, per_pixel: int) -> bytes:
    """Return the rows of a band, each with its filter before it (ISO/IEC 15948, clause 9)."""
    lines = np.empty((len(rows), 1 + rows.shape[1]), np.uint8)
    lines[:, 0], lines[:, 1:] = kind, rows
    if kind == bands.SUB:
        lines[:, 1 + per_pixel :] -= rows[:, :-per_pixel]
    elif kind == bands.UP:
        lines[0, 0] = bands.NONE
        lines[1:, 1:] -= rows[:-1]
    return lines.tobytes()


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    at, name = 8, b""
    while name != b"IEND":
        if at + 12 > len(data):
            raise Unbandable("it has no end")  # which Pillow forgives
        length, name = struct.unpack_from(">I4s", data, at)
        yield name, data[at + 8 : at + 8 + length]
        at += 12 + length


def _written(chunks: Iterable[tuple[bytes, bytes]]) -> Iterator[bytes]:
    for name, content in chunks:
        yield struct.pack(">I4s", len(content), name)
        yield content
        yield struct.pack(">I", zlib_ng.crc32(content, zlib_ng.crc32(name)))
