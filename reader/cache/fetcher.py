"""Answer requests for rows, and choose the next rows to fetch.

Guarantees: each request is answered, with an error if its rows cannot be fetched.

Requested rows come first, then schedules (`reader.order.access.AccessPattern`) in the order in
which they began, as far ahead of the reader as `space` allows.
"""

import asyncio
import contextlib
import os
import pickle
import socket
import sys
from collections import deque
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.cache import messages
from reader.cache.mirror import Mirror, MirroredShard
from reader.cache.parts import PartFetcher
from reader.cache.quota import DiskQuota, Full
from reader.cache.ranges import Part
from reader.cache.schedule import Client, Schedule
from reader.cache.space import Space
from reader.errors import StoreError
from reader.format import ShardfeedError
from reader.store.client import Store
from reader.store.errors import Missing

_MOMENT = 0.01  # seconds in which other parts may come, and then be evicted


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
        self._clients: dict[socket.socket, Client] = {}
        self._schedules: dict[tuple[socket.socket, int], Schedule] = {}  # the oldest first
        self._wanted: dict[tuple[int, int], list[Waiter]] = {}  # by shard and row
        self._urgent: deque[Part] = deque()
        self._hinted: deque[Part] = deque()
        self._running = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._space = Space(quota, mirror)
        self._parts = PartFetcher(store, self._space)
        self._splits: set[str | None] = set()  # that readers have read
        self._hits = 0
        self._begun = 0  # schedules

    def listen(self, listener: socket.socket) -> None:
        listener.setblocking(False)
        self._loop.add_reader(listener, self._accept, listener)

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            connection, _ = listener.accept()
            connection.setblocking(False)
            self._loop.add_reader(connection, self._receive, connection)

    def _join(self, connection: socket.socket, join: messages.Join) -> None:
        self._clients[connection] = Client(self._mirror.numbers(join.split), join)
        self._adjust()

    def _receive(self, connection: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            try:
                while True:
                    self._handle(connection, messages.receive(connection))
            except BlockingIOError:
                raise
            except (EOFError, OSError):
                self._forget(connection)
            except (LookupError, pickle.UnpicklingError) as error:  # of another version
                Waiter(connection, 1).answer(messages.Unavailable(f"{error!r}", False))
                self._forget(connection)
            except ShardfeedError as error:  # the index was damaged later
                Waiter(connection, 1).answer(messages.Unavailable(str(error), False))
        self._pump()

    def _forget(self, connection: socket.socket) -> None:
        self._loop.remove_reader(connection)
        for key in [key for key in self._schedules if key[0] is connection]:
            self._drop(*key)
        if self._clients.pop(connection, None) is not None:
            self._adjust()
        connection.close()

    def _handle(self, connection: socket.socket, message: Any) -> None:
        if isinstance(message, messages.Join):
            self._join(connection, message)
        elif isinstance(message, messages.MakeRoom):
            self._space.lend(message.bytes)
            messages.send(connection, messages.Present())
        elif isinstance(message, messages.GetCounts):
            counts = self._store.counts, self._parts.fetched, self._hits
            messages.send(connection, messages.Counts(os.getpid(), *counts))
        elif isinstance(message, messages.StepsTaken):
            if schedule := self._schedules.get((connection, message.number)):
                self._space.let_go(schedule.take(message.steps))
        elif isinstance(message, messages.Drop):
            self._drop(connection, message.number)
            self._adjust()
        elif isinstance(message, messages.Begin):
            messages.send(connection, self._begin(connection, message))
        else:
            shard = self._clients[connection].numbers[message.shard]
            if isinstance(message, messages.Request):
                self._want(Waiter(connection, 0), shard, message.rows)
            elif isinstance(message, messages.Hint):
                self._announce(connection, shard, message)

    def _begin(
        self, connection: socket.socket, message: messages.Begin
    ) -> messages.Present | messages.Unavailable:
        client, limit = self._clients[connection], self._quota.limit
        try:
            schedule = Schedule(message, client, self._mirror, limit)
        except StoreError as error:
            return messages.Unavailable(str(error), False)
        self._schedules[connection, message.number] = schedule
        self._begun += 1
        self._adjust()
        return messages.Present()

    def _announce(self, connection: socket.socket, shard: int, hint: messages.Hint) -> None:
        runs = _runs(shard, hint.rows)
        if schedule := self._schedules.get((connection, hint.number)):
            schedule.announce(part._replace(last=hint.step) for part in runs)
        else:
            self._hinted.extend(runs)

    def _drop(self, connection: socket.socket, number: int) -> None:
        schedule = self._schedules.pop((connection, number), None)
        if schedule is not None:
            self._space.let_go(schedule.take(sys.maxsize))

    def _adjust(self) -> None:
        """Heed all clients' limits, and give each order its share of the transit window."""
        joined = {client.join for client in self._clients.values()}
        self._quota.limit = min((join.limit for join in joined), default=self._quota.limit)
        windows: dict[Any, int] = {}
        for schedule in self._schedules.values():
            windows[schedule.group] = max(windows.get(schedule.group, 0), schedule.window.transit)
        splits = {join.split for join in joined}
        if not splits <= self._splits:
            self._splits |= splits
            self._space.read(chain.from_iterable(map(self._mirror.numbers, self._splits)))
        share = self._space.open_window(sum(windows.values()))
        for schedule in self._schedules.values():
            window = schedule.window
            schedule.most = min(window.ahead, window.transit * share)

    def _want(self, waiter: Waiter, shard: int, asked: NDArray[np.int64]) -> None:
        rows = self._mirror.shard(shard).rows
        missing = asked[rows.generations(asked) == 0]
        waiter.missing = len(missing)
        if not len(missing):
            waiter.answer(messages.Present())
        for row in missing.tolist():
            self._wanted.setdefault((shard, row), []).append(waiter)
        self._urgent.extend(_runs(shard, missing))

    def _pump(self) -> None:
        most = self._store.gate.most
        with contextlib.suppress(ShardfeedError):  # `_want` reports it to those who wait for it
            while self._running < most and (part := self._next()) is not None:
                shard = self._mirror.shard(part.shard)
                shard.coming.update(range(part.first, part.stop))
                self._running += 1
                is_reserved = self._parts.reserve(shard, part)
                task = self._loop.create_task(self._fetch(shard, part, is_reserved))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    def _next(self) -> Part | None:
        while self._urgent:
            wanted = self._urgent.popleft()
            part, rows, rest = self._missing(wanted)
            if rest < wanted.stop:
                self._urgent.appendleft(wanted._replace(first=rest))
            if part is not None:
                wider = (schedule.around(part) for schedule in self._schedules.values())
                if whole := next((each for each in wider if each != part), None):
                    found, others, rest = self._missing(whole)
                    if found is not None and rest == whole.stop:
                        part, rows = found, others
                self._admit(part, rows)
                return part
        busy = set()
        for schedule in self._schedules.values():
            if schedule.client not in busy and (part := self._scheduled(schedule)) is not None:
                return part
            if not schedule.is_requested:  # its next epoch could take the room that it needs
                busy.add(schedule.client)
        while self._hinted:
            part, rows, _ = self._missing(self._hinted.popleft())
            if part is not None:
                self._admit(part, rows)
                return part
        return None

    def _admit(self, part: Part, rows: list[int]) -> None:
        size = self._mirror.shard(part.shard).size(part.first, part.stop)
        self._space.admit(part, rows, size)

    def _scheduled(self, schedule: Schedule) -> Part | None:
        """Return the next missing part of a schedule, unless others have to be read first."""
        while (planned := schedule.peek()) is not None:
            part, rows, rest = self._missing(planned)
            if part is not None:
                self._admit(part, rows)
            schedule.pop(rest, self._space.need(planned._replace(stop=rest)))
            self._hits += rest - planned.first - (part.stop - part.first if part else 0)
            if part is not None:
                return part
        return None

    def _missing(self, part: Part) -> tuple[Part | None, list[int], int]:
        """Return the span of a part's next rows to fetch, these rows, and where others begin."""
        shard = self._mirror.shard(part.shard)
        shard.verify(part.first, part.stop)
        absent = shard.rows.absent(part.first, part.stop)
        if self._wanted:  # requested before they were verified
            for row in {*range(part.first, part.stop)}.difference(absent):
                self._answer(part._replace(first=row, stop=row + 1), {})
        rest = part.stop
        if shard.coming:
            absent = [row for row in absent if row not in shard.coming]
            if absent:  # no row is in two parts
                within = range(absent[0], absent[-1])
                rest = next((row for row in within if row in shard.coming), part.stop)
                absent = [row for row in absent if row < rest]
        if not absent:
            return None, [], part.stop
        return part._replace(first=absent[0], stop=absent[-1] + 1), absent, rest

    async def _fetch(self, shard: MirroredShard, part: Part, is_reserved: bool) -> None:
        try:
            lost = await self._try_fetch(shard, part, is_reserved)
        finally:
            shard.coming.difference_update(range(part.first, part.stop))
            self._running -= 1
        self._space.discard(shard, shard.rows.absent(part.first, part.stop))
        if lost is None:
            rows = [r for r in range(part.first, part.stop) if (part.shard, r) in self._wanted]
            self._urgent.extend(_runs(part.shard, np.array(rows, int)))
        else:
            self._answer(part, lost)
        self._pump()

    async def _try_fetch(
        self, shard: MirroredShard, part: Part, is_reserved: bool
    ) -> dict[int, messages.Unavailable] | None:
        """Return the errors of a part's rows; None if it should be tried again."""
        text, is_sample, begun = "", False, self._begun
        try:
            return await self._parts.fetch(shard, part, is_reserved=is_reserved)
        except Missing:
            text = f"{self._store.url}/{shard.entry.file} is not in the store. Upload the file."
            is_sample = True
        except Full as error:
            if part.last >= 0:
                return None
            if self._running > 1:
                await asyncio.sleep(_MOMENT)
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


def _runs(shard: int, rows: NDArray[np.int64]) -> Iterator[Part]:
    rows = np.unique(rows)
    for run in np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1):
        if len(run):
            yield Part(shard, int(run[0]), int(run[-1]) + 1)
