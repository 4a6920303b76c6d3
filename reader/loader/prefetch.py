"""What the loader tells a dataset's fetching process: which samples are read next.

Where the order is a function the fetching process has the function, and looks as far ahead as it
likes. The numbers of a user's sampler are sent as they are queued for the workers.
"""

import contextlib
from collections.abc import Iterable
from dataclasses import replace
from itertools import count

import numpy as np

from reader.cache.client import Line
from reader.cache.messages import Begin, Counts, Drop, Hint, Lost, Tell, Took
from reader.dataset.dataset import Dataset
from reader.errors import StoreError, warn
from reader.loader.tasks import EpochRun
from reader.monitoring.counters import Loop, Samples, Spent, minus, plus
from reader.order.access import AccessPattern
from reader.order.shuffle import Order
from reader.store.limits import Requests
from reader.workers.messages import Task

_TOLD_SECONDS = 5.0  # that every worker has waited
_ANSWER_SECONDS = 30.0  # to what needs no network


class Prefetch:
    """The plans of one loader, with each fetching process; for datasets in folders, none."""

    def __init__(self, dataset: Dataset, order: Order, depth: int) -> None:
        self._shards = dataset.fetchings
        self._lines = {id(fetching): Line(fetching) for fetching, _ in self._shards}
        self._dataset = dataset
        self._order = order
        self._depth = depth
        self._number = count()
        self._numbers: dict[EpochRun, list[tuple[Line, int]]] = {}
        self._before = self._counted()
        self._has_told = False

    def begin(self, epoch: EpochRun) -> None:
        if not self._lines or self._order.is_given or not len(epoch.steps):
            return
        places = self._dataset.places
        whole = AccessPattern(self._order, epoch.steps, places.counts, places.chosen)
        for fetching, shards in self._shards:
            line, number = self._lines[id(fetching)], next(self._number)
            ahead = whole if len(shards) == len(whole.sizes) else replace(whole, own=shards)
            try:
                answer = line.ask(Begin(number, ahead, self._depth), _ANSWER_SECONDS)
            except StoreError:
                answer = None  # it has died: who needs a sample says which
            if isinstance(answer, Lost):
                raise StoreError(answer.text)
            self._numbers.setdefault(epoch, []).append((line, number))

    def queued(self, tasks: Iterable[Task]) -> None:
        if self._lines and self._order.is_given:
            numbers = np.unique(np.concatenate([task.samples for task in tasks]))
            for shard, _, rows in self._dataset.places.find_all(numbers):
                for fetching, shards in self._shards:
                    if shard in shards:
                        self._lines[id(fetching)].tell(Hint(shard - shards.start, rows))

    def took(self, epoch: EpochRun) -> None:
        for line, number in self._numbers.get(epoch, ()):
            line.tell(Took(number, epoch.taken))

    def drop(self, epoch: EpochRun) -> None:
        for line, number in self._numbers.pop(epoch, ()):
            line.tell(Drop(number))

    def tell(self, loop: Loop, spent: Spent) -> None:
        if not self._lines or self._has_told or spent.waiting < spent.busy / 2:
            return
        workers = max(loop.worker_seconds / max(loop.elapsed, 1e-9), 1)
        if spent.waiting >= _TOLD_SECONDS * workers:
            self._has_told = True
            _, seen = self.counts()
            each = seen.asking / max(seen.requests, 1) * 1e3
            warn(
                f"This loop waits for the network: {seen.fetched_bytes / 1e6:,.0f} MB of "
                f"{self._dataset.source} have come so far, in {seen.requests:,} requests of "
                f"{each:.0f} ms. They stay in the cache for the epochs to come. "
                "loader.statistics() says what would help."
            )

    def counts(self) -> tuple[Samples, Requests]:
        """Return what was fetched since the loader was made."""
        (cached, asked), (cached_before, before) = self._counted(), self._before
        if asked.requests < before.requests:  # of a process that has died since
            return cached, asked
        return minus(cached, cached_before), asked.since(before)

    def _counted(self) -> tuple[Samples, Requests]:
        found, total = Samples(), Requests()
        for line in self._lines.values():
            with contextlib.suppress(StoreError):
                answer = line.ask(Tell(), _ANSWER_SECONDS)
                if isinstance(answer, Counts):
                    found, total = plus(found, Samples(*answer[1:])), plus(total, answer.store)
        return found, total
