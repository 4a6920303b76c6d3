"""Fetch parts of shards from the store into the cache.

Guarantees: rows are marked as present only after their checksums match, and disk space is reserved
before bytes are fetched.
"""

import asyncio
import os
from collections import Counter

import xxhash

from reader.cache.messages import Unavailable
from reader.cache.mirror import MirroredShard
from reader.cache.quota import BLOCK
from reader.cache.ranges import Part
from reader.cache.space import Space
from reader.errors import StoreError
from reader.format.checksum import PREFIX, checksum
from reader.store.client import Store

_WRITTEN = 1 << 17  # bytes of a write; larger ones may take costly pages of a system
_READ = 1 << 18  # bytes of a read that is only hashed: they stay in the processor's cache
_TRIES = 3  # if checksums do not match


class PartFetcher:
    def __init__(self, store: Store, space: Space) -> None:
        self.fetched = 0
        self._store = store
        self._space = space
        self._wholes: Counter[int] = Counter()  # fetched bytes of shards that are fetched whole

    def reserve(self, shard: MirroredShard, part: Part) -> bool:
        """Reserve the space of a part; return whether there is enough."""
        try:
            self._space.reserve(*_range(shard, part), is_urgent=part.last < 0)
        except StoreError:  # `fetch` tries again, and raises
            return False
        return True

    async def fetch(
        self, shard: MirroredShard, part: Part, *, is_reserved: bool
    ) -> dict[int, Unavailable]:
        """Fetch a part, check and write it; return its damaged rows."""
        file, start, stop = _range(shard, part)
        if not is_reserved:
            if part.last < 0:
                await self._space.borrow(stop - start + 2 * BLOCK)  # at both ends
            self._space.reserve(file, start, stop, is_urgent=part.last < 0)
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
        before = shard.rows.values.copy()
        found = await asyncio.to_thread(_checksum, shard.file)
        is_same = shard.rows.present().all() and (shard.rows.values == before).all()
        is_known = shard.entry.checksum.startswith(PREFIX)
        if is_known and found != shard.entry.checksum and is_same:  # nothing was evicted meanwhile
            for row in range(shard.entry.samples):
                shard.rows.clear(row)
            raise StoreError(
                f"{self._store.url}/{shard.entry.file}: the bytes between its samples are not the "
                "packed ones. Upload the shard again."
            )


def _range(shard: MirroredShard, part: Part) -> tuple[int, int, int]:
    """The file that a part is for, and where in it the part begins and ends."""
    spans = shard.whole_spans if part.is_whole else shard.spans
    return shard.file, int(spans.begin[part.first]), int(spans.end[part.stop - 1])


def _checksum(file: int) -> str:
    found, at, buffer = xxhash.xxh3_128(), 0, memoryview(bytearray(_READ))
    while count := os.preadv(file, [buffer], at):
        found.update(buffer[:count])
        at += count
    return checksum(found)
