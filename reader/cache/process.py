"""The fetching process: `main` of this module, with its inherited descriptors as arguments.

Purpose: have every sample in the cache before a worker asks for it, and answer those that ask.

Guarantees: who asks for rows is answered, with an error if they cannot come. Rows are marked as
there when their checksums were found right, and space is taken before bytes come. The process ends
with the one that started it. What it has under way then is lost, and nothing else.

Assumptions: one event loop, one thread; only whole shards are summed up in another one.

What is wanted now comes first; then plans (`reader.order.access.AccessPattern`), in the order in
which they were begun, as far ahead of what was taken as their window goes.
"""

import asyncio
import contextlib
import os
import pickle
import resource
import socket
import sys
import time
from collections import Counter, deque
from collections.abc import Iterator
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import numpy as np
import xxhash

from reader.cache.eviction import Eviction
from reader.cache.messages import (
    Begin,
    Coming,
    Counts,
    Drop,
    Here,
    Hint,
    Lost,
    Opened,
    Setup,
    Tell,
    Took,
    Want,
    is_own,
    receive,
    send,
)
from reader.cache.mirror import Mirror, MirroredShard, mirrored
from reader.cache.quota import DiskQuota, Full
from reader.cache.ranges import Part
from reader.cache.schedule import Schedule
from reader.errors import StoreError
from reader.format import ShardfeedError
from reader.format.checksum import PREFIX, checksum
from reader.processes.child import end_with_parent
from reader.store.calls import CallingStore
from reader.store.client import Store
from reader.store.errors import Missing
from reader.store.limits import PART

_TRIES = 3  # of bytes that are not what the index says
_ELSEWHERE = 0.02  # seconds between two looks at what another process is fetching
_PATIENCE = 90.0  # seconds for it to get done: more than a store is usually waited for


class Waiter:
    """A client that waits for rows."""

    def __init__(self, connection: socket.socket, rows: int) -> None:
        self.connection = connection
        self.missing = rows

    def answer(self, message: Here | Lost) -> None:
        """Answer it, once."""
        self.missing = 0
        with contextlib.suppress(OSError):
            send(self.connection, message)


class Fetcher:
    """Fetches for all clients of a process."""

    def __init__(self, store: Store, quota: DiskQuota, mirror: Mirror) -> None:
        self._store = store
        self._quota = quota
        self._mirror = mirror
        self._loop = asyncio.get_running_loop()
        self._clients: set[socket.socket] = set()
        self._plans: dict[tuple[socket.socket, int], Schedule] = {}  # the oldest first
        self._wanted: dict[tuple[int, int], list[Waiter]] = {}  # by shard and row
        self._urgent: deque[Part] = deque()
        self._busy: Counter[tuple[int, int]] = Counter()  # rows that are being fetched
        self._running = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._eviction = Eviction(quota, mirror, self._plans, self._busy)
        self._wholes: Counter[int] = Counter()  # bytes that came of shards that come whole
        self._fetched = self._hits = 0
        self._begun = 0  # plans

    def listen(self, listener: socket.socket) -> None:
        """Take clients from now on."""
        listener.setblocking(False)
        self._loop.add_reader(listener, self._accept, listener)

    def _accept(self, listener: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            connection, _ = listener.accept()
            if not is_own(connection):
                connection.close()
                return
            connection.setblocking(False)
            self._clients.add(connection)
            self._loop.add_reader(connection, self._receive, connection)

    def _receive(self, connection: socket.socket) -> None:
        with contextlib.suppress(BlockingIOError):
            try:
                while True:
                    self._handle(connection, receive(connection))
            except BlockingIOError:
                raise
            except (EOFError, OSError, pickle.UnpicklingError):
                self._forget(connection)
            except ShardfeedError as error:  # of an index that somebody has damaged
                Waiter(connection, 1).answer(Lost(str(error), False))
        self._pump()

    def _forget(self, connection: socket.socket) -> None:
        self._loop.remove_reader(connection)
        self._clients.discard(connection)
        for key in [key for key in self._plans if key[0] is connection]:
            del self._plans[key]
        connection.close()

    def _handle(self, connection: socket.socket, message: Any) -> None:
        if isinstance(message, Want):
            self._want(Waiter(connection, 0), message)
        elif isinstance(message, Hint):
            self._urgent.extend(_runs(message))
        elif isinstance(message, Begin):
            send(connection, self._begin(connection, message))
        elif isinstance(message, Took):
            if plan := self._plans.get((connection, message.number)):
                plan.take(message.steps)
        elif isinstance(message, Drop):
            self._plans.pop((connection, message.number), None)
        elif isinstance(message, Tell):
            send(connection, self._counts())

    def _begin(self, connection: socket.socket, message: Begin) -> Here | Lost:
        """Take a plan, if the cache has room for what it has open."""
        try:
            plan = Schedule(message, self._mirror, self._quota.limit)
        except StoreError as error:
            return Lost(str(error), False)
        self._plans[connection, message.number] = plan
        self._begun += 1
        return Here()

    def _want(self, waiter: Waiter, message: Want) -> None:
        rows = self._mirror.shard(message.shard).rows
        missing = message.rows[rows.generations(message.rows) == 0]
        waiter.missing = len(missing)
        if not len(missing):
            waiter.answer(Here())
        for row in missing.tolist():
            self._wanted.setdefault((message.shard, row), []).append(waiter)
        self._urgent.extend(_runs(Hint(message.shard, missing)))

    def _counts(self) -> Counts:
        return Counts(self._store.counts, self._fetched, self._hits)

    def _pump(self) -> None:
        """Begin as many requests as may be under way."""
        while self._running < self._store.gate.most and (part := self._next()) is not None:
            self._running += 1
            rows = [(part.shard, row) for row in range(part.first, part.stop)]
            self._busy.update(rows)
            task = self._loop.create_task(self._fetch(part, rows))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    def _next(self) -> Part | None:
        """What is to be fetched next and is not there yet."""
        while self._urgent:
            part = self._missing(self._urgent.popleft())
            if part is not None:
                wider = (plan.around(part) for plan in self._plans.values())
                return self._missing(next((each for each in wider if each != part), part))
        for plan in self._plans.values():
            others = sum(other.bytes for other in self._plans.values()) - plan.bytes
            while (planned := plan.next(others)) is not None:
                count = planned.stop - planned.first
                part = self._missing(planned)
                self._hits += count if part is None else count - (part.stop - part.first)
                if part is not None:
                    return part
        return None

    def _missing(self, part: Part) -> Part | None:
        """What of a part is neither there nor on its way: from the first such row to the last."""
        shard = self._mirror.shard(part.shard)
        shard.verify(part.first, part.stop)
        here = shard.rows.present(part.first, part.stop)
        if self._wanted:  # by who looked before they were verified, or fetched by another process
            for row in (np.flatnonzero(here) + part.first).tolist():
                self._answer(part._replace(first=row, stop=row + 1), {})
        rows = [
            row
            for row in (np.flatnonzero(~here) + part.first).tolist()
            if not self._busy[part.shard, row]
        ]
        if not rows:
            return None
        return part._replace(first=rows[0], stop=rows[-1] + 1)

    async def _fetch(self, part: Part, rows: list[tuple[int, int]]) -> None:
        """Fetch a part, and answer who waits for some of it; `rows` are its shard and rows."""
        shard = self._mirror.shard(part.shard)
        shard.busy += 1
        try:
            lost = await self._try_fetch(shard, part)
        finally:
            self._release(shard, rows)
            shard.busy -= 1
            self._running -= 1
        if lost is None:
            waiting = np.array([row for number, row in rows if (number, row) in self._wanted], int)
            self._urgent.extend(_runs(Hint(part.shard, waiting)))
        else:
            self._answer(part, lost)
        self._pump()

    def _release(self, shard: MirroredShard, rows: list[tuple[int, int]]) -> None:
        """Give up the claim of rows, but of those that lie in another part as well."""
        self._busy.subtract(rows)
        free = [row for row in rows if not self._busy[row]]
        for row in free:
            del self._busy[row]
        if len(free) == len(rows):
            shard.rows.release(rows[0][1], rows[-1][1] + 1)
        else:
            for _, alone in free:
                shard.rows.release(alone, alone + 1)

    async def _try_fetch(self, shard: MirroredShard, part: Part) -> dict[int, Lost] | None:
        """Which rows of a part cannot be had, and why; None where it may be had in another try."""
        text, is_sample, begun = "", False, self._begun
        try:
            await self._claim(shard, part)
            if shard.rows.present(part.first, part.stop).all():
                return {}
            return await self._fetch_part(shard, part)
        except Missing:
            text = f"{self._store.url}/{shard.entry.file} is not in the store. Upload it."
            is_sample = True
        except Full as error:
            if part.last >= 0:
                return None
            text = str(error)
        except StoreError as error:
            if self._begun > begun:  # the store may be well again since an epoch ended in this
                return None
            text = str(error)
        except Exception as error:  # whatever it is, nobody is to wait for it
            text = f"{shard.entry.file} cannot be fetched: {type(error).__name__}: {error}."
        return dict.fromkeys(range(part.first, part.stop), Lost(text, is_sample))

    async def _claim(self, shard: MirroredShard, part: Part) -> None:
        """Take the claim of rows; where another process has it, wait until it is done."""
        until = time.monotonic() + _PATIENCE
        while not shard.rows.claim(part.first, part.stop):
            if time.monotonic() > until:
                raise StoreError(
                    f"{self._store.url}/{shard.entry.file}: another process that reads with this "
                    f"cache has been fetching it for {_PATIENCE:.0f} seconds. Is it stopped?"
                )
            await asyncio.sleep(_ELSEWHERE)
            if shard.rows.present(part.first, part.stop).all():
                return

    async def _fetch_part(self, shard: MirroredShard, part: Part) -> dict[int, Lost]:
        """Fetch a part, check it, and write it; which rows are not what they should be."""
        spans = shard.spans.wholly(shard.entry.bytes) if part.is_whole else shard.spans
        start, stop = int(spans.begin[part.first]), int(spans.end[part.stop - 1])
        make_room = partial(self._eviction.make_room, is_urgent=part.last < 0)
        self._quota.reserve(shard.file, start, stop, make_room)
        name, size = shard.entry.file, shard.entry.bytes
        for _ in range(_TRIES):
            content = await self._store.part(name, start, stop, size)
            damaged = set(shard.damaged(part.first, part.stop, content, start))
            if not damaged:
                break
        os.pwrite(shard.file, content, start)
        for row in range(part.first, part.stop):
            if row not in damaged:
                shard.rows.fill(row)
        self._fetched += part.stop - part.first
        if part.is_whole:
            await self._check_whole(shard, part, stop - start)
        return {row: self._lost(shard, row) for row in damaged}

    def _lost(self, shard: MirroredShard, row: int) -> Lost:
        return Lost(
            f"{self._store.url}/{shard.entry.file}: sample {shard.index.key(row)!r} at byte "
            f"{int(shard.index.columns['offset'][row])}: the store gives other bytes than were "
            f"packed, also when asked {_TRIES} times. Upload the shard anew.",
            True,
        )

    async def _check_whole(self, shard: MirroredShard, part: Part, size: int) -> None:
        """Sum up a shard when the last of its bytes has come."""
        self._wholes[part.shard] += size
        if self._wholes[part.shard] != shard.entry.bytes:
            return
        del self._wholes[part.shard]
        found = await asyncio.to_thread(_checksum, shard.file)
        # Where something was evicted meanwhile, its rows say so.
        is_known = shard.entry.checksum.startswith(PREFIX)
        if is_known and found != shard.entry.checksum and shard.rows.present().all():
            for row in range(shard.entry.samples):
                shard.rows.clear(row)
            raise StoreError(
                f"{self._store.url}/{shard.entry.file} has other bytes between its samples than "
                "were packed. Upload the shard anew."
            )

    def _answer(self, part: Part, lost: dict[int, Lost]) -> None:
        """Tell those who wait for rows of a part."""
        for row in range(part.first, part.stop):
            for waiter in self._wanted.pop((part.shard, row), ()):
                if not waiter.missing:
                    continue
                waiter.missing -= 1
                if row in lost:
                    waiter.answer(lost[row])
                elif not waiter.missing:
                    waiter.answer(Here())


def _runs(message: Want | Hint) -> Iterator[Part]:
    """Wanted rows, those that lie side by side together."""
    rows = np.unique(message.rows)
    for run in np.split(rows, np.flatnonzero(np.diff(rows) > 1) + 1):
        if len(run):
            yield Part(message.shard, int(run[0]), int(run[-1]) + 1)


def _checksum(file: int) -> str:
    """The checksum of a tar."""
    found, at = xxhash.xxh3_128(), 0
    while content := os.pread(file, PART, at):
        found.update(content)
        at += len(content)
    return checksum(found)


async def _serve(control: Connection, listener: socket.socket) -> None:
    setup: Setup = control.recv()
    told = 0.0

    def coming(done: int, total: int) -> None:
        nonlocal told
        if time.monotonic() - told > 0.1:
            told = time.monotonic()
            control.send(Coming(done, total))

    try:
        store = CallingStore(setup.url, setup.options, setup.provider)
        quota = DiskQuota(Path(setup.cache_dir), setup.limit)
        mirror = await mirrored(store, quota, setup.split, coming)
    except StoreError as error:
        control.send(StoreError(str(error)))  # without the kinds that only this process knows
        return
    except ShardfeedError as error:
        control.send(error)
        return
    except Exception as error:
        control.send(StoreError(f"{setup.url} cannot be opened: {type(error).__name__}: {error}."))
        return
    Fetcher(store, quota, mirror).listen(listener)
    control.send(Opened(str(mirror.folder)))
    await asyncio.Event().wait()  # until the parent ends it


def main(arguments: list[str]) -> None:
    """Open the dataset and serve."""
    control_fd, listener_fd, life_fd = map(int, arguments)
    end_with_parent(life_fd)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        asyncio.run(_serve(Connection(control_fd), socket.socket(fileno=listener_fd)))
    sys.exit(0)
