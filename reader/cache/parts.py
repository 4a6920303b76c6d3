"""Fetch parts of shards from the store into the cache.

Guarantees: rows are marked as present only after their checksums match, and disk space is reserved
before bytes are fetched.
"""

import os

from reader.cache.messages import Unavailable
from reader.cache.mirror import Mirror, MirroredShard
from reader.cache.quota import BLOCK
from reader.cache.ranges import Part
from reader.cache.space import Stay
from reader.store.client import Store

_WRITTEN = 1 << 17  # bytes of a write; larger ones may take costly pages of a system
_TRIES = 3  # if checksums do not match


class PartFetcher:
    def __init__(self, store: Store, mirror: Mirror) -> None:
        self.fetched = 0
        self._store = store
        self._mirror = mirror

    async def fetch(self, shard: MirroredShard, part: Part, stay: Stay) -> dict[int, Unavailable]:
        """Fetch a part, check it and write it to where it stays; return its damaged rows."""
        begin, end = shard.spans
        start, stop = int(begin[part.first]), int(end[part.stop - 1])
        for _ in range(_TRIES):
            content = await self._store.part(shard.entry.file, start, stop, shard.entry.bytes)
            damaged = shard.damaged(part.first, part.stop, content, start)
            if not damaged:
                break
        if not stay.runs:
            _write(shard.file, content, start)
        first = self._mirror.start(part.shard)
        for row, rest, place in stay.runs:
            at, last = int(begin[row]), int(end[rest - 1])
            _write(self._mirror.window, content[at - start : last - start], place * BLOCK + at)
            for moved in stay.rows:
                if row <= moved < rest:
                    self._mirror.places[first + moved] = place
        for row in stay.rows:
            if row not in damaged:
                shard.rows.fill(row, is_moved=bool(stay.runs))
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


def _write(file: int, content: memoryview, start: int) -> None:
    for at in range(0, len(content), _WRITTEN):
        os.pwrite(file, content[at : at + _WRITTEN], start + at)
