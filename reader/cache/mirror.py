"""The folder in the cache that looks like the dataset.

::

    FINGERPRINT/                      of dataset.json
      lease, boot                     see `quota`; identity of the boot, see `opening`
      turn, socket, waiting           see `turns`
      cached.*                        see `files`
      dataset.json                    last, when all indexes are there
      [SPLIT/]shard-000000.tar        of its final size, with holes for missing samples; it is
                                      created when the shard is first needed

Guarantees: dataset.json appears with its content, and an index or a sample counts once it is marked
in `cached.rows`, after its bytes were checked and written. So a process that was killed leaves the
folder usable: the next one begins with an empty transit window. Only one process at a time fetches
samples into it, see `turns`; each fetches the indexes of its split when it opens the dataset.
"""

import contextlib
import mmap
import os
from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np
from isal import isal_zlib
from numpy.typing import NDArray

from reader.cache.files import PLACE_BYTES, PLACES, WINDOW, CachedFiles
from reader.cache.own_files import check_own, open_own
from reader.cache.presence import MOVED, PresenceMap
from reader.cache.quota import BLOCK, DiskQuota
from reader.cache.ranges import Spans
from reader.errors import StoreError
from reader.format.files import map_part, most_open_files, reason_of

_SHARE = 8  # one shard for every eight descriptors


class MirroredShard:
    def __init__(self, files: CachedFiles, number: int, rows: PresenceMap) -> None:
        """Open a shard, and create its tar if it is missing or truncated.

        Raises:
            FormatError: the index is damaged.
            StoreError: the tar cannot be opened or created.
        """
        self.entry = entry = files.shards[number]
        self.index = files.index(number)
        self.rows = rows
        self.coming: set[int] = set()  # rows that are being fetched
        tar = files.folder / entry.file
        try:
            self.file = _opened(files.folder, tar)
            if os.fstat(self.file).st_size != entry.bytes:
                self.rows.clear_all()  # first: a reader requires the size
                os.ftruncate(self.file, entry.bytes)
        except OSError as error:
            raise StoreError(
                f"{tar} cannot be opened: {reason_of(error)}. If the disk is full, free space, or "
                "give another cache_dir=."
            ) from error

    def __del__(self, close: Callable[[int], None] = os.close) -> None:
        # `os` may be gone when the interpreter ends.
        if "file" in self.__dict__:
            close(self.file)

    @cached_property
    def spans(self) -> Spans:
        return Spans.of(self.index)

    @cached_property
    def checksums(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]]:
        """Offsets, sizes and crc32 of images if there are any, and of members that have them."""
        columns = self.index.columns
        parts = [""] * self.index.has_images
        parts += [f"{ext}." for ext in self.index.members if f"{ext}.crc32" in columns]
        return [
            (columns[f"{part}offset"], columns[f"{part}size"], columns[f"{part}crc32"])
            for part in parts
        ]

    def size(self, first: int, stop: int) -> int:
        """Return the bytes of disk that adjacent rows take at most."""
        size = int(self.spans.end[stop - 1] - self.spans.begin[first])
        return -(-size // BLOCK) * BLOCK + BLOCK

    def damaged(self, first: int, stop: int, content: memoryview, start: int) -> list[int]:
        """Return the rows that contradict the index; `content` begins at `start` in the tar."""
        found = []
        for row in range(first, stop):
            for offsets, sizes, sums in self.checksums:
                at = int(offsets[row]) - start
                if at >= 0 and isal_zlib.crc32(content[at : at + int(sizes[row])]) != int(
                    sums[row]
                ):
                    found.append(row)
                    break
        return found

    def verify(self, first: int, stop: int) -> None:
        """Check the rows that were present when the machine crashed."""
        begin, end = self.spans
        for row in self.rows.unverified(first, stop):
            start, size = int(begin[row]), int(end[row] - begin[row])
            content = memoryview(os.pread(self.file, size, start))
            if len(content) < size or self.damaged(row, row + 1, content, start):
                self.rows.clear(row)
            else:
                self.rows.fill(row)

    def evict(self, rows: Sequence[int], quota: DiskQuota) -> int:
        """Evict rows; return the freed bytes."""
        for row in rows:
            self.rows.clear(row)
        first, last = int(self.spans.begin[rows[0]]), int(self.spans.end[rows[-1]])
        holes = [hole for hole in self._holes() if hole[0] < last and hole[1] > first]
        return sum(quota.release(self.file, *hole) for hole in holes)

    def trim(self, quota: DiskQuota) -> None:
        """Free what a killed process reserved."""
        holes = self._holes()
        if quota.blocks(self.file) > holes[-1][1] - sum(stop - start for start, stop in holes):
            for hole in holes:
                quota.release(self.file, *hole)

    def _holes(self) -> list[tuple[int, int]]:
        """Return the ranges of blocks between the rows that are there or come."""
        begin, end = self.spans
        used = self.rows.held()
        used[[*self.coming]] = True
        edges = np.flatnonzero(np.diff(used, prepend=False, append=False))
        starts = [0, *(-(-end[edges[1::2] - 1] // BLOCK) * BLOCK).tolist()]
        stops = [
            *(begin[edges[::2]] // BLOCK * BLOCK).tolist(),
            -(-self.entry.bytes // BLOCK) * BLOCK,
        ]
        return [*zip(starts, stops, strict=True)]


def _opened(folder: Path, tar: Path) -> int:
    with contextlib.suppress(FileNotFoundError):
        if tar.parent != folder:
            check_own(tar.parent)
        return open_own(tar)
    tar.parent.mkdir(parents=True, exist_ok=True)
    return open_own(tar)


class Mirror:
    """The folder of one dataset, all splits; leased by `opening`, filled by its only user."""

    def __init__(self, files: CachedFiles, quota: DiskQuota) -> None:
        self.folder = files.folder
        self.shards = files.shards
        self._files = files
        self._quota = quota
        self._rows = files.all_rows()
        self._rows.clear_all(MOVED)
        self.window = _sized(files.folder / WINDOW, files.sizes[2] + 2 * BLOCK)
        self._places_file = _sized(files.folder / PLACES, files.sizes[1] * PLACE_BYTES)
        self._open: OrderedDict[int, MirroredShard] = OrderedDict()
        self._most = max(most_open_files() // _SHARE, 1)
        self._seen: set[int] = set()
        self._numbers: dict[str | None, list[int]] = {}

    def numbers(self, split: str | None) -> Sequence[int]:
        """Return the numbers of a split's shards."""
        if split not in self._numbers:
            shards = enumerate(self.shards)
            self._numbers[split] = [n for n, shard in shards if split in (None, shard.split)]
        return self._numbers[split]

    def held(self) -> list[int]:
        """Return the shards that have rows in their tars."""
        count = len(self.shards)  # marks of indexes come first
        rows = np.flatnonzero(self._rows.held(count)) + count
        return np.unique(np.searchsorted(self._files.rows, rows, side="right") - 1).tolist()

    @cached_property
    def places(self) -> NDArray[np.int32]:
        """The places of all rows in the transit window."""
        size = self._files.sizes[1] * PLACE_BYTES
        return np.frombuffer(map_part(self._places_file, 0, size, mmap.ACCESS_WRITE), np.int32)

    def reserve_places(self, numbers: Sequence[int], make_room: Callable[[int], int]) -> None:
        """Reserve the disk space for places of some shards: a mapping could not tell it is full."""
        last = max(numbers)
        start, stop = self.start(min(numbers)), self.start(last) + self.shards[last].samples
        if self._quota.blocks(self._places_file) < (stop - start) * PLACE_BYTES:
            span = start * PLACE_BYTES, stop * PLACE_BYTES
            self._quota.reserve(self._places_file, *span, make_room)

    def start(self, number: int) -> int:
        """Return where the rows of a shard begin among all."""
        return int(self._files.rows[number])

    def rows(self, number: int) -> PresenceMap:
        return self._rows.part(self.start(number), self.shards[number].samples)

    def shard(self, number: int) -> MirroredShard:
        shard = self._open.get(number)
        if shard is None:
            shard = self._open[number] = MirroredShard(self._files, number, self.rows(number))
            if number not in self._seen:
                self._seen.add(number)
                shard.trim(self._quota)
            idle = (at for at, other in self._open.items() if not other.coming and at != number)
            for at in list(islice(idle, max(0, len(self._open) - self._most))):
                del self._open[at]
        self._open.move_to_end(number)
        return shard


def _sized(path: Path, size: int) -> int:
    """Open a file, and create it with its size if it has another."""
    file = open_own(path)
    if os.fstat(file).st_size != size:
        os.ftruncate(file, size)
    return file
