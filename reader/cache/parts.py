"""Fetch parts of shards from the store into the cache.

Guarantees: rows are marked as present only after their checksums match, and disk space is reserved
before bytes are fetched.
"""

import asyncio
import os
import time
from collections import Counter
from functools import partial

import xxhash

from reader.cache.eviction import Eviction
from reader.cache.messages import Unavailable
from reader.cache.mirror import MirroredShard
from reader.cache.quota import DiskQuota
from reader.cache.ranges import Part
from reader.errors import StoreError
from reader.format.checksum import PREFIX, checksum
from reader.store.client import Store

_WRITTEN = 1 << 17  # bytes of a write; larger ones may take costly pages of a system
_READ = 1 << 18  # bytes of a read that is only hashed: they stay in the processor's cache
_TRIES = 3  # if checksums do not match
_ELSEWHERE = 0.02  # seconds between two checks of another process's fetching
_PATIENCE = 90.0  # seconds for another process: longer than a store usually takes


class PartFetcher:
    def __init__(self, store: Store, quota: DiskQuota, eviction: Eviction) -> None:
        self.fetched = 0
        self._store = store
        self._quota = quota
        self._eviction = eviction
        self._wholes: Counter[int] = Counter()  # fetched bytes of shards that are fetched whole

    def begin(self, parts: list[tuple[MirroredShard, Part]]) -> set[Part]:
        """Claim parts and reserve their space together; return those that are ready."""
        claimed = [(shard, part) for shard, part in parts if shard.rows.claim(*part[1:3])]
        make_room = partial(self._eviction.make_room, is_urgent=False)
        try:
            if claimed:
                self._quota.reserve_all([_range(*each) for each in claimed], make_room)
        except StoreError:  # `fetch` then reserves each alone, and raises for that one
            return set()
        return {part for _, part in claimed}

    async def fetch(
        self, shard: MirroredShard, part: Part, *, is_begun: bool
    ) -> dict[int, Unavailable]:
        """Fetch a part, check and write it; return its damaged rows."""
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
            content = memoryview(b"")  # of rows without a member, in a shard that is fetched whole
            if stop > start:
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
                    f"{self._store.url}/{shard.entry.file}: another process with this cache has "
                    f"been fetching it for {_PATIENCE:.0f} seconds. Check that it is not stopped, "
                    "or give another cache_dir=."
                )
            await asyncio.sleep(_ELSEWHERE)
            if not shard.rows.absent(part.first, part.stop):
                return

    def _lost(self, shard: MirroredShard, row: int) -> Unavailable:
        offset = shard.index.columns.get("offset", shard.spans.begin)[row]
        return Unavailable(
            f"{self._store.url}/{shard.entry.file}: sample {shard.index.key(row)!r} at byte "
            f"{int(offset)}: the store's bytes are not the packed "
            f"ones, in {_TRIES} tries. Upload the shard again.",
            True,
        )

    async def _check_whole(self, shard: MirroredShard, part: Part, size: int) -> None:
        self._wholes[part.shard] += size
        if self._wholes[part.shard] != shard.entry.bytes:
            return
        del self._wholes[part.shard]
        found = await asyncio.to_thread(_checksum, shard.file)
        # Rows that were evicted in between are not present.
        is_known = shard.entry.checksum.startswith(PREFIX)
        if is_known and found != shard.entry.checksum and shard.rows.present().all():
            for row in range(shard.entry.samples):
                shard.rows.clear(row)
            raise StoreError(
                f"{self._store.url}/{shard.entry.file}: the bytes between its samples are not the "
                "packed ones. Upload the shard again."
            )


def _range(shard: MirroredShard, part: Part) -> tuple[int, int, int]:
    """The file that a part is for, and where in it the part begins and ends."""
    spans = shard.spans.wholly(shard.entry.bytes) if part.is_whole else shard.spans
    return shard.file, int(spans.begin[part.first]), int(spans.end[part.stop - 1])


def _checksum(file: int) -> str:
    found, at, buffer = xxhash.xxh3_128(), 0, memoryview(bytearray(_READ))
    while count := os.preadv(file, [buffer], at):
        found.update(buffer[:count])
        at += count
    return checksum(found)
