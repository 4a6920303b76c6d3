"""The folder in the cache that looks like the dataset.

::

    FINGERPRINT/                      of dataset.json
      lease, boot                     see `quota`; identity of the boot, see `recovery`
      cached.indexes, cached.rows     see `files`
      dataset.json                    last, when all indexes are there
      [SPLIT/]shard-000000.tar        of its final size, with holes for missing samples; it is
                                      created when the shard is first needed

Guarantees: dataset.json appears with its content, and an index or a sample counts once it is marked
in `cached.rows`, after its bytes were checked and written. So several processes may fill the folder
at once, and a killed one leaves it usable. The indexes of another split are fetched when it is
read.
"""

import asyncio
import contextlib
import fcntl
import hashlib
import os
from collections import OrderedDict
from collections.abc import Callable, Container, Iterator
from functools import cached_property
from itertools import islice
from pathlib import Path

import numpy as np
from isal import isal_zlib
from numpy.typing import NDArray

from reader.cache.files import INDEXES, ROWS, CachedFiles, is_index
from reader.cache.presence import PresenceMap
from reader.cache.quota import BLOCK, DiskQuota
from reader.cache.ranges import Spans, check_limit, index_runs, metadata_bytes
from reader.cache.recovery import recover
from reader.errors import ReaderError, StoreError
from reader.format import FormatError, Manifest, ShardEntry
from reader.format.files import most_open_files, reason_of
from reader.format.manifest import FILENAME, JOINED, MAX_BYTES
from reader.store.client import Store
from reader.store.errors import Missing
from reader.store.limits import PART

_AT_ONCE = 32  # indexes
_UNDER_WAY = 256 << 20  # bytes of them, in memory
_SHARE = 8  # one shard for every eight descriptors
_LAYOUT = b"2"  # of the folder: each has folders of its own


class MirroredShard:
    def __init__(self, files: CachedFiles, number: int) -> None:
        """Open a shard, and create its tar if it is missing or truncated.

        Raises:
            FormatError: the index is damaged.
            ReaderError: the presence map cannot be read.
            StoreError: the tar cannot be opened or created.
        """
        self.entry = entry = files.shards[number]
        self.index = files.index(number)
        self.rows = files.presence(number, is_writable=True)
        self.busy = 0
        tar = files.folder / entry.file
        try:
            self.file = _opened(tar)
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

    def evict(self, row: int, quota: DiskQuota, is_busy: Callable[[int], bool]) -> int:
        """Evict a row, unless another process fetches it; return the freed bytes."""
        begin, end = self.spans
        start, stop = int(begin[row]), int(end[row])
        outer = start - start % BLOCK, stop + -stop % BLOCK
        # The blocks at both ends may have other rows' bytes, present or being fetched.
        first = int(np.searchsorted(end, outer[0], side="right"))
        last = int(np.searchsorted(begin, outer[1], side="left"))
        if not self.rows.claim(row, row + 1):
            return 0
        if not self.rows.holds(row, row + 1):  # another process evicted it
            self.rows.release(row, row + 1)
            return 0
        if self._claim_empty(first, row, is_busy):
            start = outer[0]
        else:
            first = row
        if self._claim_empty(row + 1, last, is_busy):
            stop = outer[1]
        else:
            last = row + 1
        self.rows.clear(row)
        given = quota.release(self.file, start, stop)
        self.rows.release(first, last)
        return given

    def _claim_empty(self, first: int, stop: int, is_busy: Callable[[int], bool]) -> bool:
        """Claim rows, if this process fetches none and, under the claim, none is present."""
        if first == stop:
            return True
        if any(map(is_busy, range(first, stop))) or not self.rows.claim(first, stop):
            return False
        if not self.rows.holds(first, stop):
            return True
        self.rows.release(first, stop)
        return False


def _opened(tar: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
    with contextlib.suppress(FileNotFoundError):
        return os.open(tar, flags, 0o666)
    tar.parent.mkdir(parents=True, exist_ok=True)
    return os.open(tar, flags, 0o666)


class Mirror:
    """The folder of one dataset, leased while this object exists."""

    def __init__(self, files: CachedFiles, lease: int) -> None:
        self.folder = files.folder
        self.shards = files.shards
        self.present = files.present
        self._files = files
        self._lease = lease
        self._open: OrderedDict[int, MirroredShard] = OrderedDict()
        self._most = max(most_open_files() // _SHARE, 1)

    def shard(self, number: int) -> MirroredShard:
        shard = self._open.get(number)
        if shard is None:
            shard = self._open[number] = MirroredShard(self._files, number)
            idle = (at for at, other in self._open.items() if not other.busy and at != number)
            for at in list(islice(idle, max(0, len(self._open) - self._most))):
                del self._open[at]
        self._open.move_to_end(number)
        return shard


def shards_of(folder: Path, but: Container[ShardEntry] = ()) -> Iterator[MirroredShard]:
    """Yield the shards of a folder that have samples in it."""
    with contextlib.suppress(FormatError, ReaderError):
        files = CachedFiles.of(folder, Manifest.load(folder))
        for number, present in enumerate(files.present()):
            if files.shards[number] not in but and present.any():
                with contextlib.suppress(FormatError, ReaderError):
                    yield MirroredShard(files, number)


async def mirrored(
    store: Store, quota: DiskQuota, split: str | None, coming: Callable[[int, int], None]
) -> Mirror:
    """Create the folder, with the indexes of a split; report their number to `coming`."""
    try:
        text = await store.whole(FILENAME, MAX_BYTES)
    except Missing:
        raise FormatError(
            f"{store.url} is not a dataset: it has no {FILENAME}, or needs credentials. Check the "
            "URL, or give reader.Dataset storage_options=."
        ) from None
    manifest = Manifest.parse(text, f"{store.url}/{FILENAME}")
    shards = [shard for shard in manifest.shards if split in (None, shard.split)]
    check_limit(shards, len(text), quota.limit)
    name = hashlib.blake2b(text, digest_size=16, person=_LAYOUT).hexdigest()
    folder, lease = quota.lease(name)
    files = CachedFiles.of(folder, manifest, split)
    recover(folder, manifest, text, quota)
    marks = PresenceMap(folder / ROWS, len(manifest.shards), is_writable=True)
    places = zip(files.numbers.tolist(), files.indexes.tolist(), strict=True)
    there = marks.present()
    lacking = {
        shard: place for shard, place in zip(shards, places, strict=True) if not there[place[0]]
    }
    done = len(shards) - len(lacking)
    largest = max((shard.index_bytes for shard in shards), default=1)
    gate = asyncio.Semaphore(max(1, min(_AT_ONCE, _UNDER_WAY // max(largest, PART))))
    size = sum(shard.index_bytes for shard in manifest.shards)

    async def fetch(file: int, start: int, some: list[ShardEntry]) -> None:
        nonlocal done
        async with gate:
            joined = await _joined(store, start, some, size) if len(some) > 1 else {}
            stop = lacking[some[-1]][1] + some[-1].index_bytes
            quota.reserve(file, lacking[some[0]][1], stop)
            for shard in some:
                content = joined.get(shard) or await _index(store, shard)
                number, at = lacking[shard]
                os.pwrite(file, content, at)
                marks.fill(number)
                done += 1
                coming(done, len(shards))

    with open(folder / INDEXES, "r+b", buffering=0) as file:
        runs = index_runs(manifest, lacking)
        await asyncio.gather(*(fetch(file.fileno(), *run) for run in runs))
    _write(quota, folder / FILENAME, text)
    quota.count()
    quota.margin = metadata_bytes(shards)
    return Mirror(files, lease)


async def _joined(
    store: Store, start: int, shards: list[ShardEntry], size: int
) -> dict[ShardEntry, bytes]:
    """Those indexes that lie side by side in `JOINED` as dataset.json says; it may be outdated."""
    found = {}
    with contextlib.suppress(StoreError, Missing):
        stop = start + sum(shard.index_bytes for shard in shards)
        content = await store.part(JOINED, start, stop, size)
        for shard in shards:
            index, content = bytes(content[: shard.index_bytes]), content[shard.index_bytes :]
            if is_index(shard, index):
                found[shard] = index
    return found


async def _index(store: Store, shard: ShardEntry) -> bytes:
    try:
        content = await store.whole(shard.index, shard.index_bytes)
    except Missing:
        raise FormatError(
            f"{store.url}/{shard.index} does not exist, but {FILENAME} lists it. Upload the file."
        ) from None
    if not is_index(shard, content):
        raise FormatError(
            f"{store.url}/{shard.index} is not the index that {FILENAME} describes: it is damaged, "
            "or the dataset is being replaced. Upload the file again."
        )
    return content


def _write(quota: DiskQuota, path: Path, content: bytes) -> None:
    """Create a file atomically, unless it exists; its temporary file has one name."""
    part = path.with_name(f"{path.name}.part")
    with open(os.open(part, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666), "r+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        if path.exists():  # another process was faster
            if not os.path.samestat(path.stat(), os.fstat(file.fileno())):
                part.unlink(missing_ok=True)
            return
        quota.reserve(file.fileno(), 0, len(content))
        file.write(content)
        file.truncate()
        file.flush()
        part.rename(path)
