"""One shard: its index and its open tar."""

import contextlib
import mmap
import os
import time
import weakref
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from reader.dataset.shared_memory import Holding
from reader.decode.stored import StoredImage
from reader.errors import ReaderError, SampleError
from reader.format import FORMATS, Index, Limits, ShardEntry
from reader.format.bands import bands_of
from reader.format.files import open_regular, read_into
from reader.format.tiles import table_of


class ReadBuffer:
    """Memory that a thread's reads go to, one after the other.

    Attributes:
        nanoseconds, bytes: spent in the system's calls so far, and read by them.
        waited: nanoseconds spent waiting for a store.
    """

    def __init__(self) -> None:
        self.nanoseconds = 0
        self.waited = 0
        self.bytes = 0
        self._memory = memoryview(bytearray(1 << 18))

    def take(self, size: int) -> memoryview:
        """`size` bytes, the same ones each time."""
        if size > len(self._memory):
            self._memory = memoryview(bytearray(2 * size))
        return self._memory[:size]


class Shard:
    """Reads members by row, for one thread.

    Bytes come by `preadv` into a buffer that is used again: as fast as a mapping from a warm cache,
    faster from a cold one, and a file that is cut short is an error instead of a crash.
    """

    def __init__(
        self,
        folder: Path,
        entry: ShardEntry,
        index: Index,
        buffer: ReadBuffer,
        holding: Holding | None = None,
        number: int = 0,
        limits: Limits = Limits(),  # noqa: B008  # frozen
    ) -> None:
        """Open the tar.

        Args:
            folder: where shards lie.
            entry: what dataset.json says of this one.
            index: its own, compared with the entry.
            buffer: for reads.
            holding: memory that holds the tar as its `number`-th, None to read it from its file.
            number: see `holding`.
            limits: what a sample may ask for.

        Raises:
            ReaderError: it is missing, or has another size than dataset.json says.
        """
        self.path = folder / entry.file
        self.entry = entry
        self._has_failed = False
        self.index = index
        self._buffer = buffer
        self._limits = limits
        try:
            source = self.path if holding is None else holding.path
            self._file = open_regular(source)
        except OSError as error:
            raise ReaderError(
                f"{self.path}: the shard cannot be opened: {error.strerror}."
            ) from error
        self.close = weakref.finalize(self, os.close, self._file)
        size = os.fstat(self._file).st_size
        self._start = 0 if holding is None else holding.starts[number]
        if holding is not None and size == holding.size:
            size = entry.bytes
        if size != entry.bytes:
            self.close()
            raise ReaderError(
                f"{self.path} has {size} bytes, dataset.json says {entry.bytes}. The shard was cut "
                "short or replaced: restore it from a copy, or pack the dataset again."
            )

    def read(self, row: int, ext: str) -> bytes:
        """The bytes of the member with extension `ext`.

        Raises:
            SampleError: there is no such member, it is too large, or it cannot be read.
        """
        span = self.index.span(ext, row)
        if span is None:
            raise self.error(row, f"it has no member .{ext}")
        self._check_bytes(row, f"its .{ext}", span[1])
        return bytes(self._pread(row, *span))

    def image(self, row: int) -> StoredImage:
        """The image and what the index says of it; its bytes are read when they are asked for.

        Raises:
            SampleError: it is too large.
        """
        columns = self.index.columns
        offset, size = int(columns["offset"][row]), int(columns["size"][row])
        height, width = int(columns["height"][row]), int(columns["width"][row])
        self._check_bytes(row, "its image", size)
        if not 0 < height * width <= self._limits.pixels:
            raise self.error(
                row,
                f"its index says {width} x {height} pixels, and 1 to {self._limits.pixels} are "
                "allowed; Dataset(..., limits=reader.Limits(pixels=...)) allows more",
            )

        def read(start: int, stop: int) -> memoryview:
            return self._pread(row, offset + start, stop - start)

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

    def _check_bytes(self, row: int, what: str, size: int) -> None:
        if size > self._limits.bytes:
            raise self.error(
                row,
                f"{what} has {size} bytes, and {self._limits.bytes} are allowed; "
                "Dataset(..., limits=reader.Limits(bytes=...)) allows more",
            )

    @property
    def is_sound(self) -> bool:
        """Whether no read has failed, and the index is not cut short: so it may be looked at."""
        return not self._has_failed and self.index.is_whole

    def generations(self, rows: NDArray[np.int64] | slice) -> NDArray[np.uint8] | None:
        """What `is_still` is asked with, once rows can be read from `mapped`."""
        return None

    def is_still(
        self, rows: NDArray[np.int64] | slice, generations: NDArray[np.uint8] | None
    ) -> bool:
        """Whether what was read of `rows` since `generations` is what was packed."""
        return True

    @property
    def mapped(self) -> mmap.mmap:
        """The whole tar in memory, for who reads thousands of members at a time.

        Raises:
            ReaderError: it was cut short, or cannot be mapped.
        """
        if os.fstat(self._file).st_size < self._start + self.index.tar_bytes:
            self._has_failed = True
            raise ReaderError(f"{self.path} was cut short since it was opened. Restore it.")
        return self._mapping

    @cached_property
    def _mapping(self) -> mmap.mmap:
        size = self.index.tar_bytes
        try:
            return mmap.mmap(self._file, size, access=mmap.ACCESS_READ, offset=self._start)
        except OSError as error:
            raise ReaderError(f"{self.path} cannot be mapped: {error.strerror}.") from error

    def read_ahead(self, row: int, start: int, stop: int) -> None:
        """Ask the system for a range of the bytes of the row's image."""
        if start < stop and hasattr(os, "posix_fadvise"):  # which takes 0 bytes for all that follow
            offset = int(self.index.columns["offset"][row]) + start
            began = time.perf_counter_ns()
            with contextlib.suppress(OSError):  # a hint; what is wrong is told by the reading
                os.posix_fadvise(
                    self._file, self._start + offset, stop - start, os.POSIX_FADV_WILLNEED
                )
            self._buffer.nanoseconds += time.perf_counter_ns() - began

    def error(self, row: int, reason: str) -> SampleError:
        """The error that names this sample."""
        offset = int(self.index.columns["offset"][row])
        end = "" if "\n" in reason else "."  # the lines of a traceback end as they are
        return SampleError(
            f"{self.path}: sample {self.index.key(row)!r} at byte {offset}: {reason}{end}"
        )

    def _pread(self, row: int, offset: int, size: int) -> memoryview:
        memory = self._buffer.take(size)
        offset += self._start
        began = time.perf_counter_ns()
        try:
            done = read_into(self._file, memory, offset)
        except OSError as error:
            self._has_failed = True
            raise self.error(row, f"it cannot be read: {error.strerror}") from error
        self._buffer.nanoseconds += time.perf_counter_ns() - began
        self._buffer.bytes += size
        if done != size:
            self._has_failed = True
            raise self.error(
                row, "the tar ends within it; the shard was cut short since it was opened"
            )
        return memory
