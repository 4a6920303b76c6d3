"""Tiled JPEGs: the table of an image's segments, and its checks.

A tiled JPEG is a sequential one with a single scan and restart markers (ITU-T T.81, E.1.4): between
two of them is a byte-aligned segment that begins with fresh DC predictions. The marker RSTm with
m = n mod 8 follows segment n; EOI follows the last one and ends the file. The table's file is not
trusted: every number is checked here against the others.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.format.columns import LISTS, TILES, Column, bounds
from reader.format.errors import DecodeError
from reader.format.jpeg import first_frame, mcu_size

SEQUENTIAL = (0xC0, 0xC1)  # the processes (T.81, table B.1) of a tiled JPEG
EOI = b"\xff\xd9"
MAX_SIDE = 0xFFFF
MAX_SEGMENTS = 1 << 16  # an image with more is decoded whole


class BadTable(DecodeError):
    """A segment table that does not fit its image; the text is the reason."""


@dataclass  # not frozen: that would take 1 us
class TileTable:
    segments: NDArray[Any]  # bytes of each entropy-coded segment, without its marker
    scan_offset: int  # of the first
    frame_offset: int  # of the frame header's height
    restart_interval: int  # MCUs in a segment; the last may have fewer
    mcu_height: int  # in pixels
    mcu_width: int

    def grid(self, height: int, width: int) -> tuple[int, int]:
        """Return rows of MCUs, and MCUs in a row, of an image of (height, width) pixels."""
        if not self.restart_interval or not self.mcu_height or not self.mcu_width:
            raise BadTable("its tiles have no size")
        if max(height, width) > MAX_SIDE:
            raise BadTable(f"no JPEG has {height} x {width} pixels")
        in_row = -(-width // self.mcu_width)
        if in_row % self.restart_interval and (self.mcu_height != 8 or self.mcu_width != 8):
            raise BadTable("its tiles continue from row to row, but chroma is subsampled")
        return -(-height // self.mcu_height), in_row

    def starts(self, mcus: int, size: int) -> NDArray[np.int64]:
        """Return the start of each segment of `mcus` MCUs in `size` bytes, and the end."""
        total = -(-mcus // self.restart_interval)
        if len(self.segments) != total:
            raise BadTable(f"its segment table has {len(self.segments)} entries, not {total}")
        lengths = np.empty(total + 1, np.int64)
        lengths[0], lengths[1:] = self.scan_offset - 2, self.segments
        lengths += 2  # which may not fit the segments' own type
        starts = lengths.cumsum()
        if starts[-1] != size or self.frame_offset + 4 > self.scan_offset:
            raise BadTable("its segment table does not add up to its size")
        return starts

    def check_header(self, header: bytes | bytearray | memoryview, height: int, width: int) -> None:
        """Compare the image's own header with the table, and with the index's (height, width)."""
        frame = first_frame(header)
        if (frame.height, frame.width) != (height, width) or frame.offset != self.frame_offset:
            raise BadTable(f"its own header has {frame.width} x {frame.height} pixels")
        if frame.process not in SEQUENTIAL:
            raise BadTable("only a sequential JPEG has tiles")
        if mcu_size(frame.sampling) != (self.mcu_height, self.mcu_width):
            raise BadTable("the size of its tiles contradicts its segment table")

    def check(self, data: bytes | memoryview, height: int, width: int) -> None:
        """Compare all of an image's bytes with the table, and with the index's (height, width)."""
        rows, in_row = self.grid(height, width)
        markers = self.starts(rows * in_row, len(data))[1:] - 2
        self.check_header(data[: self.scan_offset], height, width)
        content = np.frombuffer(data, np.uint8)
        if (content[markers] != 0xFF).any() or (content[markers + 1] != codes(len(markers))).any():
            raise BadTable("its restart markers contradict its segment table")


def restart_codes(count: int) -> NDArray[np.uint8]:
    """Return the second byte of each of the first `count` restart markers of a scan."""
    return (0xD0 + np.arange(count) % 8).astype(np.uint8)


def codes(count: int) -> NDArray[np.uint8]:
    """Return the second byte of the marker after each of all `count` segments of a scan."""
    found = restart_codes(count)
    found[-1:] = EOI[1]
    return found


def table_of(columns: Mapping[str, Column], row: int) -> TileTable | None:
    """Return the table of a row's image in an index with tiles; None if it is not tiled."""
    start, stop = columns["segment_offset"][row : row + 2].tolist()
    if start == stop:
        return None
    return TileTable(
        columns["segment"][start:stop],
        int(columns["scan_offset"][row]),
        int(columns["frame_offset"][row]),
        int(columns["restart_interval"][row]),
        int(columns["mcu_height"][row]),
        int(columns["mcu_width"][row]),
    )


def tile_columns(tables: Sequence[TileTable | None]) -> dict[str, Column]:
    if not any(table is not None for table in tables):
        return {}
    segments = np.concatenate([table.segments for table in tables if table is not None])
    counts = [0 if table is None else len(table.segments) for table in tables]
    columns = {
        "segment": segments.astype("<u2" if segments.max() < 2**16 else "<u4"),
        LISTS["segment"]: bounds(counts),
    }
    for name, kind in TILES.items():
        values = [0 if table is None else getattr(table, name) for table in tables]
        columns[name] = np.array(values, kind)
    return columns
