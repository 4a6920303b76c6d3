"""JPEGs that are tiled in this process.

What is tiled decodes to the same pixels, and lies where it is told to; where jpegtran is installed,
it writes the same bytes. What is refused, jpegtran may still know.
"""

import contextlib
import shutil
import subprocess
from collections.abc import Iterator

import numpy as np
import simplejpeg

from packer.errors import Untileable
from packer.images import tiling
from packer.images.jpeg import JpegHeader, read_header
from packer.images.tiles import find_tiles, restart_interval
from targets.making import encoded, picture

_PROGRAM = shutil.which("jpegtran")


def seeds() -> Iterator[bytes]:
    """Each sampling, and what else is tiled in another way."""
    for sampling in ("4:4:4", "4:2:2", "4:2:0"):
        yield encoded("JPEG", subsampling=sampling)
    for mode in ("L", "CMYK"):
        yield encoded("JPEG", mode=mode, optimize=True)
    yield encoded("JPEG", restart_marker_blocks=2, quality=95)
    yield encoded("JPEG", progressive=True)
    yield encoded("JPEG", progressive=True, mode="L", restart_marker_blocks=3)
    for sampling in ("440", "411"):
        yield simplejpeg.encode_jpeg(np.ascontiguousarray(picture(1)), 40, "RGB", sampling)


def one(data: bytes) -> None:
    """Tile a JPEG."""
    try:
        header = read_header(data)
        interval = restart_interval(header, len(data))
    except (ValueError, ArithmeticError):
        return  # which `probe` refuses
    with contextlib.suppress(Untileable):
        _check(data, header, interval)


def _check(data: bytes, header: JpegHeader, interval: int) -> None:
    tiled, table = tiling.load()(data, header, interval)
    found = find_tiles(tiled)
    assert (found.scan_offset, found.frame_offset) == (table.scan_offset, table.frame_offset)
    assert np.array_equal(found.segments, table.segments)
    if _PROGRAM is not None:
        command = [_PROGRAM, "-copy", "all", "-optimize", "-restart", f"{interval}B"]
        done = subprocess.run(command, input=data, capture_output=True)
        assert (done.stdout, done.returncode) == (tiled, 0), done.stderr
    with contextlib.suppress(ValueError):  # of what it complains, it does with both
        if len(header.sampling) < 4 and header.height * header.width < 1 << 22:
            pixels = simplejpeg.decode_jpeg(data)
            assert np.array_equal(pixels, simplejpeg.decode_jpeg(tiled))
