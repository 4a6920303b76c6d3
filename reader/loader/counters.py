"""What a loader counts: `Account` adds up `Flows`, in the parent, as batches come and tasks end."""

import math
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from reader.workers.messages import Spent

_WAITS = 0.05  # from this share of waiting on the consumer is held up
BUSY = 0.8  # from this share of work on the workers are what holds it up


@dataclass(frozen=True)
class Flows:
    """What adds up over time; times in seconds.

    Attributes:
        batches, samples: delivered.
        elapsed: of the loops over the loader: from the first request of each to its last.
        waited: of these, spent by the consumer waiting for a batch.
        waited_first: of `waited`, for the first batch of each loop.
        worker_seconds: the same time, once for each worker that had started.
        busy: spent by all workers together on tasks, and `cpu` their processor time of it.
        read, transform: of `busy`, in reading and in the transforms' code. The rest is `decode`.
        read_bytes: that were read.
        cached: images that came, decoded, from memory: with ``cache="decoded"``.
        ready_sum: batches that lay ready at each request, added up.
        copied, copying: batches copied out because the consumer held on to too many; time of it.
        restarts: workers that died and were replaced.
        bad: samples that could not be read and were substituted or masked.
        dropped_boxes: too small for `Boxes.min_size` before any crop, or outside of their image.
        waiting: of `busy`, spent by the workers waiting for a store.
        fetched, hits: samples that were fetched from the store, and that were in its cache.
        fetched_bytes, requests, retries: what the store gave, was asked for, and was asked again,
            also for what will be read later.
        asking: of all requests to it, added up.
    """

    batches: int = 0
    samples: int = 0
    elapsed: float = 0.0
    waited: float = 0.0
    waited_first: float = 0.0
    worker_seconds: float = 0.0
    busy: float = 0.0
    cpu: float = 0.0
    read: float = 0.0
    transform: float = 0.0
    read_bytes: int = 0
    cached: int = 0
    ready_sum: int = 0
    copied: int = 0
    copying: float = 0.0
    restarts: int = 0
    bad: int = 0
    dropped_boxes: int = 0
    waiting: float = 0.0
    fetched: int = 0
    hits: int = 0
    fetched_bytes: int = 0
    requests: int = 0
    retries: int = 0
    asking: float = 0.0


@dataclass(frozen=True)
class Counters(Flows):
    """`Flows`, how things are now, and what follows from both; see `reader.Statistics`."""

    workers: int = 1
    cores: int = 1
    starting: int = 0
    slots: int = 0
    slot_bytes: int = 0
    ready: int = 0
    work: str = "decode"
    in_flight: int = 0
    latency: float = 0.0

    @property
    def images_per_second(self) -> float:
        """Samples delivered in a second of the loop."""
        return self.samples / self.elapsed if self.elapsed else 0.0

    @property
    def ready_mean(self) -> float:
        """Batches that lay ready when the consumer asked for one, on average."""
        return self.ready_sum / self.batches if self.batches else 0.0

    @property
    def decode(self) -> float:
        """Seconds that the workers spent on planning, decoding and resizing."""
        return max(self.busy - self.read - self.transform - self.waiting, 0.0)

    @property
    def idle(self) -> float:
        """Seconds that the workers had nothing to do: no slot was free for another batch."""
        return max(self.worker_seconds - self.busy, 0.0)

    @property
    def waited_share(self) -> float:
        """Of the loop's time, what the consumer spent waiting for a batch; 0 to 1."""
        return min(self.waited / self.elapsed, 1.0) if self.elapsed else 0.0

    @property
    def busy_share(self) -> float:
        """Of the workers' time, what they spent on tasks; 0 to 1."""
        return min(self.busy / self.worker_seconds, 1.0) if self.worker_seconds else 0.0

    @property
    def needed_workers(self) -> int:
        """Workers whose work would fill the time that the consumer itself takes for its steps.

        From the consumer's rate while it does not wait, and the workers' time for a sample.
        """
        own = max(self.elapsed - self.waited, 1e-9)
        return max(1, math.ceil(round(self.busy / own, 3)))

    @property
    def bound_by(self) -> str:
        """What holds it back: consumer, store, storage, decode (or splice), transform or start-up.

        Empty before anything was read. A consumer that waits for less than 5% of its time is
        itself the limit; else workers that are busy for 80% of theirs are, with what they spend
        most on. If neither is, and the consumer waited for little but a first batch that took less
        time than its steps, the consumer is the limit.
        """
        if not self.batches or not self.elapsed:
            return ""
        if self.waited_share < _WAITS:
            return "consumer"
        if self.busy_share < BUSY:
            steps, later = self.elapsed - self.waited, self.waited - self.waited_first
            is_slow = self.waited_first < steps and later < _WAITS * (steps + later)
            return "consumer" if is_slow else "start-up"
        spent = {self.work: self.decode, "storage": self.read, "transform": self.transform}
        spent["store"] = self.waiting
        return max(spent, key=spent.__getitem__)


class Account:
    """Adds up the flows of `Statistics`.

    Time counts from the first request for a batch of a loop to its last one, so what happens
    between two epochs (validation, say) is nobody's waiting.
    """

    def __init__(self, worker_seconds: Callable[[float], float]) -> None:
        """Open the books."""
        self._worker_seconds = worker_seconds
        self._sums: dict[str, Any] = asdict(Flows())
        self._last = 0.0  # when the last batch was delivered

    @property
    def flows(self) -> Flows:
        """What has been booked."""
        return Flows(**self._sums)

    def delivered(self, samples: int, asked: float, ready: int, is_first: bool) -> None:
        """Book a batch that a loop asked for at `asked`, with `ready` batches there."""
        self._last = now = self._pass(asked if is_first else self._last)
        waited = now - asked
        self._add(batches=1, samples=samples, waited=waited, ready_sum=ready)
        self._add(waited_first=waited if is_first else 0.0)

    def finished(self) -> None:
        """Book the consumer's step with the last batch of its loop."""
        self._pass(self._last)

    def ended(self, spent: Spent) -> None:
        """Book a worker's task."""
        self._add(**spent._asdict())

    def _pass(self, since: float) -> float:
        """Book the time from then until now, which is returned."""
        now = time.perf_counter()
        self._add(elapsed=now - since, worker_seconds=self._worker_seconds(since))
        return now

    def _add(self, **amounts: float) -> None:
        for name, amount in amounts.items():
            self._sums[name] += amount
