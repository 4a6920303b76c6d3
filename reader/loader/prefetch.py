"""Send the samples that are read next to a dataset's fetching process.

If the order is a function, the fetching process has the function and computes the order itself. The
numbers of a user's sampler are sent when they are queued for the workers.
"""

import contextlib
from collections.abc import Iterable
from itertools import count

import numpy as np

from reader.cache.client import FetchingConnection
from reader.cache.messages import Begin, Counts, Drop, GetCounts, Hint, StepsTaken, Unavailable
from reader.dataset.dataset import Dataset
from reader.errors import StoreError, warn
from reader.loader.tasks import EpochRun
from reader.monitoring.counters import Loop, Samples, Spent, minus
from reader.order.access import AccessPattern
from reader.order.shuffle import Order
from reader.store.limits import Requests
from reader.workers.messages import Task

_WARN_SECONDS = 5.0  # of waiting, by every worker
_ANSWER_SECONDS = 30.0  # for requests that need no network


class Prefetch:
    """The prefetch schedules of one loader; does nothing for a dataset in a folder."""

    def __init__(self, dataset: Dataset, order: Order, depth: int) -> None:
        self._fetching = None if dataset.fetching is None else FetchingConnection(dataset.fetching)
        self._dataset = dataset
        self._order = order
        self._depth = depth
        self._number = count()
        self._numbers: dict[EpochRun, int] = {}
        self._before = self._counted()
        self._has_warned = False

    def begin(self, epoch: EpochRun) -> None:
        if self._fetching is None or self._order.is_given or not len(epoch.steps):
            return
        number, places = next(self._number), self._dataset.places
        ahead = AccessPattern(self._order, epoch.steps, places.counts, places.chosen)
        try:
            answer = self._fetching.ask(Begin(number, ahead, self._depth), _ANSWER_SECONDS)
        except StoreError:
            answer = None  # it has died: reading a sample raises the error
        if isinstance(answer, Unavailable):
            raise StoreError(answer.text)
        self._numbers[epoch] = number

    def queued(self, tasks: Iterable[Task]) -> None:
        if self._fetching is not None and self._order.is_given:
            numbers = np.unique(np.concatenate([task.samples for task in tasks]))
            for shard, _, rows in self._dataset.places.find_all(numbers):
                self._fetching.send(Hint(shard, rows))

    def took(self, epoch: EpochRun) -> None:
        if self._fetching is not None and epoch in self._numbers:
            self._fetching.send(StepsTaken(self._numbers[epoch], epoch.taken))

    def drop(self, epoch: EpochRun) -> None:
        number = self._numbers.pop(epoch, None)
        if self._fetching is not None and number is not None:
            self._fetching.send(Drop(number))

    def warn_if_slow(self, loop: Loop, spent: Spent) -> None:
        if self._fetching is None or self._has_warned or spent.waiting < spent.busy / 2:
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
        found: object = None
        with contextlib.suppress(StoreError):
            found = self._fetching and self._fetching.ask(GetCounts(), _ANSWER_SECONDS)
        asked, *cached = found if isinstance(found, Counts) else Counts()
        return Samples(*cached), asked
