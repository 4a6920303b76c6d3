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
from reader.cache.quota import DiskQuota
from reader.cache.ranges import Part
from reader.cache.schedule import Client, Schedule
from reader.cache.space import Space, Stay
from reader.errors import StoreError
from reader.format import ShardfeedError
from reader.store.client import Store
from reader.store.errors import Missing

_Next = tuple[Part, list[int], Stay | StoreError | None]


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
        self._borrowers: list[tuple[Waiter, int]] = []  # with the bytes that may be taken
        self._running = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._space = Space(quota, mirror)
        self._parts = PartFetcher(store, mirror)
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
            self._space.lend(message.taken)
            self._borrowers.append((Waiter(connection, 0), message.taken))
            self._lend()
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
            schedule.most = schedule.window.ahead * share

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
            while self._running < most and (found := self._next()) is not None:
                part, rows, stay = found
                shard = self._mirror.shard(part.shard)
                shard.coming.update(range(part.first, part.stop))
                self._running += 1
                task = self._loop.create_task(self._fetch(shard, part, rows, stay))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    def _next(self) -> _Next | None:
        """Return what is fetched next, and where it stays: None to ask others for room."""
        while self._urgent:
            wanted = self._urgent.popleft()
            part, rows, rest = self._missing(wanted)
            if rest < wanted.stop:
                self._urgent.appendleft(wanted._replace(first=rest))
            if part is None:
                continue
            wider = (each.around(part) for each in self._schedules.values())
            if whole := next((each for each in wider if each != part), None):
                found, others, rest = self._missing(whole)
                if found is not None and rest == whole.stop:
                    part, rows = found, others
            stay = self._admit(part, rows, is_urgent=True)
            if stay is None and self._running:  # what comes can be evicted then
                self._urgent.appendleft(part)
                return None
            return part, rows, stay
        busy = set()
        for schedule in self._schedules.values():
            if schedule.client not in busy and (planned := self._scheduled(schedule)) is not None:
                return planned
            if not schedule.is_requested:  # its next epoch could take the room that it needs
                busy.add(schedule.client)
        while self._hinted:
            part, rows, _ = self._missing(self._hinted.popleft())
            if part is not None and (stay := self._admit(part, rows)) is not None:
                return part, rows, stay
        return None

    def _admit(
        self, part: Part, rows: list[int], *, is_urgent: bool = False
    ) -> Stay | StoreError | None:
        try:
            return self._space.admit(self._mirror.shard(part.shard), part, rows, is_urgent)
        except StoreError as error:
            return error

    def _scheduled(self, schedule: Schedule) -> _Next | None:
        """Return the next missing part of a schedule, unless others have to be read first."""
        while (planned := schedule.peek()) is not None:
            part, rows, rest = self._missing(planned)
            stay = None
            if part is not None and (stay := self._admit(part, rows)) is None:
                return None
            schedule.pop(rest, self._space.need(planned._replace(stop=rest)))
            self._hits += rest - planned.first - (part.stop - part.first if part else 0)
            if part is not None:
                return part, rows, stay
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

    async def _fetch(
        self, shard: MirroredShard, part: Part, rows: list[int], stay: Stay | StoreError | None
    ) -> None:
        text, is_sample, is_passing, begun = "", False, False, self._begun
        lost: dict[int, messages.Unavailable] = {}
        try:
            if stay is None:
                size = shard.size(part.first, part.stop)
                while stay is None and await self._space.borrow(size):
                    stay = self._admit(part, rows, is_urgent=True)
                is_passing = stay is None and self._running > 1  # others then make room
                stay = stay or self._quota.full(size)
            if isinstance(stay, StoreError):
                raise stay
            lost = await self._parts.fetch(shard, part, stay)
        except Missing:
            text = f"{self._store.url}/{shard.entry.file} is not in the store. Upload the file."
            is_sample = True
        except StoreError as error:
            text = str(error)
        except Exception as error:  # every request must be answered
            text = f"{shard.entry.file} cannot be fetched: {type(error).__name__}: {error}."
        finally:
            shard.coming.difference_update(range(part.first, part.stop))
            self._running -= 1
            if isinstance(stay, Stay):
                self._space.came(stay)
                self._lend()
        has_recovered = self._begun > begun and not is_sample  # perhaps
        if text and (is_passing or has_recovered):
            wanted = range(part.first, part.stop)
            rows = [row for row in wanted if (part.shard, row) in self._wanted]
            self._urgent.extend(part._replace(first=row, stop=row + 1, last=-1) for row in rows)
        else:
            if text:
                lost = dict.fromkeys(rows, messages.Unavailable(text, is_sample))
            self._answer(part, lost)
        self._pump()

    def _lend(self) -> None:
        """Tell other datasets' processes whether there is room, once all has gone that can."""
        while self._borrowers and self._space.is_cut:
            waiter, taken = self._borrowers.pop()
            has_room = self._quota.taken <= taken
            waiter.answer(messages.Present() if has_room else messages.Unavailable("", False))

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
