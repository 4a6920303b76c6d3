"""Tiling in this process: what ``jpegtran -copy all -optimize -restart NB`` does, and its bytes.

::

    stream      the segments around the scan, as libjpeg reads and writes them
    huffman     the scan's bits; tables: lookups for decoding, and libjpeg's optimal ones
    sequential  the scan decoded to records
    progressive several scans decoded to coefficients
    records     what lies between decoding and writing, in bounded memory
    transcode   all of it in turn; records written, with a restart marker every few MCUs
    compiling   how numba compiles the inner loops, and where it keeps them

Nothing here imports numba before `load` is called, which only processes that pack do.
"""

import functools
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING

from packer.errors import PackingFailed
from packer.images.jpeg import JpegHeader
from packer.images.tiling import compiling

if TYPE_CHECKING:
    from reader.format.tiles import TileTable

VERSION = "2"  # changes when other bytes are written


@functools.cache
def is_available() -> bool:
    """Whether numba is installed; there are machines for which it has no wheel."""
    return find_spec("numba") is not None


def is_compiled() -> bool:
    """Whether a process of this user has compiled it before, so that `load` takes no time."""
    return compiling.is_complete()


@functools.cache
def load() -> "Callable[[bytes, JpegHeader, int], tuple[bytes, TileTable]]":
    """Return `transcode`, compiled, which takes seconds once; PackingFailed: numba is broken."""
    try:
        import numba  # noqa: F401
    except Exception as error:
        raise PackingFailed(
            f"numba is installed, but cannot be imported: {error}. Install it again, or remove it: "
            "then jpegtran is used."
        ) from error
    from packer.images.tiling.transcode import transcode

    compiling.complete()
    return transcode
