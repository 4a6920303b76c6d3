"""A file of many indexes, which a process maps once, and of which it checks each index once."""

import mmap
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reader.format.checksum import checksum_of
from reader.format.files import open_regular
from reader.format.index import Index
from reader.format.manifest import ShardEntry


class IndexFile:
    def __init__(self, path: Path, starts: Sequence[int]) -> None:
        """Map the file at the first use; each shard's index begins at one of `starts`."""
        self.path = path
        self.starts = starts
        self._init_own()

    def _init_own(self) -> None:
        self._map: mmap.mmap | None = None
        self._written = 0  # when, in ns
        self._checked = bytearray(len(self.starts))

    def __getstate__(self) -> tuple[Path, Sequence[int]]:
        return self.path, self.starts

    def __setstate__(self, state: tuple[Path, Sequence[int]]) -> None:
        self.path, self.starts = state
        self._init_own()

    def content(self, number: int, size: int) -> memoryview:
        """Return the bytes of an index; raise OSError or ValueError if the file ends before."""
        stop = self.starts[number] + size
        if self._map is None or min(len(self._map), self._map.size()) < stop:
            file = open_regular(self.path)
            try:
                self._map = mmap.mmap(file, 0, access=mmap.ACCESS_READ)
                self._written = os.fstat(file).st_mtime_ns
            finally:
                os.close(file)
            self._checked = bytearray(len(self.starts))
            if len(self._map) < stop:
                raise ValueError("it is truncated")
        return memoryview(self._map)[self.starts[number] : stop]

    def index(self, number: int, folder: Path, shard: ShardEntry, **others: Any) -> Index:
        """Return an index as `Index.of_shard` does."""
        content, start = self.content(number, shard.index_bytes), self.starts[number]
        others["is_checked"] = bool(self._checked[number])
        found = Index.of_shard(folder, shard, content=content, start=start, **others)
        self._checked[number] = True
        return found

    def is_current(self, number: int, folder: Path, shard: ShardEntry) -> bool:
        """Whether it has the index that a shard in `folder` has now."""
        content = self.content(number, shard.index_bytes)
        if os.stat(folder / shard.index).st_mtime_ns > self._written:  # the shard was replaced
            return False
        return bool(self._checked[number]) or checksum_of(content) == shard.index_checksum
