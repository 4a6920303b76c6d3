"""One shard: its index and its open tar."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reader.dataset.tar_bytes import JoinedBytes, TarBytes
from reader.decode.stored import StoredImage
from reader.errors import SampleError
from reader.format import FORMATS, Index, Limits
from reader.format.bands import bands_of
from reader.format.pictures import opened
from reader.format.tiles import table_of


class Shard:
    labels: NDArray[np.int64] | None = None  # and `source`: see `RelabelledShards`
    source = 0

    def __init__(self, index: Index, tar: TarBytes | JoinedBytes, limits: Limits) -> None:
        self.index = index
        self.tar = tar
        self._limits = limits

    @property
    def path(self) -> Path:
        return self.tar.path

    def read(self, row: int, ext: str) -> bytes:
        span = self.index.span(ext, row)
        if span is None:
            raise self.error(row, f"it has no member .{ext}", ext)
        self._check_bytes(row, f"its .{ext}", span[1], ext)
        return bytes(self.tar.read(row, *span))

    def image(self, row: int) -> StoredImage:
        """Return the image with its index entries; its bytes are read on access."""
        columns = self.index.columns
        offset, size = int(columns["offset"][row]), int(columns["size"][row])
        height, width = int(columns["height"][row]), int(columns["width"][row])
        self._check_bytes(row, "its image", size)
        self._check_pixels(row, height, width)

        def read(start: int, stop: int) -> memoryview:
            return self.tar.read(row, offset + start, stop - start)

        return StoredImage(
            read,
            size,
            FORMATS[columns["format"][row]],
            height,
            width,
            int(columns["channels"][row]),
            int(columns["orientation"][row]),
            table_of(columns, row) if self.index.tiled else None,
            bands_of(columns, row),
        )

    def picture(self, row: int, data: bytes) -> StoredImage:
        """Return a picture of a dataset without images, as if it were one."""
        with opened(data) as picture:
            width, height = picture.size
        self._check_pixels(row, height, width)
        content = memoryview(data)
        read = lambda start, stop: content[start:stop]  # noqa: E731
        return StoredImage(read, len(data), "", height, width, 3, 1)

    def _check_pixels(self, row: int, height: int, width: int) -> None:
        if not 0 < height * width <= self._limits.pixels:
            raise self.error(
                row,
                f"it has {width} x {height} pixels, but 1 to {self._limits.pixels} are allowed; to "
                "allow more, give reader.Dataset limits=reader.Limits(pixels=...)",
            )

    def _check_bytes(self, row: int, what: str, size: int, ext: str = "") -> None:
        if size > self._limits.bytes:
            raise self.error(
                row,
                f"{what} has {size} bytes, but {self._limits.bytes} are allowed; to allow more, "
                "give reader.Dataset limits=reader.Limits(bytes=...)",
                ext,
            )

    @property
    def is_usable(self) -> bool:
        """Whether no read has failed and the index is not truncated."""
        return not self.tar.has_failed and self.index.is_whole

    def read_ahead(self, row: int, start: int, stop: int) -> None:
        offset = int(self.index.columns["offset"][row])
        self.tar.read_ahead(row, offset + start, stop - start)

    def error(self, row: int, reason: str, ext: str = "") -> SampleError:
        """Return the error of a sample; for one of its members `ext`, it names the member's tar."""
        return self.tar.of_member(ext).error(row, reason)
