"""Cuts the part of a tiled JPEG that a crop needs, as a JPEG of its own.

A cut is the file's header with a smaller size, the segments that the box touches with their RSTn
markers numbered anew, and an EOI marker. It decodes to the very pixels that the whole image would:
where chroma is subsampled, it holds the pixels around the box that upsampling looks at. `TileTable`
checks the segment table, so a cut never reaches outside the image's bytes.
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


@dataclass(frozen=True)
class Cut:
    """A part of an image that makes a JPEG of its own."""

    table: TileTable
    image_size: tuple[int, int]  # (height, width) of the whole image
    start: int  # to `stop`: the range of the image's bytes that holds its segments
    stop: int
    rows: list[tuple[int, int]]  # (begin, end) of the segments of each row of MCUs, from `start` on
    markers: NDArray[np.int64]  # where in the new JPEG each segment's RSTn code is
    top: int  # and `left`: the pixel of the whole image that is its first
    left: int
    height: int
    width: int
    shifts: NDArray[np.int64] | None  # pixels to move each row of MCUs left; None: none

    def build(self, read: Callable[[int, int], memoryview]) -> bytearray:
        """The JPEG; ``read(start, stop)`` gives a range of the image's bytes for the moment."""
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
    """Plan to cut `box` out of a tiled JPEG of (height, width) pixels and `size` bytes.

    None if the whole image is to be decoded: the box needs the odd end of a table whose tiles run
    on from row to row, or there are too many segments.
    """
    interval, mcu_height, mcu_width = table.restart_interval, table.mcu_height, table.mcu_width
    rows, in_row = table.grid(height, width)
    if len(table.segments) > MAX_SEGMENTS:
        return None
    starts = table.starts(in_row * rows, size)
    row, row_end = _span(box[0], box[2], height, mcu_height, is_scaled)
    column, column_end = _span(box[1], box[3], width, mcu_width, is_scaled)
    if in_row % interval == 0:
        first, count = column // interval, -(-column_end // interval) - column // interval
        firsts = _COUNT[row:row_end] * (in_row // interval) + first
        left = first * interval * mcu_width
        cut_width = min(count * interval * mcu_width, width - left)
        shifts = None
    else:
        begins = _COUNT[row:row_end] * in_row + column
        ends = begins + (column_end - column)
        firsts = begins // interval
        count = int((-(-ends // interval) - firsts).max())
        # Rows of equal length: one that needs less takes more on its right, or at the end of the
        # table on its left. A shorter last segment cannot be in a row of whole ones.
        usable = in_row * rows // interval
        firsts = np.minimum(firsts, usable - count)
        left = column * mcu_width
        cut_width = count * interval * mcu_width
        shifts = (begins - firsts * interval) * mcu_width
        if firsts[0] < 0 or ends[-1] > usable * interval or cut_width > MAX_SIDE:
            return None
    begin, end = starts[firsts], starts[firsts + count]
    sizes = end - begin
    # Behind each segment is its marker; rows move up behind the header and each other.
    moved = begin - table.scan_offset - np.cumsum(sizes) + sizes
    markers = starts[firsts[:, None] + _COUNT[1 : count + 1]] - moved[:, None] - 1
    start = int(begin[0])
    return Cut(
        table,
        (height, width),
        start,
        int(end[-1]),
        list(zip((begin - start).tolist(), (end - start).tolist(), strict=True)),
        markers.ravel(),
        row * mcu_height,
        left,
        min(row_end * mcu_height, height) - row * mcu_height,
        cut_width,
        shifts,
    )


def _span(start: int, length: int, limit: int, mcu: int, is_scaled: bool) -> tuple[int, int]:
    """Return the MCUs along one axis that `length` pixels at `start` need."""
    # Fancy upsampling looks one chroma sample over the edge; a reduced scale needs a whole MCU.
    margin = 0 if mcu == 8 else mcu if is_scaled else mcu // 8
    first = max(start - margin, 0) // mcu
    return first, -(-min(start + length + margin, limit) // mcu)
