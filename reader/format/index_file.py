"""A file of many indexes, which a process maps once, and of which it checks each index once."""

import mmap
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reader.format.checksum import checksum_of
from reader.format.files import open_regular
from reader.format.index import Index, Known
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
        self._known: dict[int, Known] = {}  # indexes that were checked
        self._trusted: dict[int, int] = {}  # when their tars were written, if later than the file

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
            self._known, self._trusted = {}, {}
            if len(self._map) < stop:
                raise ValueError("it is truncated")
        return memoryview(self._map)[self.starts[number] : stop]

    def index(self, number: int, folder: Path, shard: ShardEntry, **others: Any) -> Index:
        """Return an index as `Index.of_shard` does."""
        content, start = self.content(number, shard.index_bytes), self.starts[number]
        others |= {"content": content, "start": start, "known": self._known.get(number)}
        found = Index.of_shard(folder, shard, **others)
        self._known[number] = found.known
        return found

    def has(self, number: int, shard: ShardEntry) -> bool:
        """Whether it has the index of a shard that dataset.json describes."""
        if number in self._known:
            return True
        return checksum_of(self.content(number, shard.index_bytes)) == shard.index_checksum

    def is_older(self, number: int, written: int) -> bool:
        """Whether a tar that was written at this time, in ns, may not be the indexed one."""
        return written > self._trusted.get(number, self._written)

    def trust(self, number: int, written: int) -> None:
        self._trusted[number] = written
