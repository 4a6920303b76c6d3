"""Brings parts of shards from the store into the cache.

Guarantees: rows are marked as there when their checksums were found right, and space is taken
before bytes come.
"""

import asyncio
import os
import time
from collections import Counter
from functools import partial

import xxhash

from reader.cache.eviction import Eviction
from reader.cache.messages import Lost
from reader.cache.mirror import MirroredShard
from reader.cache.quota import DiskQuota
from reader.cache.ranges import Part
from reader.errors import StoreError
from reader.format.checksum import PREFIX, checksum
from reader.store.client import Store
from reader.store.limits import PART

_WRITTEN = 1 << 17  # bytes at a time; for more, a system may take pages of a cost of their own
_TRIES = 3  # of bytes that are not what the index says
_ELSEWHERE = 0.02  # seconds between two looks at what another process is fetching
_PATIENCE = 90.0  # seconds for it to get done: more than a store is usually waited for


class PartFetcher:
    """Fetches parts, each of rows that this process does not fetch already."""

    def __init__(self, store: Store, quota: DiskQuota, eviction: Eviction) -> None:
        self.fetched = 0
        self._store = store
        self._quota = quota
        self._eviction = eviction
        self._wholes: Counter[int] = Counter()  # bytes that came of shards that come whole

    def begin(self, parts: list[tuple[MirroredShard, Part]]) -> set[Part]:
        """Claim parts and reserve their space, of all at once; return those that may come now."""
        claimed = [(shard, part) for shard, part in parts if shard.rows.claim(*part[1:3])]
        make_room = partial(self._eviction.make_room, is_urgent=False)
        try:
            if claimed:
                self._quota.reserve_all([_range(*each) for each in claimed], make_room)
        except StoreError:  # each finds out by itself whether there is room for it
            return set()
        return {part for _, part in claimed}

    async def fetch(self, shard: MirroredShard, part: Part, *, is_begun: bool) -> dict[int, Lost]:
        """Fetch a part, check and write it; return which rows are not what was packed."""
        if not is_begun:
            await self._claim(shard, part)
        if not shard.rows.absent(part.first, part.stop):
            return {}
        file, start, stop = _range(shard, part)
        if not is_begun:
            make_room = partial(self._eviction.make_room, is_urgent=part.last < 0)
            self._quota.reserve(file, start, stop, make_room)
        name, size = shard.entry.file, shard.entry.bytes
        for _ in range(_TRIES):
            content = await self._store.part(name, start, stop, size)
            damaged = set(shard.damaged(part.first, part.stop, content, start))
            if not damaged:
                break
        for at in range(0, len(content), _WRITTEN):
            os.pwrite(file, content[at : at + _WRITTEN], start + at)
        for row in range(part.first, part.stop):
            if row not in damaged:
                shard.rows.fill(row)
        self.fetched += part.stop - part.first
        if part.is_whole:
            await self._check_whole(shard, part, stop - start)
        return {row: self._lost(shard, row) for row in damaged}

    async def _claim(self, shard: MirroredShard, part: Part) -> None:
        until = time.monotonic() + _PATIENCE
        while not shard.rows.claim(part.first, part.stop):
            if time.monotonic() > until:
                raise StoreError(
                    f"{self._store.url}/{shard.entry.file}: another process that reads with this "
                    f"cache has been fetching it for {_PATIENCE:.0f} seconds. Is it stopped?"
                )
            await asyncio.sleep(_ELSEWHERE)
            if not shard.rows.absent(part.first, part.stop):
                return

    def _lost(self, shard: MirroredShard, row: int) -> Lost:
        return Lost(
            f"{self._store.url}/{shard.entry.file}: sample {shard.index.key(row)!r} at byte "
            f"{int(shard.index.columns['offset'][row])}: the store gives other bytes than were "
            f"packed, also when asked {_TRIES} times. Upload the shard anew.",
            True,
        )

    async def _check_whole(self, shard: MirroredShard, part: Part, size: int) -> None:
        self._wholes[part.shard] += size
        if self._wholes[part.shard] != shard.entry.bytes:
            return
        del self._wholes[part.shard]
        found = await asyncio.to_thread(_checksum, shard.file)
        # Where something was evicted meanwhile, its rows say so.
        is_known = shard.entry.checksum.startswith(PREFIX)
        if is_known and found != shard.entry.checksum and shard.rows.present().all():
            for row in range(shard.entry.samples):
                shard.rows.clear(row)
            raise StoreError(
                f"{self._store.url}/{shard.entry.file} has other bytes between its samples than "
                "were packed. Upload the shard anew."
            )


def _range(shard: MirroredShard, part: Part) -> tuple[int, int, int]:
    """The file that a part is for, and where in it the part begins and ends."""
    spans = shard.spans.wholly(shard.entry.bytes) if part.is_whole else shard.spans
    return shard.file, int(spans.begin[part.first]), int(spans.end[part.stop - 1])


def _checksum(file: int) -> str:
    found, at = xxhash.xxh3_128(), 0
    while content := os.pread(file, PART, at):
        found.update(content)
        at += len(content)
    return checksum(found)
