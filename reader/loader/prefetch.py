"""What the loader tells a dataset's fetching process: which samples are read next.

Where the order is a function the fetching process has the function, and looks as far ahead as it
likes. The numbers of a user's sampler it hears as they are queued for the workers.
"""

from collections.abc import Iterable
from itertools import count

import numpy as np

from reader.cache.messages import Counts
from reader.dataset.dataset import Dataset
from reader.errors import warn
from reader.loader.counters import Flows
from reader.loader.tasks import EpochRun
from reader.order.access import AccessPattern
from reader.order.shuffle import Order
from reader.workers.messages import Task

_TOLD_SECONDS = 5.0  # that every worker has waited


class Prefetch:
    """The plans of one loader; of a dataset in a folder, none."""

    def __init__(self, dataset: Dataset, order: Order, depth: int) -> None:
        """Take the dataset and its order; `depth` steps are under way at a time."""
        fetching = dataset.fetching
        self._plans = None if fetching is None else fetching.plans()
        self._dataset = dataset
        self._order = order
        self._depth = depth
        self._number = count()
        self._numbers: dict[EpochRun, int] = {}
        self._before = self._counted()
        self._has_told = False

    def begin(self, epoch: EpochRun) -> None:
        """An epoch is to be read."""
        if self._plans is not None and not self._order.is_given and len(epoch.steps):
            number = next(self._number)
            places = self._dataset.places
            ahead = AccessPattern(self._order, epoch.steps, places.counts, places.chosen)
            self._plans.begin(number, ahead, self._depth)
            self._numbers[epoch] = number

    def queued(self, tasks: Iterable[Task]) -> None:
        """A step waits for its workers."""
        if self._plans is not None and self._order.is_given:
            numbers = np.unique(np.concatenate([task.samples for task in tasks]))
            for shard, _, rows in self._dataset.places.find_all(numbers):
                self._plans.hint(shard, rows)

    def took(self, epoch: EpochRun) -> None:
        """A batch of an epoch was given out."""
        if self._plans is not None and epoch in self._numbers:
            self._plans.took(self._numbers[epoch], epoch.taken)

    def drop(self, epoch: EpochRun) -> None:
        """No more of an epoch will be read."""
        number = self._numbers.pop(epoch, None)
        if self._plans is not None and number is not None:
            self._plans.drop(number)

    def tell(self, flows: Flows) -> None:
        """Say once that the loop waits for the network, if that is so."""
        if self._plans is None or self._has_told or flows.waiting < flows.busy / 2:
            return
        workers = max(flows.worker_seconds / max(flows.elapsed, 1e-9), 1)
        if flows.waiting >= _TOLD_SECONDS * workers:
            self._has_told = True
            seen = self.counts().store
            each = seen.asking / max(seen.requests, 1) * 1e3
            warn(
                f"This loop waits for the network: {seen.fetched_bytes / 1e6:,.0f} MB of "
                f"{self._dataset.source} have come so far, in {seen.requests:,} requests of "
                f"{each:.0f} ms. They stay in the cache for the epochs to come. "
                "loader.statistics() says what would help."
            )

    def counts(self) -> Counts:
        """Return what was fetched since the loader was made, and what is under way."""
        now, before = self._counted(), self._before
        if now.store.requests < before.store.requests:  # of a process that has died since
            before = Counts()
        grown = ("fetched_bytes", "requests", "retries", "asking")
        each = {name: getattr(now.store, name) - getattr(before.store, name) for name in grown}
        fetched, hits = now.fetched - before.fetched, now.hits - before.hits
        return Counts(now.store._replace(**each), fetched, hits)

    def _counted(self) -> Counts:
        return Counts() if self._plans is None else self._plans.counts()
