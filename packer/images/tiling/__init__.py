"""Tiling in this process: what ``jpegtran -copy all -optimize -restart NB`` does, and its bytes.

`stream` has the segments around the scan, `sequential` and `progressive` decode it with the tables
of `huffman` to `records`, of one symbol or two (`pairs`), which `transcode` writes; `compiling` is
by numba. Nothing here imports that before `load` is called, which only processes that pack do.
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
    """Return whether numba is installed; there are machines for which it has no wheel."""
    return find_spec("numba") is not None


@functools.cache
def load() -> "Callable[[bytes, JpegHeader, int], tuple[bytes, TileTable]]":
    """Return `transcode`, compiled, which takes seconds once; PackingFailed: numba is broken."""
    try:
        import numba  # noqa: F401
    except Exception as error:
        raise PackingFailed(
            f"numba is installed, but cannot be imported: {error}. Reinstall it, or uninstall "
            "it to use jpegtran instead: pip uninstall numba"
        ) from error
    from packer.images.tiling.transcode import transcode

    compiling.complete()
    return transcode
