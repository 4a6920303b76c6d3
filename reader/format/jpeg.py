"""Read a JPEG stream (ITU-T T.81, annex B) up to its first scan, as libjpeg does."""

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

# Start-of-frame markers: C0 to CF without DHT (C4), JPG (C8) and DAC (CC).
FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
SCAN = 0xDA

# Markers without a length: TEM and RST0 to RST7 (T.81, table B.1).
_BARE = frozenset({0x01, *range(0xD0, 0xD8)})


class Frame(NamedTuple):
    process: int  # its marker; 0xC0 baseline, 0xC1 extended, 0xC2 progressive, 0xC3 lossless
    precision: int  # bits of a value
    height: int
    width: int
    components: bytes  # 3 bytes each: identifier, sampling (across, down), quantisation table
    offset: int  # of the height (2 bytes, big-endian)

    @property
    def sampling(self) -> tuple[tuple[int, int], ...]:
        return tuple((factors >> 4, factors & 15) for factors in self.components[1::3])


@lru_cache(maxsize=64)
def mcu_size(sampling: tuple[tuple[int, int], ...]) -> tuple[int, int]:
    """Return (height, width) of an MCU in pixels (T.81, A.2); one component is not interleaved."""
    if len(sampling) == 1:
        return 8, 8
    across, down = zip(*sampling, strict=True)
    return 8 * max(down), 8 * max(across)


def segments_of(data: bytes | bytearray | memoryview) -> Iterator[tuple[int, int, int]]:
    """Yield marker, offset of the length, and end of each segment up to the first scan's header."""
    size = len(data)
    if size < 2 or data[0] != 0xFF or data[1] != 0xD8:
        raise ValueError("it does not begin with a JPEG's SOI marker")
    at, marker = 2, 0
    while marker != SCAN:
        if at + 4 > size:
            raise ValueError("it ends within its header")
        marker = data[at + 1]
        if data[at] != 0xFF or not marker:
            raise ValueError(f"there is no marker at byte {at}")
        if marker == 0xFF:  # fill byte
            at += 1
            continue
        at += 2
        if marker in _BARE:
            continue
        if marker in (0xD8, 0xD9):
            raise ValueError("a second image begins, or the image ends, within its header")
        end = at + (data[at] << 8 | data[at + 1])
        if end < at + 2 or end > size:
            raise ValueError(f"the segment at byte {at} has an impossible length")
        yield marker, at, end
        at = end


def frame_at(data: bytes | bytearray | memoryview, marker: int, at: int, end: int) -> Frame:
    body = bytes(data[at + 2 : end])
    if len(body) < 6 or len(body) != 6 + 3 * body[5] or not body[5]:
        raise ValueError("its frame header has a wrong length")
    height, width = body[1] << 8 | body[2], body[3] << 8 | body[4]
    return Frame(marker, body[0], height, width, body[6:], at + 3)


def first_frame(data: bytes | bytearray | memoryview) -> Frame:
    """Return the first frame header; decoders refuse a second one."""
    for marker, at, end in segments_of(data):
        if marker in FRAMES:
            return frame_at(data, marker, at, end)
    raise ValueError("its first scan comes before its frame header")
