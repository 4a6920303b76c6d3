"""The folder in the cache that looks like the dataset.

::

    FINGERPRINT/                      of dataset.json
      lease, boot                     see `quota`; identity of the boot, see `opening`
      turn, socket, waiting           see `turns`
      cached.indexes, cached.rows     see `files`
      dataset.json                    last, when all indexes are there
      [SPLIT/]shard-000000.tar        of its final size, with holes for missing samples; it is
                                      created when the shard is first needed

Guarantees: dataset.json appears with its content, and an index or a sample counts once it is marked
in `cached.rows`, after its bytes were checked and written. So a process that was killed leaves the
folder usable. Only one process at a time fetches samples into it, see `turns`; each fetches the
indexes of its split when it opens the dataset.
"""

import contextlib
import os
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np
from isal import isal_zlib
from numpy.typing import NDArray

from reader.cache.files import CachedFiles
from reader.cache.own_files import check_own, open_own
from reader.cache.presence import PresenceMap
from reader.cache.quota import BLOCK, DiskQuota
from reader.cache.ranges import Spans
from reader.errors import StoreError
from reader.format.files import most_open_files, reason_of

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

    def __del__(self) -> None:
        if hasattr(self, "file"):
            os.close(self.file)

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
        """Return about the bytes of disk that adjacent rows take."""
        size = int(self.spans.end[stop - 1] - self.spans.begin[first])
        return -(-size // BLOCK) * BLOCK + BLOCK * (stop - first == 1)

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

    def evict(self, first: int, stop: int, quota: DiskQuota) -> int:
        """Evict adjacent rows; return the freed bytes."""
        for row in range(first, stop):
            self.rows.clear(row)
        return quota.release(self.file, *self._own_blocks(first, stop))

    def trim(self, quota: DiskQuota) -> None:
        """Free what a killed process reserved, or had not freed yet."""
        if not (allocated := quota.blocks(self.file)):
            return
        begin, end = self.spans
        held = self.rows.held()
        edges = np.flatnonzero(np.diff(held, prepend=False, append=False)).reshape(-1, 2)
        firsts, lasts = edges[:, 0], edges[:, 1] - 1
        covered = -(-end[lasts] // BLOCK) - begin[firsts] // BLOCK
        if allocated > (int(covered.sum()) + 2) * BLOCK:
            for first, stop in zip([0, *edges[:, 1]], [*firsts, len(held)], strict=True):
                if first < stop:
                    quota.release(self.file, *self._own_blocks(int(first), int(stop)))

    def _own_blocks(self, first: int, stop: int) -> tuple[int, int]:
        """Return the range of whole blocks that have bytes of these rows, and of no others."""
        begin, end = self.spans
        start, last = int(begin[first]) // BLOCK * BLOCK, -(-int(end[stop - 1]) // BLOCK) * BLOCK
        # The blocks at both ends may have other rows' bytes, present or being fetched.
        before = int(np.searchsorted(end, start, side="right"))
        behind = int(np.searchsorted(begin, last, side="left"))
        if self._is_used(before, first):
            start += BLOCK
        if self._is_used(stop, behind):
            last -= BLOCK
        return start, max(start, last)

    def _is_used(self, first: int, stop: int) -> bool:
        return bool(self.rows.held(first, stop).any()) or any(
            row in self.coming for row in range(first, stop)
        )


def _opened(folder: Path, tar: Path) -> int:
    with contextlib.suppress(FileNotFoundError):
        if tar.parent != folder:
            check_own(tar.parent)
        return open_own(tar)
    tar.parent.mkdir(parents=True, exist_ok=True)
    return open_own(tar)


class Mirror:
    """The folder of one dataset, all splits; leased by `opening`."""

    def __init__(self, files: CachedFiles, quota: DiskQuota) -> None:
        self.folder = files.folder
        self.shards = files.shards
        self._files = files
        self._quota = quota
        self._rows = files.all_rows()
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
        """Return the shards that have rows in the cache."""
        count = len(self.shards)  # marks of indexes come first
        rows = np.flatnonzero(self._rows.held(count)) + count
        return np.unique(np.searchsorted(self._files.rows, rows, side="right") - 1).tolist()

    def coming(self, number: int) -> set[int]:
        """Return the rows of a shard that are being fetched."""
        shard = self._open.get(number)
        return set() if shard is None else shard.coming

    def rows(self, number: int) -> PresenceMap:
        return self._rows.part(int(self._files.rows[number]), self.shards[number].samples)

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
