"""Tiled JPEG: the same pixels, with a restart marker every few MCUs (T.81, F.1.1.5 and E.1.4).

A reader decodes only the segments that a crop touches; the index keeps the length of each.
"""

import math

import numpy as np
import simplejpeg

from packer.errors import Untileable
from packer.images import jpegtran, tiling
from packer.images.jpeg import JpegHeader, read_header
from reader.format.jpeg import mcu_size
from reader.format.tiles import MAX_SEGMENTS, SEQUENTIAL, TileTable, codes

_TARGET_PIXELS = 32  # the tile width that reads fastest
_TILES_IN_ROW = 50  # of large photographs: more make the index larger, and gain little (measured)
_MARKER_BYTES = 2.8  # with the bits lost to alignment and DC prediction (measured)
_PROGRESSIVE = 0xC2
_BUDGET = 0.02  # of an image's bytes, for markers: more costs bytes and gains little (measured)
_BUDGET_WITH_GAIN = 0.04  # where optimised Huffman tables save more than that (5%, measured)


def can_tile() -> bool:
    return tiling.is_available() or jpegtran.program() is not None


def transcoders() -> dict[str, str]:
    """Return the transcoders with versions: the bytes of tiled JPEGs depend on them."""
    tiler = {"tiler": tiling.VERSION} if tiling.is_available() else {}
    return tiler | ({"jpegtran": version} if (version := jpegtran.version()) else {})


def tile(data: bytes, header: JpegHeader) -> tuple[bytes, TileTable]:
    """Transcode a JPEG with its metadata: in this process, or by jpegtran to the same bytes.

    Raises Untileable if it is refused, ValueError if it does not decode without a warning.
    """
    interval = restart_interval(header, len(data))
    if tiling.is_available():
        try:
            return tiling.load()(data, header, interval)
        except Untileable as error:
            if jpegtran.program() is None:
                raise Untileable(
                    f"{error} (jpegtran may know it; it is in the package {jpegtran.PACKAGE})"
                ) from error
    by_program = jpegtran.transcode(data, interval)
    if header.process == _PROGRESSIVE:
        check_pixels(data, by_program)  # decoders smooth one that lacks its last scans
    return by_program, find_tiles(by_program)


def check_pixels(one: bytes, other: bytes) -> None:
    """Raise Untileable if two JPEGs decode to other pixels, ValueError if one does not decode."""
    if not np.array_equal(simplejpeg.decode_jpeg(one), simplejpeg.decode_jpeg(other)):
        raise Untileable("its pixels would not stay the same")


def restart_interval(header: JpegHeader, size: int) -> int:
    """MCUs between two markers for a JPEG of `size` bytes: as many markers as fit the budget.

    Best is a divisor of the MCUs of a row, for then the tiles of all rows are aligned. Without a
    fitting one tiles run on from row to row, where nothing is subsampled: the reader aligns those.
    """
    height, width = mcu_size(header.sampling)
    in_row, rows = -(-header.width // width), -(-header.height // height)
    budget = size * (_BUDGET if header.is_optimized else _BUDGET_WITH_GAIN)
    fewest = max(1, math.ceil(in_row * rows * max(_MARKER_BYTES / budget, 1 / MAX_SEGMENTS)))
    wanted = max(_TARGET_PIXELS // width, in_row // _TILES_IN_ROW, fewest)
    divisors = [d for d in range(fewest, in_row + 1) if in_row % d == 0]
    fitting = [d for d in divisors if d < 2 * wanted]
    if not fitting and height == width == 8:
        return min(wanted, in_row)
    return min(fitting or divisors or [in_row], key=lambda d: abs(math.log(d / wanted)))


def find_tiles(data: bytes) -> TileTable:
    """Return the segment table of a sequential JPEG of one scan, or raise Untileable."""
    try:
        header = read_header(data)
    except ValueError as error:
        raise Untileable(str(error)) from error
    if header.process not in SEQUENTIAL or not header.restart_interval:
        raise Untileable("jpegtran wrote no sequential JPEG with restart markers")
    scan = np.frombuffer(data, np.uint8)[header.scan_offset :]
    markers = np.flatnonzero((scan[:-1] == 0xFF) & (scan[1:] != 0))
    height, width = mcu_size(header.sampling)
    mcus = -(-header.height // height) * -(-header.width // width)
    count = -(-mcus // header.restart_interval)
    if not np.array_equal(scan[markers + 1], codes(count)) or markers[-1] + 2 != len(scan):
        raise Untileable("its restart markers do not follow each other as they should")
    segments, offsets = np.diff(markers, prepend=-2) - 2, (header.scan_offset, header.frame_offset)
    return TileTable(segments, *offsets, header.restart_interval, height, width)
