"""Reads files in full: spans of them, or all once, front to back, while it is hashed."""

import os
import zlib
from pathlib import Path

import xxhash

from reader.format.checksum import checksum
from reader.format.files import open_regular, read_into

_CHUNK = 1 << 22


def read_span(descriptor: int, offset: int, size: int) -> bytes:
    """Return `size` bytes from `offset` on, or fewer where the file ends."""
    data = os.pread(descriptor, size, offset)
    if not 0 < len(data) < size:
        return data
    rest = bytearray(size - len(data))  # network file systems give less than was asked for
    return data + rest[: read_into(descriptor, rest, offset + len(data))]


class HashedFile:
    """An open file of `size` bytes; what is read ahead stays in a window of a few megabytes."""

    def __init__(self, descriptor: int) -> None:
        """Take a `descriptor` at the file's beginning; who opened it closes it."""
        self._file = descriptor
        self._hash = xxhash.xxh3_128()
        self._window = memoryview(b"")
        self._start = 0
        self.size = os.fstat(descriptor).st_size

    def read(self, offset: int, size: int) -> memoryview:
        """Return `size` bytes, or fewer where the file ends; all before them is hashed."""
        if offset < self._start:
            return memoryview(read_span(self._file, offset, size))
        stop = offset + size
        while stop > (end := self._start + len(self._window)):
            wanted = max(stop - max(end, offset), _CHUNK) if end >= offset else _CHUNK
            chunk = os.read(self._file, wanted)
            if not chunk:
                break
            self._hash.update(chunk)
            kept = self._window[max(offset - self._start, 0) :]
            self._window = memoryview(b"".join([kept, chunk]) if len(kept) else chunk)
            self._start = end - len(kept)
        begin = offset - self._start
        return self._window[begin : begin + size] if begin >= 0 else memoryview(b"")

    def crc32(self, offset: int, size: int) -> int | None:
        """Return that of a part of any size; None where the file ends within it."""
        crc = 0
        for start in range(offset, offset + size, _CHUNK):
            piece = self.read(start, min(_CHUNK, offset + size - start))
            if not piece:
                return None
            crc = zlib.crc32(piece, crc)
        return crc

    def finish(self) -> None:
        """Hash what is left."""
        self.read(max(self.size, self._start + len(self._window)), _CHUNK)

    @property
    def checksum(self) -> str:
        return checksum(self._hash)


def measure(path: Path) -> tuple[int, str]:
    with open(open_regular(path), "rb", buffering=0) as opened:
        file = HashedFile(opened.fileno())
        file.finish()
        return file.size, file.checksum
