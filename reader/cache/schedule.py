"""A client's prefetch schedule: how far ahead it is fetched, and in which requests."""

from collections import deque
from collections.abc import Iterator
from heapq import heappop, heappush
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from reader.cache.messages import Begin
from reader.cache.mirror import Mirror
from reader.cache.quota import BLOCK
from reader.cache.ranges import Part, Window


class Schedule:
    """A client's prefetch schedule: steps `taken`, `done` (requested), `reach`; `bytes` ahead."""

    def __init__(self, begin: Begin, mirror: Mirror, limit: int) -> None:
        self.ahead = begin.ahead
        shards = mirror.shards
        self.window = Window.of(self.ahead, shards, begin.depth).within(shards, limit)
        self.taken = self.done = self.reach = 0
        self._depth = begin.depth
        self._mirror = mirror
        self._parts: deque[Part] = deque()
        self._under_way: list[tuple[int, int]] = []  # a heap: last step and bytes of each part
        self.bytes = 0
        self._uses: dict[int, NDArray[np.int64]] = {}  # by epoch

    def take(self, steps: int) -> None:
        self.taken = max(self.taken, steps)
        while self._under_way and self._under_way[0][0] < self.taken:
            self.bytes -= heappop(self._under_way)[1]

    def next(self, others: int) -> Part | None:
        """Return the next part; None if enough bytes are ahead, with those of `others`."""
        while not self._parts:
            if self.done >= len(self.ahead.steps) or self.bytes + others >= self.window.wanted:
                return None
            self._parts += self._cut(self.done)
            self.reach = max([self.reach, *(part.last + 1 for part in self._parts)])
            self.done += 1
        part = self._parts.popleft()
        begin, end = self._mirror.shard(part.shard).spans
        size = int(end[part.stop - 1] - begin[part.first]) + BLOCK
        heappush(self._under_way, (part.last, size))
        self.bytes += size
        return part

    def around(self, wanted: Part) -> Part:
        """Return the scheduled part with `wanted`, or `wanted` if none comes soon."""
        # A worker ahead of the schedule then does not need a request for each sample.
        if not self.ahead.order.is_in_turn:
            return wanted
        steps = range(self.done, min(len(self.ahead.steps), self.taken + self._depth))
        for part in chain(self._parts, chain.from_iterable(map(self._cut, steps))):
            if part.shard == wanted.shard and part.first <= wanted.first < part.stop:
                return part._replace(stop=max(part.stop, wanted.stop), last=wanted.last)
        return wanted

    def _cut(self, step: int) -> Iterator[Part]:
        for piece in self.ahead.pieces(step):
            wanted = Part(piece.shard, piece.first, piece.stop, piece.last)
            spans = self._mirror.shard(piece.shard).spans
            yield from spans.cut(wanted._replace(is_whole=self.ahead.is_by_shard))

    def next_use(self) -> NDArray[np.int64]:
        """Return the position of each place's next read, counted over all epochs."""
        position = self.ahead.position(self.taken)
        epoch = position // self.ahead.order.count
        for old in [old for old in self._uses if old < epoch]:
            del self._uses[old]
        for new in (epoch, epoch + 1):
            if new not in self._uses:
                self._uses[new] = self.ahead.uses(new)
        now = self._uses[epoch]
        return np.where(now >= position, now, self._uses[epoch + 1])
