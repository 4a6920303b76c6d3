"""Read a shard's tar from a file, or from memory that holds several.

It uses `preadv` into a reused buffer: as fast as a mapping from a warm page cache, faster from a
cold one, and a truncated file is an error instead of a crash.
"""

import contextlib
import mmap
import os
import shlex
import time
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.errors import ReaderError, SampleError
from reader.format import Index, ShardEntry
from reader.format.files import open_regular, read_into

_FEW = 1 << 16  # bytes


def remedy_in(folder: Path) -> str:
    """Return how damage of the dataset in `folder` is found and repaired, without a full stop."""
    place = shlex.quote(str(folder))
    return (
        f"To list all damage, run `packer verify {place}`. To rebuild it from the source SRC, run "
        f"`packer repair {place} --from SRC`"
    )


Numbers = NDArray[np.int64]
# Called with memory, which of the rows it has (None: all), and by how much their offsets differ.
Copy = Callable[[Any, Numbers | None, Numbers | int], None]


class ReadBuffer:
    """Memory for a thread's reads, with their bytes and times, also for stores."""

    def __init__(self) -> None:
        self.nanoseconds = 0
        self.waited = 0
        self.bytes = 0
        self._memory = memoryview(bytearray(1 << 18))

    def take(self, size: int) -> memoryview:
        if size > len(self._memory):
            self._memory = memoryview(bytearray(2 * size))
        return self._memory[:size]


class TarBytes:
    """The tar of a shard as a file, read by one thread."""

    def __init__(
        self,
        folder: Path,
        entry: ShardEntry,
        index: Index,
        buffer: ReadBuffer,
        source: str | None = None,
        start: int = 0,
        whole: int | None = None,
    ) -> None:
        """Open the tar, or part of the file `source` at `start`, which has `whole` bytes."""
        self.has_failed = False
        self._folder, self._entry = folder, entry
        self._index = index
        self._buffer = buffer
        self._start = start
        self._source = source or f"{folder}/{entry.file}"
        self._whole = entry.bytes if whole is None else whole
        self._was_copied = False
        if self._is_there:
            self._file  # noqa: B018  # an error comes now

    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        # `os` may be gone when the interpreter ends.
        if "_file" in self.__dict__:
            close(self._file)

    @property
    def path(self) -> Path:
        return self._folder / self._entry.file

    @property
    def _is_there(self) -> bool:
        return True

    @cached_property
    def _file(self) -> int:
        return self._opened()

    def _opened(self) -> int:
        try:
            file = open_regular(self._source)
        except OSError as error:
            raise ReaderError(
                f"{self.path}: the shard cannot be opened: {error.strerror}."
            ) from error
        found = os.fstat(file)
        if found.st_size != self._whole:
            os.close(file)
            raise ReaderError(
                f"{self.path} has {found.st_size} bytes, but dataset.json records "
                f"{self._entry.bytes}. The shard was truncated or replaced."
            )
        self.written = found.st_mtime_ns
        return file

    @property
    def where(self) -> str:
        return str(self.path)

    def of_member(self, ext: str) -> "TarBytes":
        """Return the tar that has the members of an extension."""
        return self

    def error(self, row: int, reason: str) -> SampleError:
        offsets = self._index.columns.get("offset")
        at = "" if offsets is None else f" at byte {int(offsets[row])}"
        end = "" if "\n" in reason else "."  # a traceback has no full stop
        return SampleError(f"{self.where}: sample {self._index.key(row)!r}{at}: {reason}{end}")

    def read(self, row: int, offset: int, size: int) -> memoryview:
        """Read bytes of a row, until the next call."""
        return self._read(self._file, row, self._start + offset, size)

    def _read(self, file: int, row: int, offset: int, size: int) -> memoryview:
        memory = self._buffer.take(size)
        began = time.perf_counter_ns()
        try:
            done = read_into(file, memory, offset)
        except OSError as error:
            self.has_failed = True
            raise self.error(row, f"it cannot be read: {error.strerror}") from error
        self._buffer.nanoseconds += time.perf_counter_ns() - began
        self._buffer.bytes += size
        if done != size:
            self.has_failed = True
            raise self.error(
                row,
                "the shard was truncated after it was opened, within this sample. "
                + remedy_in(self._folder),
            )
        return memory

    def read_ahead(self, row: int, offset: int, size: int) -> None:
        if size > 0 and hasattr(os, "posix_fadvise"):  # for which 0 means to the end
            began = time.perf_counter_ns()
            with contextlib.suppress(OSError):  # a hint; reading reports errors
                os.posix_fadvise(self._file, self._start + offset, size, os.POSIX_FADV_WILLNEED)
            self._buffer.nanoseconds += time.perf_counter_ns() - began

    def copy(self, rows: NDArray[np.int64] | slice, begin: int, end: int, copy: Copy) -> None:
        """Call `copy` with bytes that have those of some rows, see `Copy`.

        A few are read at the first time: it takes less than mapping the tar, which may be closed
        before the next.
        """
        if not self._was_copied and end - begin <= _FEW:
            self._was_copied = True
            memory = self._buffer.take(end - begin)
            if read_into(self._file, memory, self._start + begin) == len(memory):
                copy(memory, None, -begin)
                return
        if os.fstat(self._file).st_size < self._start + self._index.tar_bytes:
            self.has_failed = True
            remedy = remedy_in(self._folder)
            raise ReaderError(f"{self.path} was truncated after it was opened. {remedy}.")
        copy(self._mapping, None, 0)

    @cached_property
    def _mapping(self) -> mmap.mmap:
        size = self._index.tar_bytes
        try:
            return mmap.mmap(self._file, size, access=mmap.ACCESS_READ, offset=self._start)
        except OSError as error:
            raise ReaderError(f"{self.path} cannot be mapped: {error.strerror}.") from error


class JoinedBytes:
    """The tar of a shard and those that are joined to it, one after the other."""

    path: Path
    error: Callable[..., SampleError]
    copy: Callable[..., None]

    def __init__(
        self,
        tars: "Sequence[TarBytes | JoinedBytes]",
        starts: Sequence[int],
        places: Mapping[str, int],
    ) -> None:
        """Read `tars`, each from its start on; the last of `starts` is the end.

        `places` are the numbers of the joined tars that have the members of an extension.
        """
        self._tars, self._starts, self._places = tars, starts, places
        self.path, self.error, self.copy = tars[0].path, tars[0].error, tars[0].copy

    def of_member(self, ext: str) -> "TarBytes | JoinedBytes":
        return self._tars[self._places.get(ext, 0)]

    @property
    def has_failed(self) -> bool:
        return any(tar.has_failed for tar in self._tars)

    def read(self, row: int, offset: int, size: int) -> memoryview:
        part = bisect_right(self._starts, offset, 0, len(self._tars)) - 1
        return self._tars[part].read(row, offset - self._starts[part], size)

    def read_ahead(self, row: int, offset: int, size: int) -> None:
        """Read bytes of the shard ahead, and the whole row of joined ones in a store."""
        self._tars[0].read_ahead(row, offset, size)
        for tar in self._tars[1:]:
            tar.read_ahead(row, 0, 0)
