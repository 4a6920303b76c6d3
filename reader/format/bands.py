"""Banded PNGs: the table of an image's bands, and its checks.

`reader.format` describes such a PNG. Any PNG reader can decode it; with the table, only the bands
that a box touches are inflated. The table's file is not trusted: every number is checked here.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.format.columns import BANDS, Column, bounds
from reader.format.tiles import BadTable

PNG_BEGIN = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"
END_OF_STREAM = b"\x03\x00"  # an empty final block with fixed codes
NONE, SUB, UP = 0, 1, 2  # filters

_HEADER = struct.Struct(">II5B")
_CHUNK = struct.Struct(">I4s")
_BEFORE = 8 + 2  # IDAT's length and name, and zlib's header
_BEHIND = len(END_OF_STREAM) + 4 + 4  # zlib's and IDAT's checksums
PALETTE = 3  # a colour type
CHANNELS = {0: 1, 2: 3, PALETTE: 1, 4: 2, 6: 4}
"""Values of a pixel, by colour type."""


@dataclass(frozen=True)
class PngHeader:
    height: int
    width: int
    channels: int  # values of a pixel
    palette: NDArray[Any] | None  # (N, 3) RGB, if the values are indices


@dataclass(frozen=True)
class BandTable:
    bands: NDArray[Any]  # bytes of each
    start: int  # where the first begins
    rows: int  # of a band; the last may have fewer

    def starts(self, height: int, size: int) -> NDArray[np.int64]:
        """Return the start of each band in the image's `size` bytes, and the last one's end."""
        if self.rows < 1:
            raise BadTable(f"its table has bands of {self.rows} rows")
        count = -(-height // self.rows)
        if len(self.bands) != count:
            raise BadTable(f"its table has {len(self.bands)} bands, not {count}")
        lengths = np.empty(count + 1, np.int64)
        lengths[0], lengths[1:] = self.start, self.bands
        starts = np.cumsum(lengths)
        if self.start < len(PNG_BEGIN) + _BEFORE or starts[-1] + _BEHIND > size:
            raise BadTable("its bands are outside its bytes")
        return starts

    def check(self, data: bytes | memoryview, height: int, width: int) -> None:
        """Compare all of an image's bytes with the table, and with the index's (height, width)."""
        self.starts(height, len(data))
        self.header(data[: self.start], height, width)

    def header(self, data: bytes | memoryview, height: int, width: int) -> PngHeader:
        """Return the header in the bytes before the first band, checked by the index's size."""
        found = read_header(data)
        if found is None or data[-6:-2] != b"IDAT":
            raise BadTable("it is not a banded PNG")
        if (found.height, found.width) != (height, width):
            raise BadTable(f"its own header has {found.width} x {found.height} pixels")
        return found


def read_header(data: bytes | memoryview) -> PngHeader | None:
    at = len(PNG_BEGIN) + _HEADER.size + 4
    if data[: len(PNG_BEGIN)] != PNG_BEGIN or len(data) < at:
        return None
    width, height, bits, colour, *rest = _HEADER.unpack_from(data, len(PNG_BEGIN))
    if bits != 8 or any(rest) or colour not in CHANNELS:
        return None
    palette = _palette(data, at) if colour == PALETTE else None
    if colour == PALETTE and palette is None:
        return None
    return PngHeader(height, width, CHANNELS[colour], palette)


def _palette(data: bytes | memoryview, at: int) -> NDArray[Any] | None:
    while at + _CHUNK.size <= len(data):
        length, name = _CHUNK.unpack_from(data, at)
        at += _CHUNK.size
        if name == b"PLTE":
            colours = bytes(data[at : at + min(length, 3 * 256)])
            return np.frombuffer(colours, np.uint8, len(colours) // 3 * 3).reshape(-1, 3)
        if name == b"IDAT":
            break
        at += length + 4
    return None


def bands_of(columns: Mapping[str, Column], row: int, member: str = "") -> BandTable | None:
    """Return an index's table of bands for a row's image, or for its `member`; None for none."""
    prefix = f"{member}." if member else ""
    if f"{prefix}band" not in columns:
        return None
    start, stop = columns[f"{prefix}band_offset"][row : row + 2].tolist()
    if start == stop:
        return None
    return BandTable(
        columns[f"{prefix}band"][start:stop],
        int(columns[f"{prefix}band_start"][row]),
        int(columns[f"{prefix}band_rows"][row]),
    )


def band_columns(tables: Mapping[int, BandTable], rows: int, member: str = "") -> dict[str, Column]:
    """Return the index's columns for so many rows, from tables by ascending row."""
    starts, counts = np.zeros(rows, np.int64), np.zeros(rows, np.int64)
    lengths = np.zeros(rows, np.int64)
    numbers = list(tables)
    starts[numbers] = [table.start for table in tables.values()]
    counts[numbers] = [table.rows for table in tables.values()]
    lengths[numbers] = [len(table.bands) for table in tables.values()]
    columns = {
        "band": np.concatenate([table.bands for table in tables.values()]),
        "band_offset": bounds(lengths.tolist()),
        "band_start": starts,
        "band_rows": counts,
    }
    prefix = f"{member}." if member else ""
    return {prefix + name: columns[name].astype(kind) for name, kind in BANDS.items()}
