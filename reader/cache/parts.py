"""Fetch parts of shards from the store into the cache.

Guarantees: rows are marked as present only after their checksums match, and disk space is reserved
before bytes are fetched.
"""

import os

from reader.cache.messages import Unavailable
from reader.cache.mirror import MirroredShard
from reader.cache.quota import BLOCK
from reader.cache.ranges import Part
from reader.cache.space import Space
from reader.errors import StoreError
from reader.store.client import Store

_WRITTEN = 1 << 17  # bytes of a write; larger ones may take costly pages of a system
_TRIES = 3  # if checksums do not match


class PartFetcher:
    def __init__(self, store: Store, space: Space) -> None:
        self.fetched = 0
        self._store = store
        self._space = space

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
        return {row: self._lost(shard, row) for row in damaged}

    def _lost(self, shard: MirroredShard, row: int) -> Unavailable:
        offset = shard.index.columns.get("offset", shard.spans.begin)[row]
        return Unavailable(
            f"{self._store.url}/{shard.entry.file}: sample {shard.index.key(row)!r} at byte "
            f"{int(offset)}: the store's bytes are not the packed "
            f"ones, in {_TRIES} tries. Upload the shard again.",
            True,
        )


def _range(shard: MirroredShard, part: Part) -> tuple[int, int, int]:
    """The file that a part is for, and where in it the part begins and ends."""
    spans = shard.spans
    return shard.file, int(spans.begin[part.first]), int(spans.end[part.stop - 1])
