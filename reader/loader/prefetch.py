"""Send the samples that are read next to a dataset's fetching process.

If the order is a function, the fetching process has the function and computes the order itself. The
numbers of a user's sampler are sent when they are queued for the workers.
"""

import contextlib
from collections.abc import Iterable
from dataclasses import replace
from itertools import count

import numpy as np

from reader.cache.client import Fetching, FetchingConnection
from reader.cache.messages import Begin, Counts, Drop, GetCounts, Hint, StepsTaken, Unavailable
from reader.dataset.dataset import Dataset
from reader.errors import StoreError, warn
from reader.loader.tasks import EpochRun
from reader.monitoring.counters import Loop, Samples, Spent, minus, plus
from reader.order.access import AccessPattern
from reader.order.sampled import GivenOrder
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
        self._begun: dict[EpochRun, list[tuple[Fetching, Begin]]] = {}
        self._before = self._counted()
        self._has_warned = False

    def begin(self, epoch: EpochRun) -> None:
        if not self._connections or not len(epoch.steps):
            return
        order = None if isinstance(self._order, GivenOrder) else self._order
        places = self._dataset.places
        steps = replace(epoch.steps, length=None)  # which is not needed here
        whole = AccessPattern(order, steps, places.counts, places.chosen)
        for fetching, shards in self._shards:
            ahead = whole if len(shards) == len(whole.sizes) else replace(whole, own=shards)
            message = Begin(next(self._number), ahead, self._depth)
            self._send_begin(fetching, message)
            self._begun.setdefault(epoch, []).append((fetching, message))

    def _send_begin(self, fetching: Fetching, message: Begin) -> None:
        try:
            answer = self._connections[id(fetching)].ask(message, _ANSWER_SECONDS)
        except StoreError:
            return  # it has died: reading a sample raises the error
        if isinstance(answer, Unavailable):
            raise StoreError(answer.text)

    def queued(self, epoch: EpochRun, tasks: Iterable[Task]) -> None:
        """Announce the samples of the step that was queued last, if the order is the user's."""
        if not self._connections or not isinstance(self._order, GivenOrder):
            return
        numbers = np.unique(np.concatenate([task.samples for task in tasks]))
        for shard, _, rows in self._dataset.places.find_all(numbers):
            for (fetching, shards), (_, begun) in zip(
                self._shards, self._begun.get(epoch, ()), strict=False
            ):
                if shard in shards:
                    hint = Hint(shard - shards.start, rows, begun.number, epoch.queued - 1)
                    self._connections[id(fetching)].send(hint)

    def decoded(self, epoch: EpochRun) -> None:
        """Note which steps of an epoch are decoded, so that their samples may be evicted."""
        begun, steps = self._begun.get(epoch, []), epoch.decoded
        for number, (fetching, message) in enumerate(begun):
            if message.steps == steps or not fetching.is_alive:
                continue
            begun[number] = fetching, message._replace(steps=steps)
            connection = self._connections[id(fetching)]
            if not connection.send(StepsTaken(message.number, steps)):
                self._send_begin(*begun[number])  # another process fetches now, see `cache.turns`

    def drop(self, epoch: EpochRun) -> None:
        for fetching, begun in self._begun.pop(epoch, ()):
            self._connections[id(fetching)].send(Drop(begun.number))

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
        """Return what was fetched since the start, for all loops over the dataset."""
        found, total = Samples(), Requests()
        for now, before in zip(self._counted(), self._before, strict=True):
            if now.pid != before.pid:  # another process fetches now
                before = Counts(now.pid)
            found = plus(found, minus(Samples(*now[2:]), Samples(*before[2:])))
            total = plus(total, now.store.since(before.store))
        return found, total

    def _counted(self) -> list[Counts]:
        found = []
        for connection in self._connections.values():
            answer = None
            with contextlib.suppress(StoreError):
                answer = connection.ask(GetCounts(), _ANSWER_SECONDS)
            found.append(answer if isinstance(answer, Counts) else Counts())
        return found
