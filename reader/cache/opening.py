"""Create the folder of a dataset in the cache, with dataset.json and the indexes.

After the machine crashed, files may have their size but wrong bytes. So indexes are verified once
after each boot, and samples before they are read. Removed or truncated files are created again, and
what they had is fetched again.
"""

import asyncio
import contextlib
import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from reader.cache.files import INDEXES, ROWS, CachedFiles, is_index
from reader.cache.own_files import create_own, open_own
from reader.cache.presence import PresenceMap
from reader.cache.quota import DiskQuota, locked
from reader.cache.ranges import check_limit, index_runs, kept_bytes
from reader.cache.turns import ask_for_room
from reader.errors import StoreError
from reader.format import FormatError, Manifest, ShardEntry
from reader.format.manifest import FILENAME, JOINED, MAX_BYTES
from reader.store.client import Store
from reader.store.errors import Missing
from reader.store.limits import PART

_AT_ONCE = 32  # indexes
_UNDER_WAY = 256 << 20  # bytes of them, in memory
_BOOT = Path("/proc/sys/kernel/random/boot_id")
_LAYOUT = b"3"  # of the folder: each has folders of its own


class Place(NamedTuple):
    """The folder of a dataset in the cache, leased by an open descriptor."""

    folder: Path
    manifest: Manifest
    lease: int


async def opened(
    store: Store, quota: DiskQuota, split: str | None, coming: Callable[[int, int], None]
) -> Place:
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
    # Once, before locks are held: the others leave the room to this process for a while.
    await asyncio.to_thread(ask_for_room, quota, folder, kept_bytes(shards) + len(text))
    files = CachedFiles.of(folder, manifest, split)
    _recover(folder, manifest, text, quota)
    marks = PresenceMap.open(folder / ROWS, len(manifest.shards), is_writable=True)
    places = zip(files.numbers.tolist(), files.indexes.starts, strict=True)
    there = marks.present()
    lacking = {
        shard.file: place
        for shard, place in zip(shards, places, strict=True)
        if not there[place[0]]
    }
    done = len(shards) - len(lacking)
    largest = max((shard.index_bytes for shard in shards), default=1)
    gate = asyncio.Semaphore(max(1, min(_AT_ONCE, _UNDER_WAY // max(largest, PART))))
    size = sum(shard.index_bytes for shard in manifest.shards)

    async def fetch(file: int, start: int, some: list[ShardEntry]) -> None:
        nonlocal done
        async with gate:
            joined = await _joined(store, start, some, size) if len(some) > 1 else {}
            at = [lacking[shard.file][1] for shard in some]
            content = bytearray(at[-1] + some[-1].index_bytes - at[0])
            quota.reserve(file, at[0], at[0] + len(content))
            for shard, first in zip(some, at, strict=True):
                index = joined.get(shard.file) or await _index(store, shard)
                content[first - at[0] : first - at[0] + len(index)] = index
            os.pwrite(file, content, at[0])
            for shard in some:
                marks.fill(lacking[shard.file][0])
            done += len(some)
            coming(done, len(shards))

    with open(open_own(folder / INDEXES), "r+b", buffering=0) as file:
        runs = index_runs(manifest, lacking)
        await asyncio.gather(*(fetch(file.fileno(), *run) for run in runs))
    _write(quota, folder / FILENAME, text)
    quota.count()
    return Place(folder, manifest, lease)


async def _joined(
    store: Store, start: int, shards: list[ShardEntry], size: int
) -> dict[str, memoryview]:
    """Those indexes that lie side by side in `JOINED` as dataset.json says; it may be outdated."""
    found = {}
    with contextlib.suppress(StoreError, Missing):
        stop = start + sum(shard.index_bytes for shard in shards)
        content = memoryview(await store.part(JOINED, start, stop, size))
        for shard in shards:
            index, content = content[: shard.index_bytes], content[shard.index_bytes :]
            if is_index(shard, index):
                found[shard.file] = index
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
    with quota.held():
        if path.exists():  # another process was faster
            return
        with open(create_own(part), "r+b") as file:
            quota.reserve(file.fileno(), 0, len(content))
            file.write(content)
        part.rename(path)


def _recover(folder: Path, manifest: Manifest, text: bytes, quota: DiskQuota) -> None:
    """Create missing files, and invalidate damaged ones; `text` is that of dataset.json."""
    boot, path = _BOOT.read_bytes(), folder / "boot"
    with open(open_own(path), "r+b", buffering=0) as file, locked(file.fileno(), path):
        is_new = file.read() != boot
        if _content(folder / FILENAME) != text:  # its folder's name is that of this text
            (folder / FILENAME).unlink(missing_ok=True)
        files = CachedFiles.of(folder, manifest)
        _create_rows(folder / ROWS, files.sizes[1], quota)
        if is_new:
            files.all_rows().invalidate()
        _check_indexes(files)
        if is_new:
            file.truncate(0)
            os.pwrite(file.fileno(), boot, 0)


def _create_rows(path: Path, size: int, quota: DiskQuota) -> None:
    with contextlib.suppress(FileNotFoundError):
        if path.stat().st_size == size:
            return
        path.unlink()  # others may have it mapped
    part = path.with_name(f"{path.name}.part")
    with open(create_own(part), "r+b") as file:
        quota.reserve(file.fileno(), 0, size)  # a mapping could not tell that the disk is full
        file.truncate(size)
        part.rename(path)


def _check_indexes(files: CachedFiles) -> None:
    """Create the file of the indexes, and verify those that were there when the machine crashed."""
    marks = PresenceMap.open(files.folder / ROWS, len(files.shards), is_writable=True)
    with open(open_own(files.folder / INDEXES), "r+b", buffering=0) as file:
        if os.fstat(file.fileno()).st_size != files.sizes[0]:
            marks.clear_all()
            file.truncate(files.sizes[0])
        for number in marks.unverified(0, len(files.shards)):
            shard = files.shards[number]
            content = os.pread(file.fileno(), shard.index_bytes, files.indexes.starts[number])
            (marks.fill if is_index(shard, content) else marks.clear)(number)


def _content(path: Path) -> bytes:
    with contextlib.suppress(FileNotFoundError):
        return path.read_bytes()
    return b""
