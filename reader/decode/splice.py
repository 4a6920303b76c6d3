"""Extract the part of a tiled JPEG that a crop needs, as a separate JPEG.

It has the file's header with a smaller size, the segments that the box touches with renumbered RSTn
markers, and an EOI marker. It decodes to exactly the pixels of the whole image: with subsampled
chroma, it includes the pixels around the box that upsampling reads. `TileTable` checks the segment
table, so no read goes outside the image's bytes.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reader.format.tiles import EOI, MAX_SEGMENTS, MAX_SIDE, TileTable, restart_codes

Box = tuple[int, int, int, int]  # top, left, height, width

_COUNT = np.arange(MAX_SEGMENTS + 1)
_RST = restart_codes(MAX_SEGMENTS)
# Pixels along an axis. libjpeg's upsampling is not fancy below 5, and scales may be equal below 8.
_LEAST = 8


@dataclass  # not frozen: that would take 1 us
class Cut:
    """A part of an image that becomes a separate JPEG."""

    table: TileTable
    image_size: tuple[int, int]  # (height, width) of the whole image
    start: int  # to `stop`: range of the image's bytes with its segments
    stop: int
    rows: list[tuple[int, int]]  # (begin, end) of each row of MCUs, relative to `start`
    markers: NDArray[np.int64]  # offset of each segment's RSTn code in the new JPEG
    top: int  # and `left`: its first pixel in the whole image
    left: int
    height: int
    width: int
    shifts: NDArray[np.int64] | None  # pixels to move each row of MCUs left; None: none

    def build(self, read: Callable[[int, int], memoryview]) -> bytearray:
        """Return the JPEG; ``read(start, stop)`` returns bytes, valid until its next call."""
        header = bytearray(read(0, self.table.scan_offset))
        self.table.check_header(header, *self.image_size)
        frame = self.table.frame_offset
        header[frame : frame + 4] = struct.pack(">HH", self.height, self.width)
        content = read(self.start, self.stop)
        data = bytearray().join([header, *[content[begin:end] for begin, end in self.rows]])
        np.frombuffer(data, np.uint8)[self.markers] = _RST[: self.markers.size]
        data[-2:] = EOI
        return data


def cut(
    table: TileTable, size: int, height: int, width: int, box: Box, is_scaled: bool
) -> Cut | None:
    """Plan to extract `box` from a tiled JPEG of (height, width) pixels and `size` bytes.

    None if the whole image must be decoded: the box needs the incomplete end of a table whose tiles
    continue from row to row, or there are too many segments.
    """
    interval, mcu_height, mcu_width = table.restart_interval, table.mcu_height, table.mcu_width
    rows, in_row = table.grid(height, width)
    if len(table.segments) > MAX_SEGMENTS:
        return None
    starts = table.starts(in_row * rows, size)
    row, row_end, bottom = _span(box[0], box[2], height, mcu_height, is_scaled)
    column, column_end, right = _span(box[1], box[3], width, mcu_width, is_scaled)
    if in_row % interval == 0:
        first, count = column // interval, -(-column_end // interval) - column // interval
        down = in_row // interval * starts.itemsize
        place = row * down + first * starts.itemsize
        shape, steps = (row_end - row, count + 1), (down, starts.itemsize)
        edges = np.ndarray(shape, starts.dtype, starts, place, steps)
        left = first * interval * mcu_width
        # The width must have all MCUs of the tiles, but not all pixels of the last one.
        cut_width = max(right - left, (count * interval - 1) * mcu_width + 1)
        shifts = None
    else:
        begins = _COUNT[row:row_end] * in_row + column
        ends = begins + (column_end - column)
        firsts = begins // interval
        count = int((-(-ends // interval) - firsts).max())
        # Rows have equal length: a shorter one is extended on its right, or on its left at the end
        # of the table. A shorter last segment cannot be in a row of whole ones.
        usable = in_row * rows // interval
        firsts = np.minimum(firsts, usable - count)
        left = column * mcu_width
        cut_width = count * interval * mcu_width
        shifts = (begins - firsts * interval) * mcu_width
        if firsts[0] < 0 or ends[-1] > usable * interval or cut_width > MAX_SIDE:
            return None
        edges = starts[firsts[:, None] + _COUNT[: count + 1]]
    begin, end = edges[:, 0], edges[:, -1]
    # A marker follows each segment; rows move up to the header and each other.
    moved = end - (end - begin).cumsum() - (table.scan_offset - 1)
    start = int(begin[0])
    return Cut(
        table,
        (height, width),
        start,
        int(end[-1]),
        list(zip((begin - start).tolist(), (end - start).tolist(), strict=True)),
        (edges[:, 1:] - moved[:, None]).ravel(),
        row * mcu_height,
        left,
        bottom - row * mcu_height,
        cut_width,
        shifts,
    )


def _span(start: int, length: int, limit: int, mcu: int, is_scaled: bool) -> tuple[int, int, int]:
    """Return the MCUs along one axis that `length` pixels at `start` need, and the pixels' end."""
    # Fancy upsampling reads one chroma sample outside the box; a reduced scale needs a whole MCU.
    margin = 0 if mcu == 8 else mcu if is_scaled else mcu // 8
    first = max(min(start - margin, limit - _LEAST), 0) // mcu
    stop = min(max(start + length + margin, first * mcu + _LEAST), limit)
    return first, -(-stop // mcu), stop
