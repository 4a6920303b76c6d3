"""The parts of a JPEG stream (ITU-T T.81, annex B) before its entropy-coded data."""

from operator import mul
from typing import NamedTuple

import numpy as np

from reader.format.jpeg import FRAMES, Frame, frame_at, segments_of

_PLAIN = frozenset({0xC4, 0xDA, 0xDB, 0xDD, 0xFE})  # DHT, SOS, DQT, DRI, COM
_ROOM = [1 << 16 - length for length in range(1, 17)]  # that a code of this length takes of 2**16
_ICC = b"ICC_PROFILE\0"

# The code lengths of annex K's table for luminance AC coefficients (T.81, table K.5).
_ANNEX_K_COUNTS = bytes.fromhex("0002010303020403050504040000017d")


class JpegHeader(NamedTuple):
    """The header of a JPEG, up to the first scan."""

    process: int  # the frame's marker; 0xC0 baseline, 0xC1 extended, 0xC2 progressive
    precision: int  # bits a sample
    height: int  # height, width: before the EXIF orientation
    width: int
    sampling: tuple[tuple[int, int], ...]  # (horizontal, vertical) factors a component
    frame_offset: int  # of the frame header's height (2 bytes, big-endian)
    scan_offset: int  # of the first scan's entropy-coded data
    restart_interval: int  # MCUs between two restart markers, 0 without
    is_optimized: bool  # its Huffman tables are its own and not those of annex K
    segments: tuple[tuple[int, int, int], ...]  # marker, offset of the length, end; to the scan


def read_header(data: bytes) -> JpegHeader:
    """Walk the markers up to the first scan; ValueError: they are not as T.81 has them."""
    frame: Frame | None = None
    restart_interval = 0
    segments = tuple(segments_of(data))
    for marker, at, end in segments:
        if marker in FRAMES and frame is None:  # a decoder refuses a second one
            frame = frame_at(data, marker, at, end)
        elif marker == 0xDD:
            restart_interval = int.from_bytes(data[at + 2 : at + 4], "big")
    if frame is None:
        raise ValueError("its first scan comes before its frame header")
    is_optimized = data.find(_ANNEX_K_COUNTS, 0, end) < 0
    known = frame.process, frame.precision, frame.height, frame.width, frame.sampling
    return JpegHeader(*known, frame.offset, end, restart_interval, is_optimized, segments)


def next_marker(data: bytes, start: int) -> int:
    """Find the first marker of a scan from `start` on, or the end: stuffing and RSTn are none."""
    scan = np.frombuffer(data, np.uint8)[start:]
    found = (scan[:-1] == 0xFF).view(np.uint8)
    np.minimum(found, scan[1:], out=found)  # 0xFF, and something else than 0 behind it
    at = int(found.argmax()) if len(found) else 0
    if at < len(found) and found[at] and data[start + at + 1] & 0xF8 == 0xD0:
        places = np.flatnonzero(found)
        others = places[scan[places + 1] & 0xF8 != 0xD0]
        return start + int(others[0]) if len(others) else len(data)
    return start + at if at < len(found) and found[at] else len(data)


def is_plain(data: bytes, header: JpegHeader) -> bool:
    """Whether it is one scan, sound tables and EOI: decoders only warn of any other damage."""
    quantisers: set[int] = set()
    codes: set[int] = set()
    frame = scan = b""
    for marker, at, end in header.segments:
        body = data[at + 2 : end]
        if marker == 0xDB:
            while body:
                quantisers.add(body[0] & 15)
                body = body[129 if body[0] >> 4 else 65 :]
        elif marker == 0xC4:
            while body:
                counts = body[1:17]
                size = 17 + sum(counts)
                if not _is_code(body[0], counts, body[17:size]):
                    return False
                codes.add(body[0])
                body = body[size:]
        elif marker == header.process:
            frame = body
        elif marker == 0xDA:
            scan = body
    count = len(header.sampling)
    tables = scan[2 : 2 + 2 * count : 2]
    return (
        len(scan) == 4 + 2 * count
        and scan[1 : 1 + 2 * count : 2] == frame[6::3]
        and quantisers.issuperset(frame[8::3])
        and codes.issuperset([table >> 4 for table in tables])
        and codes.issuperset([16 + (table & 15) for table in tables])
        and data.startswith(b"\xff\xd9", next_marker(data, header.scan_offset))
    )


def is_bare(data: bytes, header: JpegHeader) -> bool:
    """Whether 8-bit data has only tables, JFIF, ICC and comments before it: no orientation."""
    begin = 2
    for marker, at, end in header.segments:
        if at - 2 != begin or not (
            marker == header.process
            or marker in _PLAIN
            or (marker == 0xE0 and end - at >= 16 and data.startswith(b"JFIF\0", at + 2))
            or (marker == 0xE2 and end - at >= 16 and data.startswith(_ICC, at + 2))
        ):
            return False
        begin = end
    return header.precision == 8 and header.height > 0 and header.width > 0


def _is_code(number: int, counts: bytes, symbols: bytes) -> bool:
    """Whether libjpeg accepts a Huffman table (T.81, C.2): class and number, counts, symbols."""
    return (
        sum(map(mul, counts, _ROOM)) < 1 << 16  # all ones is not a code
        and len(symbols) == sum(counts)
        and not (number < 16 and max(symbols, default=0) > 15)
    )
