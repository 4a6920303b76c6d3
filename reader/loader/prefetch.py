"""Send the samples that are read next to a dataset's fetching process.

If the order is a function, the fetching process has the function and computes the order itself. The
numbers of a user's sampler are sent when they are queued for the workers.
"""

import contextlib
from collections.abc import Iterable
from dataclasses import replace
from itertools import count

import numpy as np

from reader.cache.client import FetchingConnection
from reader.cache.messages import Begin, Counts, Drop, GetCounts, Hint, StepsTaken, Unavailable
from reader.dataset.dataset import Dataset
from reader.errors import StoreError, warn
from reader.loader.tasks import EpochRun
from reader.monitoring.counters import Loop, Samples, Spent, minus, plus
from reader.order.access import AccessPattern
from reader.order.shuffle import Order
from reader.store.limits import Requests
from reader.workers.messages import Task

_WARN_SECONDS = 5.0  # of waiting, by every worker
_ANSWER_SECONDS = 30.0  # for requests that need no network


class Prefetch:
    """The prefetch schedules of one loader; does nothing for datasets in folders."""

    def __init__(self, dataset: Dataset, order: Order, depth: int) -> None:
        self._shards = dataset.fetchings
        self._connections = {
            id(fetching): FetchingConnection(fetching) for fetching, _ in self._shards
        }
        self._dataset = dataset
        self._order = order
        self._depth = depth
        self._number = count()
        self._numbers: dict[EpochRun, list[tuple[FetchingConnection, int]]] = {}
        self._before = self._counted()
        self._has_warned = False

    def begin(self, epoch: EpochRun) -> None:
        if not self._connections or self._order.is_given or not len(epoch.steps):
            return
        places = self._dataset.places
        whole = AccessPattern(self._order, epoch.steps, places.counts, places.chosen)
        for fetching, shards in self._shards:
            connection, number = self._connections[id(fetching)], next(self._number)
            ahead = whole if len(shards) == len(whole.sizes) else replace(whole, own=shards)
            try:
                answer = connection.ask(Begin(number, ahead, self._depth), _ANSWER_SECONDS)
            except StoreError:
                answer = None  # it has died: reading a sample raises the error
            if isinstance(answer, Unavailable):
                raise StoreError(answer.text)
            self._numbers.setdefault(epoch, []).append((connection, number))

    def queued(self, tasks: Iterable[Task]) -> None:
        if self._connections and self._order.is_given:
            numbers = np.unique(np.concatenate([task.samples for task in tasks]))
            for shard, _, rows in self._dataset.places.find_all(numbers):
                for fetching, shards in self._shards:
                    if shard in shards:
                        self._connections[id(fetching)].send(Hint(shard - shards.start, rows))

    def took(self, epoch: EpochRun) -> None:
        for connection, number in self._numbers.get(epoch, ()):
            connection.send(StepsTaken(number, epoch.taken))

    def drop(self, epoch: EpochRun) -> None:
        for connection, number in self._numbers.pop(epoch, ()):
            connection.send(Drop(number))

    def close(self) -> None:
        """Drop all schedules."""
        for connection in self._connections.values():
            connection.close()

    def warn_if_slow(self, loop: Loop, spent: Spent) -> None:
        if not self._connections or self._has_warned or spent.waiting < spent.busy / 2:
            return
        workers = max(loop.worker_seconds / max(loop.elapsed, 1e-9), 1)
        if spent.waiting >= _WARN_SECONDS * workers:
            self._has_warned = True
            _, seen = self.counts()
            each = seen.asking / max(seen.requests, 1) * 1e3
            warn(
                f"This loop waits for the network: {seen.fetched_bytes / 1e6:,.0f} MB of "
                f"{self._dataset.source} were fetched so far, in {seen.requests:,} requests of "
                f"{each:.0f} ms. They stay in the cache for later epochs. "
                "print(loader.statistics()) shows the bottleneck and a remedy."
            )

    def counts(self) -> tuple[Samples, Requests]:
        (cached, asked), (cached_before, before) = self._counted(), self._before
        if asked.requests < before.requests:  # of a process that has died since
            return cached, asked
        return minus(cached, cached_before), asked.since(before)

    def _counted(self) -> tuple[Samples, Requests]:
        found, total = Samples(), Requests()
        for connection in self._connections.values():
            with contextlib.suppress(StoreError):
                answer = connection.ask(GetCounts(), _ANSWER_SECONDS)
                if isinstance(answer, Counts):
                    found, total = plus(found, Samples(*answer[1:])), plus(total, answer.store)
        return found, total
