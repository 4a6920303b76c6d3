"""One shard: its mapped index and its open tar."""

import os
from pathlib import Path

from reader.decode import StoredImage
from reader.errors import ReaderError, SampleError
from reader.format import FORMATS, Index, ShardEntry
from reader.splice import TileTable


class Shard:
    """Reads members by row; bytes come by `pread`, so a file cut short is an error, not a crash."""

    def __init__(self, folder: Path, entry: ShardEntry) -> None:
        """Open tar and index.

        Raises:
            ReaderError, FormatError: they are missing, damaged, or not what dataset.json says.
        """
        self.path = folder / entry.file
        self.index = Index(folder / entry.index)
        try:
            self._file = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise ReaderError(
                f"{self.path}: the shard cannot be opened: {error.strerror}."
            ) from error
        size = os.fstat(self._file).st_size
        if not size == self.index.tar_bytes == entry.bytes or len(self.index) != entry.samples:
            os.close(self._file)
            raise ReaderError(
                f"{self.path} has {size} bytes and its index {len(self.index)} samples of a tar of "
                f"{self.index.tar_bytes}; dataset.json says {entry.samples} samples, {entry.bytes} "
                "bytes. The shard was cut short or replaced: restore it or pack again."
            )

    def close(self) -> None:
        """Close the tar; the index unmaps when its last column is dropped."""
        os.close(self._file)

    def read(self, row: int, ext: str) -> bytes:
        """The bytes of the member with extension `ext`.

        Raises:
            SampleError: there is no such member, or it cannot be read.
        """
        span = self.index.span(ext, row)
        if span is None:
            raise self.error(row, f"it has no member .{ext}")
        return self._pread(row, *span)

    def image(self, row: int) -> StoredImage:
        """The image and what the index says of it; its bytes are read when they are asked for."""
        columns = self.index.columns
        offset, size = int(columns["offset"][row]), int(columns["size"][row])

        def read(start: int, stop: int) -> bytes:
            return self._pread(row, offset + start, stop - start)

        return StoredImage(
            read,
            size,
            FORMATS[columns["format"][row]],
            int(columns["height"][row]),
            int(columns["width"][row]),
            int(columns["channels"][row]),
            int(columns["orientation"][row]),
            self._tiles(row) if self.index.tiled else None,
        )

    def _tiles(self, row: int) -> TileTable | None:
        columns = self.index.columns
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

    def error(self, row: int, reason: str) -> SampleError:
        """The error that names this sample."""
        offset = int(self.index.columns["offset"][row])
        return SampleError(
            f"{self.path}: sample {self.index.key(row)!r} at byte {offset}: {reason}."
        )

    def _pread(self, row: int, offset: int, size: int) -> bytes:
        try:
            data = os.pread(self._file, size, offset)
        except OSError as error:
            raise self.error(row, f"it cannot be read: {error.strerror}") from error
        if len(data) != size:
            raise self.error(
                row, "the tar ends within it; the shard was cut short since it was opened"
            )
        return data
