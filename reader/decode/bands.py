"""Decode a box of a banded PNG, with the same pixels as the whole image.

The bands that the box touches inflate as one stream. Filters are undone only in the box's columns,
by additions of whole rows. A wrong table is an error.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.decode.splice import Box
from reader.format.bands import NONE, SUB, UP, BandTable, PngHeader
from reader.format.tiles import BadTable

Pixels = NDArray[Any]  # uint8


@dataclass(frozen=True)
class BandCut:
    table: BandTable
    image_size: tuple[int, int]  # (height, width) of the whole image
    start: int  # to `stop`: the range of the image's bytes that holds them
    stop: int
    first: int  # the first one's number
    box: Box  # of the whole image

    def values(self, read: Callable[[int, int], memoryview]) -> tuple[Pixels, PngHeader]:
        """Return the values of the box's pixels, (height, width, channels), and the header."""
        from isal import igzip_lib, isal_zlib  # rarely used; workers start fast

        header = self.table.header(read(0, self.table.start), *self.image_size)
        per_pixel, (top, left, height, width) = header.channels, self.box
        above = self.first * self.table.rows
        rows = min(-(-(top + height) // self.table.rows) * self.table.rows, self.image_size[0])
        rows -= above
        stride = 1 + self.image_size[1] * per_pixel
        try:
            content = isal_zlib.decompressobj(-15).decompress(
                read(self.start, self.stop), max_length=rows * stride
            )
        except igzip_lib.IsalError as error:  # type: ignore[misc]  # its stub calls it an object
            raise BadTable(f"it does not inflate ({error})") from error
        if len(content) != rows * stride:
            raise BadTable(f"it has {len(content)} bytes for {rows} rows of {stride}")
        lines = np.frombuffer(content, np.uint8).reshape(rows, stride)
        values = _unfiltered(lines, self.table.rows, left, width, per_pixel)
        top -= above
        return values[top : top + height].reshape(height, width, per_pixel), header

    def colours(self, read: Callable[[int, int], memoryview]) -> Pixels:
        """Return the values with a palette's colours in place of indices: 1 to 4 channels."""
        values, header = self.values(read)
        if header.palette is not None:
            if values.size and int(values.max()) >= len(header.palette):
                raise BadTable("it has a value that is not in its palette")
            return header.palette[values[..., 0]]
        return values


def cut_bands(table: BandTable, size: int, height: int, width: int, box: Box) -> BandCut:
    """Plan to decode `box` of a banded PNG of (height, width) pixels and `size` bytes."""
    starts = table.starts(height, size)
    first, end = box[0] // table.rows, -(-(box[0] + box[2]) // table.rows)
    return BandCut(table, (height, width), int(starts[first]), int(starts[end]), first, box)


def _unfiltered(lines: Pixels, count: int, left: int, width: int, per_pixel: int) -> Pixels:
    """Return columns, in pixels, of the filtered rows of whole bands of `count`."""
    begin, end = 1 + left * per_pixel, 1 + (left + width) * per_pixel
    out = np.empty((len(lines), end - begin), np.uint8)
    kinds = _filters(lines[:, 0], count)
    edges = [0, *(np.flatnonzero(np.diff(kinds)) + 1).tolist(), len(kinds)]
    for first, stop in pairwise(edges):
        rows = slice(first * count, stop * count)
        if kinds[first] == SUB:
            differences = lines[rows, 1:end].reshape(-1, left + width, per_pixel)
            sums = np.cumsum(differences, axis=1, dtype=np.uint8)
            out[rows] = sums[:, left:].reshape(-1, width * per_pixel)
        elif kinds[first] == UP:
            _sum_down(lines[rows, begin:end], out[rows], count)
        else:
            out[rows] = lines[rows, begin:end]
    return out


def _sum_down(lines: Pixels, out: Pixels, count: int) -> None:
    """Undo Up in bands of `count` rows, one row of all bands at a time."""
    whole = len(lines) // count * count
    for part, rows in ((slice(whole), count), (slice(whole, None), len(lines) - whole)):
        if rows and len(out[part]):
            shape = -1, rows, lines.shape[1]
            differences, sums = lines[part].reshape(shape), out[part].reshape(shape)
            sums[:, 0] = differences[:, 0]
            for row in range(1, rows):
                np.add(sums[:, row - 1], differences[:, row], out=sums[:, row])


def _filters(found: Pixels, count: int) -> Pixels:
    """Return the filter of each band of `count` rows, from the filter of each row."""
    kinds = found[np.minimum(np.arange(count, len(found) + count, count), len(found)) - 1]
    expected = np.repeat(kinds, count)[: len(found)]
    expected[::count] = np.where(kinds == UP, NONE, kinds)
    if (kinds > UP).any() or (found != expected).any():
        raise BadTable("a band has rows of several filters")
    return kinds
