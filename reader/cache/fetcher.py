"""Answer requests for rows, and choose the next rows to fetch.

Guarantees: each request is answered, with an error if its rows cannot be fetched.

Requested rows come first, then schedules (`reader.order.access.AccessPattern`) in the order in
which they began, as far ahead of the reader as their window allows.
"""

import asyncio
import contextlib
import pickle
import socket
from collections import Counter, deque
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.cache import messages
from reader.cache.eviction import Eviction
from reader.cache.mirror import Mirror, MirroredShard
from reader.cache.parts import PartFetcher
from reader.cache.quota import DiskQuota, Full
from reader.cache.ranges import Part
from reader.cache.schedule import Schedule
from reader.errors import StoreError
from reader.format import ShardfeedError
from reader.store.client import Store
from reader.store.errors import Missing

_FULL = 7 / 8  # of the requests that may be under way: several more then begin at once


class Waiter:
    def __init__(self, connection: socket.socket, rows: int) -> None:
        self.connection = connection
        self.missing = rows

    def answer(self, message: messages.Present | messages.Unavailable) -> None:
        self.missing = 0
        with contextlib.suppress(OSError):
            messages.send(self.connection, message)


class Fetcher:
    def __init__(self, store: Store, quota: DiskQuota, mirror: Mirror) -> None:
        self._store = store
        self._quota = quota
        self._mirror = mirror
        self._loop = asyncio.get_running_loop()
        self._clients: set[socket.socket] = set()
        self._schedules: dict[tuple[socket.socket, int], Schedule] = {}  # the oldest first
        self._wanted: dict[tuple[int, int], list[Waiter]] = {}  # by shard and row
        self._urgent: deque[Part] = deque()
        self._busy: Counter[tuple[int, int]] = Counter()  # rows that are being fetched
        self._running = 0
        self._tasks: set[asyncio.Task[None]] = set()
        eviction = Eviction(quota, mirror, self._schedules, self._busy)
        self._parts = PartFetcher(store, quota, eviction)
        self._hits = 0
        self._begun = 0  # schedules

    def listen(self, listener: socket.socket) -> None:
        listener.setblocking(False)
        self._loop.add_reader(listener, self._accept, listener)

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            connection, _ = listener.accept()
            if not messages.is_own(connection):
                connection.close()
                return
            connection.setblocking(False)
            self._clients.add(connection)
            self._loop.add_reader(connection, self._receive, connection)

    def _receive(self, connection: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            try:
                while True:
                    self._handle(connection, messages.receive(connection))
            except BlockingIOError:
                raise
            except (EOFError, OSError, pickle.UnpicklingError):
                self._forget(connection)
            except ShardfeedError as error:  # the index was damaged later
                Waiter(connection, 1).answer(messages.Unavailable(str(error), False))
        self._pump()

    def _forget(self, connection: socket.socket) -> None:
        self._loop.remove_reader(connection)
        self._clients.discard(connection)
        for key in [key for key in self._schedules if key[0] is connection]:
            del self._schedules[key]
        connection.close()

    def _handle(self, connection: socket.socket, message: Any) -> None:
        if isinstance(message, messages.Request):
            self._want(Waiter(connection, 0), message)
        elif isinstance(message, messages.Hint):
            self._urgent.extend(_runs(message.shard, message.rows))
        elif isinstance(message, messages.Begin):
            messages.send(connection, self._begin(connection, message))
        elif isinstance(message, messages.StepsTaken):
            if schedule := self._schedules.get((connection, message.number)):
                schedule.take(message.steps)
        elif isinstance(message, messages.Drop):
            self._schedules.pop((connection, message.number), None)
        elif isinstance(message, messages.GetCounts):
            messages.send(connection, self._counts())

    def _begin(
        self, connection: socket.socket, message: messages.Begin
    ) -> messages.Present | messages.Unavailable:
        try:
            schedule = Schedule(message, self._mirror, self._quota.limit)
        except StoreError as error:
            return messages.Unavailable(str(error), False)
        self._schedules[connection, message.number] = schedule
        self._begun += 1
        return messages.Present()

    def _want(self, waiter: Waiter, message: messages.Request) -> None:
        rows = self._mirror.shard(message.shard).rows
        missing = message.rows[rows.generations(message.rows) == 0]
        waiter.missing = len(missing)
        if not len(missing):
            waiter.answer(messages.Present())
        for row in missing.tolist():
            self._wanted.setdefault((message.shard, row), []).append(waiter)
        self._urgent.extend(_runs(message.shard, missing))

    def _counts(self) -> messages.Counts:
        return messages.Counts(self._store.counts, self._parts.fetched, self._hits)

    def _pump(self) -> None:
        most = self._store.gate.most
        if self._running > most * _FULL and not self._urgent:
            return
        parts: list[tuple[MirroredShard, Part]] = []
        try:
            while self._running < most and (part := self._next()) is not None:
                shard = self._mirror.shard(part.shard)
                shard.busy += 1
                self._running += 1
                self._busy.update(_places(part))
                parts.append((shard, part))
        except ShardfeedError:
            pass  # `_want` reports it to those who wait for the shard
        finally:
            begun = self._parts.begin([each for each in parts if each[1].last >= 0])
            for shard, part in parts:
                task = self._loop.create_task(self._fetch(shard, part, part in begun))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    def _next(self) -> Part | None:
        while self._urgent:
            part = self._missing(self._urgent.popleft())
            if part is not None:
                wider = (schedule.around(part) for schedule in self._schedules.values())
                return self._missing(next((each for each in wider if each != part), part))
        for schedule in self._schedules.values():
            others = sum(other.bytes for other in self._schedules.values()) - schedule.bytes
            while (planned := schedule.next(others)) is not None:
                count = planned.stop - planned.first
                part = self._missing(planned)
                self._hits += count if part is None else count - (part.stop - part.first)
                if part is not None:
                    return part
        return None

    def _missing(self, part: Part) -> Part | None:
        """Return the span of a part's rows that are neither present nor being fetched."""
        shard = self._mirror.shard(part.shard)
        shard.verify(part.first, part.stop)
        absent = shard.rows.absent(part.first, part.stop)
        if self._wanted:  # requested before they were verified, or fetched by another process
            for row in {*range(part.first, part.stop)}.difference(absent):
                self._answer(part._replace(first=row, stop=row + 1), {})
        rows = [row for row in absent if (part.shard, row) not in self._busy]
        if not rows:
            return None
        return part._replace(first=rows[0], stop=rows[-1] + 1)

    async def _fetch(self, shard: MirroredShard, part: Part, is_begun: bool) -> None:
        rows = _places(part)
        try:
            lost = await self._try_fetch(shard, part, is_begun)
        finally:
            self._release(shard, rows)
            shard.busy -= 1
            self._running -= 1
        if lost is None:
            waiting = np.array([row for number, row in rows if (number, row) in self._wanted], int)
            self._urgent.extend(_runs(part.shard, waiting))
        else:
            self._answer(part, lost)
        self._pump()

    def _release(self, shard: MirroredShard, rows: list[tuple[int, int]]) -> None:
        """Release the claim of rows, except for those that are also in another part."""
        self._busy.subtract(rows)
        free = [row for row in rows if not self._busy[row]]
        for at in free:
            del self._busy[at]
        if len(free) == len(rows):
            shard.rows.release(rows[0][1], rows[-1][1] + 1)
        else:
            for _, one in free:
                shard.rows.release(one, one + 1)

    async def _try_fetch(
        self, shard: MirroredShard, part: Part, is_begun: bool
    ) -> dict[int, messages.Unavailable] | None:
        """Return the errors of a part's rows; None if it should be tried again."""
        text, is_sample, begun = "", False, self._begun
        try:
            return await self._parts.fetch(shard, part, is_begun=is_begun)
        except Missing:
            text = f"{self._store.url}/{shard.entry.file} is not in the store. Upload the file."
            is_sample = True
        except Full as error:
            if part.last >= 0:
                return None
            text = str(error)
        except StoreError as error:
            if self._begun > begun:  # an epoch began in between: the store may have recovered
                return None
            text = str(error)
        except Exception as error:  # every request must be answered
            text = f"{shard.entry.file} cannot be fetched: {type(error).__name__}: {error}."
        return dict.fromkeys(range(part.first, part.stop), messages.Unavailable(text, is_sample))

    def _answer(self, part: Part, lost: dict[int, messages.Unavailable]) -> None:
        for row in range(part.first, part.stop):
            for waiter in self._wanted.pop((part.shard, row), ()):
                if not waiter.missing:
                    continue
                waiter.missing -= 1
                if row in lost:
                    waiter.answer(lost[row])
                elif not waiter.missing:
                    waiter.answer(messages.Present())


def _places(part: Part) -> list[tuple[int, int]]:
    return [(part.shard, row) for row in range(part.first, part.stop)]


def _runs(shard: int, rows: NDArray[np.int64]) -> Iterator[Part]:
    rows = np.unique(rows)
    for run in np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1):
        if len(run):
            yield Part(shard, int(run[0]), int(run[-1]) + 1)
