"""The parts of a JPEG stream (ITU-T T.81, annex B) that lie before its entropy-coded data."""

from dataclasses import dataclass

# Markers without a length: TEM and RST0 to RST7 (T.81, table B.1).
_BARE = frozenset({0x01, *range(0xD0, 0xD8)})
# Start-of-frame markers: C0 to CF without DHT (C4), JPG (C8) and DAC (CC).
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}

# The code lengths of annex K's table for luminance AC coefficients (T.81, table K.5).
_ANNEX_K_COUNTS = bytes.fromhex("0002010303020403050504040000017d")


@dataclass(frozen=True)
class JpegHeader:
    """What a decoder learns before the first scan.

    Attributes:
        process: the frame's marker; 0xC0 baseline, 0xC1 extended, 0xC2 progressive.
        precision: bits a sample.
        height, width: pixels, before the EXIF orientation.
        sampling: (horizontal, vertical) factors a component.
        frame_offset: where the frame header's height (2 bytes, big-endian) lies.
        scan_offset: where the first scan's entropy-coded data begins.
        restart_interval: MCUs between two restart markers, 0 without.
        exif: the APP1 segment that begins with ``Exif``, or nothing.
        is_optimized: its Huffman tables are its own and not those of annex K.
    """

    process: int
    precision: int
    height: int
    width: int
    sampling: tuple[tuple[int, int], ...]
    frame_offset: int
    scan_offset: int
    restart_interval: int
    exif: bytes
    is_optimized: bool


def read_header(data: bytes) -> JpegHeader:
    """Walk the markers up to the first scan; takes microseconds and decodes nothing.

    Raises:
        ValueError: the stream is not as T.81 has it (which a decoder may still forgive).
    """
    if not data.startswith(b"\xff\xd8"):
        raise ValueError("it does not begin with a JPEG's SOI marker")
    frame = None
    exif = b""
    restart_interval = 0
    at = 2
    while True:
        if at + 4 > len(data):
            raise ValueError("it ends within its header")
        if data[at] != 0xFF:
            raise ValueError(f"there is no marker at byte {at}")
        marker = data[at + 1]
        if marker == 0xFF:  # fill byte
            at += 1
            continue
        at += 2
        if marker in _BARE:
            continue
        if marker in (0xD8, 0xD9):
            raise ValueError("a second image begins, or the image ends, within its header")
        length = int.from_bytes(data[at : at + 2], "big")
        end = at + length
        if length < 2 or end > len(data):
            raise ValueError(f"the segment at byte {at} is longer than the file")
        if marker in _FRAMES:
            frame = marker, at, data[at + 2 : end]
        elif marker == 0xDD:
            restart_interval = int.from_bytes(data[at + 2 : at + 4], "big")
        elif marker == 0xE1 and not exif and data[at + 2 : at + 8] == b"Exif\0\0":
            exif = data[at + 2 : end]
        elif marker == 0xDA:
            break
        at = end
    if frame is None:
        raise ValueError("its first scan comes before its frame header")
    process, start, body = frame
    if len(body) < 6 or len(body) != 6 + 3 * body[5] or not body[5]:
        raise ValueError("its frame header has a wrong length")
    return JpegHeader(
        process=process,
        precision=body[0],
        height=int.from_bytes(body[1:3], "big"),
        width=int.from_bytes(body[3:5], "big"),
        sampling=tuple((factors >> 4, factors & 15) for factors in body[7::3]),
        frame_offset=start + 3,
        scan_offset=end,
        restart_interval=restart_interval,
        exif=exif,
        is_optimized=_ANNEX_K_COUNTS not in data[:end],
    )


def is_complete(data: bytes, header: JpegHeader) -> bool:
    """Whether an EOI marker follows the entropy-coded data; a file cut short has none."""
    return data.rfind(b"\xff\xd9", header.scan_offset) >= 0
