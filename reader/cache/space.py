"""What of a dataset stays in the cache: a part that is kept, and a transit window.

The kept part fills once, with what comes first, and stays. What comes when it is full goes through
the transit window, a file whose blocks are used again when the schedules that need them have read
them: to free blocks of a tar, a file system first writes them to the disk. So over whole epochs in
any order, the cache serves the share of the data that it keeps: all of it, if it fits.

Guarantees: what a schedule needs is evicted only for a sample that a client waits for, and only if
nothing else can be.
"""

import asyncio
import contextlib
import time
from bisect import bisect
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from reader.cache.mirror import Mirror, MirroredShard
from reader.cache.quota import BLOCK, DiskQuota, Full, taken_by
from reader.cache.ranges import Part, Window, data_bytes, kept_bytes, metadata_bytes
from reader.cache.turns import ask_for_room

_LENT_SECONDS = 10.0  # for another dataset's process to take the room that it asked for
_PAUSE_SECONDS = 1.0  # between two looks for unused datasets


@dataclass(eq=False)
class Stay:
    """Where a part's missing rows are written, and how many scheduled parts need them.

    Attributes:
        runs: in the transit window: first row, the one after the last, and their place, as
            `files` has it; none if the rows are kept in their tar.
        extents: the bytes that the runs take.
        needs: of scheduled parts, and of its own until it has come.
    """

    number: int
    rows: list[int]
    runs: list[tuple[int, int, int]] = field(default_factory=list)
    extents: list[tuple[int, int]] = field(default_factory=list)
    needs: int = 1
    is_coming: bool = True


class Space:
    def __init__(self, quota: DiskQuota, mirror: Mirror) -> None:
        self._quota = quota
        self._mirror = mirror
        self._own = taken_by(mirror.folder)
        self._fixed = self._whole = 0
        self._numbers: list[int] = []
        self._size = quota.blocks(mirror.window)  # of the transit window
        self._most = self._size  # of it that may be used: it is cut when the rest is free
        self._free = [(0, self._size)] if self._size else []  # its unused bytes
        self._stays: dict[tuple[int, int], Stay] = {}  # in the window, by shard and row
        self._over: deque[Stay] = deque()  # nothing needs them any more
        self._kept = dict.fromkeys(mirror.held())  # shards with kept rows, the newest last
        self._most_taken, self._lent_until = 0, 0.0  # of the cache, and until when

    def read(self, numbers: Iterable[int]) -> None:
        """Keep these shards, rather than others."""
        self._numbers = sorted({*numbers})
        own, shards = {*self._numbers}, [self._mirror.shards[n] for n in self._numbers]
        self._quota.margin = metadata_bytes(shards)
        self._fixed = kept_bytes(shards)
        self._whole = self._fixed + data_bytes(shards)
        self._kept = dict.fromkeys(sorted(self._kept, key=lambda number: number not in own))

    def open_window(self, wanted: int) -> float:
        """Make the transit window as large, if not all stays; return the share that there is."""
        self.give(-self._quota.free)
        if self._quota.free + self._own >= self._whole:
            self._cut(0)
            return 1.0
        room = self._quota.limit - self._fixed
        self._grow(min(max(wanted, Window.usual(room)), room))
        return min(self._size / max(wanted, 1), 1.0)

    def admit(
        self, shard: MirroredShard, part: Part, rows: list[int], is_urgent: bool
    ) -> Stay | None:
        """Reserve space for the missing rows of a part; return None if there is none yet."""
        size = shard.size(part.first, part.stop)
        if self._has_room(size):
            first, last = part.first, part.stop - 1
            span = int(shard.spans.begin[first]), int(shard.spans.end[last])
            with contextlib.suppress(Full):  # another dataset's process was faster
                self._own += self._quota.reserve(shard.file, *span)
                for row in rows:
                    self._stays.pop((part.shard, row), None)
                return Stay(part.shard, rows)
        if is_urgent and self._size < size:
            self._grow(size)
        stay = Stay(part.shard, rows)
        first = part.first
        while first < part.stop:
            if (run := self._fit(shard, first, part.stop)) is not None:
                rest, extent, place = run
                stay.extents.append(extent)
                stay.runs.append((first, rest, place))
                first = rest
            elif not self._evict_next(is_urgent=is_urgent):
                self._release(stay)
                return None
        self._stays.update(dict.fromkeys([(part.shard, row) for row in rows], stay))
        return stay

    def came(self, stay: Stay) -> None:
        stay.is_coming = False
        if not stay.extents:
            self._kept.setdefault(stay.number)
        self.let_go([stay])
        if self._most < self._size:
            self._cut(self._most)

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
            if not stay.needs and stay.extents:
                self._over.append(stay)

    def lend(self, taken: int) -> None:
        """Free bytes for another dataset until so many are taken; leave them to it for a while."""
        self._most_taken, self._lent_until = taken, time.monotonic() + _LENT_SECONDS
        self.give(self._quota.taken - taken, self._size // 2)

    @property
    def is_cut(self) -> bool:
        """Whether the transit window is not larger than it should be."""
        return self._size <= self._most

    async def borrow(self, size: int) -> bool:
        """Ask other datasets for room, as `ask_for_room`; what there is then, is for this one."""
        is_there = await asyncio.to_thread(ask_for_room, self._quota, self._mirror.folder, size)
        self._lent_until = 0.0
        return is_there

    def give(self, need: int, window: int = 0) -> None:
        """Free bytes of the disk: of unused datasets, kept rows, and all but `window` bytes."""
        if need > 0:
            need -= self._quota.remove_unused(need, pause=_PAUSE_SECONDS)
        if need > 0:
            need -= self._shrink(need)
        if need > 0:
            self._cut(max(self._size - -(-need // BLOCK) * BLOCK, window // BLOCK * BLOCK))

    def _has_room(self, size: int) -> bool:
        """Whether a part can be kept."""
        missing = size - self._unused
        return missing <= self._quota.remove_unused(max(missing, 0), pause=_PAUSE_SECONDS)

    @property
    def _unused(self) -> int:
        """The bytes of the limit that are free, and not lent to others."""
        free = self._quota.free
        if time.monotonic() < self._lent_until:
            free = min(free, self._most_taken - self._quota.taken)
        return free

    def _grow(self, size: int) -> None:
        """Make the transit window as large, as far as there is room, also of the kept part."""
        try:
            self._mirror.reserve_places(self._numbers, self._make_room)
        except Full:  # other datasets have the room, see `borrow`
            return
        need = -(-size // BLOCK) * BLOCK - self._size
        if need > self._unused:
            self._make_room(need - self._unused)
        need = min(need, self._unused // BLOCK * BLOCK)
        if need > 0:
            stop = self._size + need
            with contextlib.suppress(Full):
                self._own += self._quota.reserve(self._mirror.window, self._size, stop)
                self._unite(self._size, stop)
                self._most = self._size = stop

    def _make_room(self, need: int) -> int:
        given = self._quota.remove_unused(need)
        return given + self._shrink(need - given)

    def _cut(self, size: int) -> None:
        """Make the transit window as small, as soon as nothing comes into the rest."""
        self._most = size
        ends = {stay: max(stop for _, stop in stay.extents) for stay in self._stays.values()}
        size = max([size, *(end for stay, end in ends.items() if stay.is_coming)])
        for stay, end in ends.items():
            if end > size:
                self._release(stay)
        if size < self._size:
            self._free = [(start, min(stop, size)) for start, stop in self._free if start < size]
            self._own -= self._quota.release(self._mirror.window, size, self._size)
            self._size = size

    def _fit(
        self, shard: MirroredShard, first: int, stop: int
    ) -> tuple[int, tuple[int, int], int] | None:
        """Take free bytes of the window; return up to which row, the bytes, and their place."""
        begin, ends = int(shard.spans.begin[first]) // BLOCK, shard.spans.end
        for at, (start, end) in enumerate(self._free):
            most = begin * BLOCK + min(end, self._most) - start
            if ends[first] <= most:
                if ends[stop - 1] > most:
                    stop = first + int(np.searchsorted(ends[first:stop], most, side="right"))
                used = start + (-(-int(ends[stop - 1]) // BLOCK) - begin) * BLOCK
                self._free[at : at + 1] = [(used, end)] if used < end else []
                return stop, (start, used), start // BLOCK - begin
        return None

    def _evict_next(self, *, is_urgent: bool) -> bool:
        """Evict what is in the window and not needed; if it is urgent, also what is needed last."""
        while self._over:
            stay = self._over.popleft()
            if not stay.needs and stay.extents:  # it may be needed again
                self._release(stay)
                return True
        if is_urgent:
            for stay in reversed(self._stays.values()):
                if not stay.is_coming:
                    self._release(stay)
                    return True
        return False

    def _release(self, stay: Stay) -> None:
        rows = self._mirror.rows(stay.number)
        for row in stay.rows:
            if self._stays.get((stay.number, row)) is stay:
                del self._stays[stay.number, row]
                rows.clear(row)
        for extent in stay.extents:
            self._unite(*extent)
        stay.extents = []

    def _unite(self, start: int, stop: int) -> None:
        """Add bytes to the free ones of the window."""
        at = bisect(self._free, (start, stop))
        if at < len(self._free) and self._free[at][0] == stop:
            stop = self._free.pop(at)[1]
        if at and self._free[at - 1][1] == start:
            at -= 1
            start = self._free.pop(at)[0]
        self._free.insert(at, (start, stop))

    def _shrink(self, need: int) -> int:
        """Evict kept rows, from the ends of the shards that came last; return the freed bytes."""
        given = 0
        while given < need and self._kept:
            number = next(reversed(self._kept))
            shard = self._mirror.shard(number)
            rows = np.flatnonzero(shard.rows.held()).tolist()
            rows = [row for row in rows if row not in shard.coming]
            least, chosen = need - given, 0
            while chosen < len(rows) and least > 0:
                chosen += 1
                least -= shard.size(rows[-chosen], rows[-chosen] + 1)
            if chosen:
                given += shard.evict(rows[-chosen:], self._quota)
            if chosen == len(rows):
                del self._kept[number]
        self._own -= given
        return given
