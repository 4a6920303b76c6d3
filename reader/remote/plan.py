"""How far ahead a plan of a client is fetched, cut into requests."""

from collections import deque
from collections.abc import Iterator
from heapq import heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reader.remote.cache import BLOCK
from reader.remote.messages import Begin
from reader.remote.mirror import Mirror

PART = 8 << 20  # bytes of a request, for what lies side by side

_WINDOW = 256 << 20  # bytes that are fetched ahead


class Part(NamedTuple):
    """Rows that are fetched by one request.

    Attributes:
        last: see `Piece`; -1 for what a client waits for.
        is_whole: of a shard all of whose bytes are fetched, so what lies between rows as well.
    """

    shard: int
    first: int
    stop: int
    last: int = -1
    is_whole: bool = False


class Plan:
    """A plan of a client, and how far it has come.

    Attributes:
        taken: steps that have been read.
        done: steps whose parts have been given out.
        reach: steps up to which these are needed.
        least: bytes that have to be in the cache at a time.
        window: bytes to be ahead.
        bytes: that are.
    """

    def __init__(self, begin: Begin, mirror: Mirror) -> None:
        self.ahead = begin.ahead
        self.taken = self.done = self.reach = 0
        self._mirror = mirror
        self._parts: deque[Part] = deque()
        self._under_way: list[tuple[int, int]] = []  # a heap: last step and bytes of each part
        self.bytes = 0
        self._uses: dict[int, NDArray[np.int64]] = {}  # by epoch
        shards = mirror.shards
        sizes = sorted((shard.bytes for shard in shards), reverse=True)
        if self.ahead.is_by_shard:
            self.least = self.window = sum(sizes[: 2 * self.ahead.open_shards])
        else:
            mean = sum(sizes) // max(sum(self.ahead.sizes), 1) + BLOCK
            step = self.ahead.steps.batch_size * mean
            self.least, self.window = 2 * step, max(_WINDOW, 2 * (begin.depth + 1) * step)

    def take(self, steps: int) -> None:
        """The first `steps` steps have been read."""
        self.taken = max(self.taken, steps)
        while self._under_way and self._under_way[0][0] < self.taken:
            self.bytes -= heappop(self._under_way)[1]

    def next(self, others: int) -> Part | None:
        """What to fetch next; None as long as enough is ahead, with the bytes of `others`."""
        while not self._parts:
            if self.done >= len(self.ahead.steps) or self.bytes + others >= self.window:
                return None
            for piece in self.ahead.pieces(self.done):
                wanted = Part(piece.shard, piece.first, piece.stop, piece.last)
                self.reach = max(self.reach, piece.last + 1)
                self._parts += self._cut(wanted._replace(is_whole=self.ahead.is_by_shard))
            self.done += 1
        part = self._parts.popleft()
        begin, end = self._mirror.shard(part.shard).spans
        size = int(end[part.stop - 1] - begin[part.first]) + BLOCK
        heappush(self._under_way, (part.last, size))
        self.bytes += size
        return part

    def next_use(self) -> NDArray[np.int64]:
        """The position at which each place is read next, counted over all epochs."""
        position = self.ahead.position(self.taken)
        epoch = position // self.ahead.order.count
        for old in [old for old in self._uses if old < epoch]:
            del self._uses[old]
        for new in (epoch, epoch + 1):
            if new not in self._uses:
                self._uses[new] = self.ahead.uses(new)
        now = self._uses[epoch]
        return np.where(now >= position, now, self._uses[epoch + 1])

    def _cut(self, part: Part) -> Iterator[Part]:
        """The part in requests of a useful size."""
        if not part.first < part.stop:
            return
        begin, end = self._mirror.shard(part.shard).spans
        first = part.first
        while first < part.stop:
            reach = int(begin[first]) + PART
            stop = int(np.searchsorted(end[first : part.stop], reach, side="right")) + first
            stop = max(stop, first + 1)
            yield part._replace(first=first, stop=stop)
            first = stop
