"""A client's prefetch schedule: how far ahead it is fetched, and in which requests."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import chain, count

from reader.cache.messages import Begin, Join
from reader.cache.mirror import Mirror
from reader.cache.ranges import Part, Window
from reader.cache.space import Stay


@dataclass(eq=False)
class Client:
    """A connection of a reader: of which shards it speaks, and how much is ahead of it."""

    numbers: Sequence[int]  # of its shards, in dataset.json
    join: Join
    bytes: int = 0  # of parts that were requested, and are not read yet


class Schedule:
    """A client's prefetch schedule: steps `taken` and `done` (divided into parts)."""

    def __init__(self, begin: Begin, client: Client, mirror: Mirror, limit: int) -> None:
        self.ahead = begin.ahead
        self.client = client
        self.group = self.ahead.group or client
        shards = [mirror.shards[number] for number in client.numbers]
        self.window = Window.of(self.ahead, shards).within(shards, limit)
        self.most = 0.0  # bytes that may be ahead of its client
        self.taken = begin.steps
        self.done = 0 if self.ahead.by_shard else begin.steps  # windows may still be open
        if self.ahead.order is None:
            self.done = len(self.ahead.steps)  # its parts are announced
        self._depth = begin.depth
        self._mirror = mirror
        self._parts: deque[Part] = deque()
        self._count = count()
        # A heap of what is ahead: the last step of each part, its bytes and its stays.
        self._ahead: list[tuple[int, int, int, list[Stay]]] = []

    @property
    def is_requested(self) -> bool:
        return self.done >= len(self.ahead.steps) and not self._parts

    def take(self, steps: int) -> Iterator[Stay]:
        """Note that these steps were read; yield what is no longer needed."""
        self.taken = max(self.taken, steps)
        while self._ahead and self._ahead[0][0] < self.taken:
            _, _, size, stays = heappop(self._ahead)
            self.client.bytes -= size
            yield from stays

    def peek(self) -> Part | None:
        """Return the next part; None if enough bytes are ahead."""
        while not self._parts:
            if self.is_requested:
                return None
            self._parts.extend(self._cut(self.done))
            self.done += 1
        part = self._parts[0]
        size = self._mirror.shard(part.shard).size(part.first, part.stop)
        return part if self.client.bytes + size <= self.most else None

    def pop(self, row: int, stays: list[Stay]) -> None:
        """Go on with the next part, or at a row of the current one, which needs these stays."""
        part = self._parts.popleft()
        if row < part.stop:
            self._parts.appendleft(part._replace(first=row))
        size = self._mirror.shard(part.shard).size(part.first, row)
        heappush(self._ahead, (part.last, next(self._count), size, stays))
        self.client.bytes += size

    def announce(self, parts: Iterable[Part]) -> None:
        self._parts.extend(parts)

    def around(self, wanted: Part) -> Part:
        """Return the scheduled part with `wanted`, or `wanted` if none comes soon."""
        # A worker ahead of the schedule then does not need a request for each sample.
        order = self.ahead.order
        if order is not None and (order.is_in_turn or self.ahead.by_shard):
            steps = range(self.done, min(len(self.ahead.steps), self.taken + self._depth))
            for part in chain(self._parts, chain.from_iterable(map(self._cut, steps))):
                if part.shard == wanted.shard and part.first <= wanted.first < part.stop:
                    return part._replace(stop=max(part.stop, wanted.stop), last=wanted.last)
        return wanted

    def _cut(self, step: int) -> Iterator[Part]:
        for piece in self.ahead.pieces(step):
            if piece.last < self.taken:
                continue
            wanted = Part(self.client.numbers[piece.shard], piece.first, piece.stop, piece.last)
            yield from self._mirror.shard(wanted.shard).spans.cut(wanted)
