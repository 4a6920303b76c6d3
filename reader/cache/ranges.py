"""The requests for samples of shards, and the minimum size of a cache (pure).

Used to fetch, and to estimate costs in advance.
"""

from collections.abc import Container, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reader.cache.quota import BLOCK
from reader.errors import StoreError
from reader.format import Index, Manifest, ShardEntry
from reader.store.limits import PART

_AHEAD = 256 << 20  # bytes that are fetched ahead while there is room
_TRANSIT = 64 << 20  # bytes of a transit window that is no large part of a cache
_SHARE = 8  # one part in so many of a cache is no large one
_LATE = 16 << 20  # bytes that a fast reader reads while a request is answered
_LOST = 4  # samples whose bytes are lost between parts of a transit window
_BATCH = 256  # samples, assumed twice while the order is unknown
_OWN = 8  # blocks for the account, the lease, the boot's identity and their folders
_EXTENTS = 64  # samples whose extents need at most one block of metadata


class Part(NamedTuple):
    shard: int
    first: int
    stop: int
    last: int = -1  # see `Piece`; -1 if a client waits for it


class Spans(NamedTuple):
    begin: NDArray[np.int64]
    end: NDArray[np.int64]

    @classmethod
    def of(cls, index: Index) -> "Spans":
        columns, none = index.columns, np.zeros(len(index), np.int64)
        begin = columns.get("offset", none + index.tar_bytes).astype(np.int64)
        end = (columns["offset"] + columns["size"]).astype(np.int64) if index.has_images else none
        for ext in index.members:
            offset = columns[f"{ext}.offset"].astype(np.int64)
            stop = offset + columns[f"{ext}.size"].astype(np.int64)
            begin = np.where(offset > 0, np.minimum(begin, offset), begin)
            end = np.where(offset > 0, np.maximum(end, stop), end)
        if not index.has_images:  # a row without a member has the byte behind the rows before it
            behind, is_empty = np.maximum.accumulate(end), end == 0
            begin, end = np.where(is_empty, (behind, behind + 1), (begin, end))
        return cls(begin, end)

    def cut(self, part: Part) -> Iterator[Part]:
        first = part.first
        if part.stop - first == 1:
            yield part
            return
        while first < part.stop:
            reach = int(self.begin[first]) + PART
            stop = int(np.searchsorted(self.end[first : part.stop], reach, side="right")) + first
            stop = max(stop, first + 1)
            yield part._replace(first=first, stop=stop)
            first = stop


class Window(NamedTuple):
    """The transit window of an order, in bytes.

    A step is decoded while the next one is there and the one after it comes. If the order is by
    shard, all shards of a window are there from its first step to its last.
    """

    least: int  # that it has to have
    transit: int  # that it has in a cache of a limit
    ahead: int  # that are fetched ahead
    lost: int = 0  # between parts

    @classmethod
    def of(cls, ahead: Any, shards: Sequence[ShardEntry]) -> "Window":
        sizes = sorted((_on_disk(shard) for shard in shards), reverse=True)
        mean = sum(sizes) // max(sum(shard.samples for shard in shards), 1) + BLOCK
        if ahead.by_shard:
            following = 2 * ahead.steps.span // ahead.parts * mean
            following = max(following, min(_LATE, max(sizes)))
            least = sum(sizes[: 2 * ahead.open_shards]) + following
            own = sum(sizes) // ahead.parts + max(sizes)
        else:
            least, own = 3 * ahead.steps.batch_size * mean, sum(sizes)
        lost = _LOST * mean
        least = min(least + lost, own)
        return cls(least, max(least, _TRANSIT), max(least, _AHEAD), lost)

    @classmethod
    def usual(cls, room: int) -> int:
        """Return the bytes of the transit window if nothing needs a larger one."""
        return min(_TRANSIT, room // _SHARE)

    def within(self, shards: Sequence[ShardEntry], limit: int) -> "Window":
        """Return the window in a cache of a limit that has no room for all."""
        kept, whole = kept_bytes(shards), data_bytes(shards)
        least, room = min(self.least, whole), limit - kept
        if least > room:
            raise TooSmallCache(
                f"cache_limit={limit:,} is too small for the samples that are read at once: "
                f"{kept:,} bytes of indexes and {least:,} of samples. Give at least "
                f"cache_limit={kept + least}.",
                kept + least,
            )
        if whole <= room:
            return self
        transit = max(least, self.usual(room))
        return Window(least, transit, transit - self.lost)


class TooSmallCache(StoreError):
    def __init__(self, text: str, least: int = 0) -> None:
        super().__init__(text)
        self.least = least


def index_runs(
    manifest: Manifest, lacking: Container[str]
) -> Iterator[tuple[int, list[ShardEntry]]]:
    """Yield shards whose indexes one request brings, and where it begins in shards.index.

    `lacking` has the names of the tars whose indexes are needed.
    """
    run: list[ShardEntry] = []
    start = at = 0
    for shard in manifest.shards:
        end = at + shard.index_bytes
        if run and (shard.file not in lacking or not manifest.joined or end - start > PART):
            yield start, run
            run = []
        if shard.file in lacking:
            start = start if run else at
            run.append(shard)
        at = end
    if run:
        yield start, run


def check_limit(shards: Sequence[ShardEntry], manifest_bytes: int, limit: int) -> None:
    """Raise an error if a cache of `limit` bytes is too small for the indexes and samples."""
    kept = kept_bytes(shards) + manifest_bytes + _OWN * BLOCK
    total, samples = sum(s.bytes for s in shards), sum(s.samples for s in shards)
    read = total // max(samples, 1) + BLOCK
    if kept + min(total, read) > limit:
        enough = kept + min(total + samples * BLOCK, 2 * _BATCH * read)
        raise TooSmallCache(
            f"cache_limit={limit:,} is too small: indexes take {kept:,} bytes, and samples that "
            f"are read at once need more. Give at least cache_limit={enough}.",
            enough,
        )


def kept_bytes(shards: Sequence[ShardEntry]) -> int:
    """Return the bytes that a cache takes besides samples."""
    maps = sum(shard.index_bytes + 5 * shard.samples + 4 * BLOCK for shard in shards)
    return maps + metadata_bytes(shards)


def data_bytes(shards: Sequence[ShardEntry]) -> int:
    """Return the bytes that all samples of these shards take at most."""
    return sum(map(_on_disk, shards))


def _on_disk(shard: ShardEntry) -> int:
    """Return the bytes that a shard takes at most: each part has blocks of its own."""
    return shard.bytes + 2 * BLOCK * (2 + shard.bytes // PART)


def metadata_bytes(shards: Sequence[ShardEntry]) -> int:
    """Return the bytes of a file system's metadata for the extents of these tars."""
    return sum(BLOCK * (2 + shard.samples // _EXTENTS) for shard in shards)
