"""What of a dataset stays in the cache: a part that is kept, and a transit window.

The kept part fills once, with what comes first, and stays. What comes when it is full goes through
the transit window, and stays until the schedules that need it have read it. So over whole epochs in
any order, the cache serves the share of the data that it keeps: all of it, if it fits.

Guarantees: what a schedule needs is evicted only for a sample that a client waits for, and only if
nothing else can be.
"""

import asyncio
import time
from collections import deque
from collections.abc import Iterable
from functools import partial
from math import inf

import numpy as np

from reader.cache.mirror import Mirror, MirroredShard
from reader.cache.quota import DiskQuota, taken_by
from reader.cache.ranges import Part, kept_bytes, metadata_bytes
from reader.cache.turns import ask_for_room

_LENT_SECONDS = 10.0  # for another dataset's process to take the room that it asked for
_PAUSE_SECONDS = 1.0  # between two looks for unused datasets


class Stay:
    """Rows of a shard in the transit window, and how many scheduled parts need them."""

    def __init__(self, number: int, rows: list[int], size: int) -> None:
        self.number = number
        self.rows = rows
        self.size = size
        self.needs = 0


class Space:
    def __init__(self, quota: DiskQuota, mirror: Mirror) -> None:
        self._quota = quota
        self._mirror = mirror
        self._own = taken_by(mirror.folder)
        self._window = self._whole = self._fixed = 0
        self._transit = 0  # bytes in the window
        self._stays: dict[tuple[int, int], Stay] = {}  # by shard and row
        self._over: deque[Stay] = deque()  # nothing needs them any more
        self._kept = dict.fromkeys(mirror.held())  # shards with kept rows, the newest last
        self._lent, self._lent_until = 0, 0.0

    def read(self, numbers: Iterable[int]) -> None:
        """Keep these shards, rather than others."""
        own = set(numbers)
        shards = [self._mirror.shards[number] for number in own]
        self._quota.margin = metadata_bytes(shards)
        self._fixed = kept_bytes(shards)
        self._whole = self._fixed + sum(shard.bytes for shard in shards)
        self._kept = dict.fromkeys(sorted(self._kept, key=lambda number: number not in own))

    def open_window(self, wanted: int) -> float:
        """Open a transit window; return the share of it that there is, or infinity if all stays."""
        self._window = max(0, min(wanted, self._quota.limit - self._fixed))
        is_enough = self._quota.limit >= self._whole
        return inf if is_enough else self._window / max(wanted, 1)

    def admit(self, part: Part, rows: list[int], size: int) -> None:
        """Choose where rows stay that are fetched next."""
        if self._has_room(size):
            self._kept[part.shard] = None
            return
        stay = Stay(part.shard, rows, size)
        self._stays.update(dict.fromkeys([(part.shard, row) for row in rows], stay))
        self._transit += size
        self._over.append(stay)

    def need(self, part: Part) -> list[Stay]:
        """Keep what the window has of a part, until each of the returned stays is let go."""
        keys = [(part.shard, row) for row in range(part.first, part.stop)]
        found = [*dict.fromkeys(self._stays[key] for key in keys if key in self._stays)]
        for stay in found:
            stay.needs += 1
        return found

    def let_go(self, stays: Iterable[Stay]) -> None:
        for stay in stays:
            stay.needs -= 1
            if not stay.needs:
                self._over.append(stay)

    def reserve(self, file: int, start: int, stop: int, *, is_urgent: bool) -> None:
        """Reserve space for a range of a tar."""
        make_room = partial(self.make_room, is_urgent=is_urgent)
        given = self._quota.reserve(file, start, stop, make_room)
        self._own += given  # `make_room` changes it, too

    def make_room(self, need: int, *, is_urgent: bool) -> int:
        """Free about the given bytes; return the freed bytes."""
        given, coming = self._quota.remove_unused(need, pause=_PAUSE_SECONDS), []
        while given < need and self._over:
            stay = self._over.popleft()
            if self._is_coming(stay):
                coming.append(stay)
            elif not stay.needs:
                given += self._evict(stay)
        self._over.extend(coming)
        if given < need:
            given += self._shrink(need - given)
        if given < need and is_urgent:  # what is needed last
            for stay in dict.fromkeys(reversed(self._stays.values())):
                if given < need and not self._is_coming(stay):
                    given += self._evict(stay)
        return given

    def lend(self, need: int) -> None:
        """Free bytes for another dataset, and leave them to it for a while."""
        self._lent, self._lent_until = need, time.monotonic() + _LENT_SECONDS
        self.make_room(need - self._quota.free, is_urgent=False)

    async def borrow(self, size: int) -> None:
        """Ask other datasets for room for `size`, and for the rest of the window."""
        need = max(size, self._window - self._transit)
        await asyncio.to_thread(ask_for_room, self._quota, self._mirror.folder, need)

    def discard(self, shard: MirroredShard, rows: Iterable[int]) -> int:
        """Remove rows, also such that are only reserved; return the freed bytes."""
        given = sum(shard.evict(*run, self._quota) for run in _runs(rows))
        self._own -= given
        return given

    def _has_room(self, size: int) -> bool:
        while True:
            free = self._quota.free
            is_enough = free + self._own >= self._whole
            left = 0 if is_enough else max(self._window - self._transit, 0)
            left += self._lent * (time.monotonic() < self._lent_until)
            if free - size >= left:
                return True
            if not self._quota.remove_unused(size + left - free, pause=_PAUSE_SECONDS):
                return False

    def _is_coming(self, stay: Stay) -> bool:
        return not self._mirror.coming(stay.number).isdisjoint(stay.rows)

    def _evict(self, stay: Stay) -> int:
        rows = [row for row in stay.rows if self._stays.get((stay.number, row)) is stay]
        for row in rows:
            del self._stays[stay.number, row]
        self._transit -= stay.size * bool(stay.rows)
        stay.rows = []
        return self.discard(self._mirror.shard(stay.number), rows)

    def _shrink(self, need: int) -> int:
        """Evict kept rows, from the ends of the shards that came last."""
        given = 0
        while given < need and self._kept:
            number = next(reversed(self._kept))
            shard = self._mirror.shard(number)
            held = np.flatnonzero(shard.rows.held()).tolist()
            rows = [row for row in held if (number, row) not in self._stays]
            rows = [row for row in rows if row not in shard.coming]
            least, chosen = need - given, 0
            while rows[chosen:] and least > 0:
                chosen += 1
                least -= shard.size(rows[-chosen], rows[-chosen] + 1)
            given += self.discard(shard, rows[len(rows) - chosen :])
            if chosen == len(rows):
                del self._kept[number]
        return given


def _runs(rows: Iterable[int]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for row in rows:
        if found and found[-1][1] == row:
            found[-1] = found[-1][0], row + 1
        else:
            found.append((row, row + 1))
    return found
