"""An image in a shard, and the EXIF orientation that makes it upright."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from numpy.typing import NDArray

from reader.format.bands import BandTable
from reader.format.frames import TURNS
from reader.format.tiles import TileTable

N = TypeVar("N", int, float)


@dataclass  # not frozen: that would take 1 us
class StoredImage:
    """An image in a shard; `height` and `width` before `orientation`."""

    read: Callable[[int, int], memoryview]  # returns a range, valid until the next call
    size: int
    format: str
    height: int
    width: int
    channels: int
    orientation: int
    tiles: TileTable | None = None  # the segment table of a tiled JPEG
    bands: BandTable | None = None  # the table of a banded PNG
    pixels: NDArray[Any] | None = None  # (height, width, depth), if it is already decoded
    depth: int = 3  # 3 to decode it to RGB, 1 to grey

    @property
    def upright_size(self) -> tuple[int, int]:
        if TURNS[self.orientation][0]:
            return self.width, self.height
        return self.height, self.width

    @property
    def is_for_libjpeg(self) -> bool:
        """Whether it is a JPEG of grey or RGB; Pillow decodes one of four channels."""
        return self.format == "jpg" and self.channels != 4

    def covered_by(self, data: bytes, format: str, bands: BandTable | None = None) -> "StoredImage":
        content = memoryview(data)
        return replace(
            self,
            read=lambda start, stop: content[start:stop],
            size=len(data),
            format=format,
            channels=3,
            tiles=None,
            bands=bands,
            pixels=None,
        )


def as_stored(image: StoredImage, area: tuple[N, N, N, N]) -> tuple[N, N, N, N]:
    """Map a part (top, left, height, width) of the upright image to the stored image."""
    top, left, height, width = area
    transpose, hflip, vflip = TURNS[image.orientation]
    if vflip:
        top = image.upright_size[0] - top - height
    if hflip:
        left = image.upright_size[1] - left - width
    return (left, top, width, height) if transpose else (top, left, height, width)
