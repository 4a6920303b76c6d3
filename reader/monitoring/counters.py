"""The counts of a loader: `Account` adds up loops and work as batches and tasks finish."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import add, sub
from typing import Any, NamedTuple, TypeVar

from reader.store.limits import Requests

_WAITS = 0.05  # share of waiting from which the consumer is held up
BUSY = 0.8  # share of work from which the workers are the reason

Counts = TypeVar("Counts", bound=tuple[Any, ...])


def plus(first: Counts, second: Counts) -> Counts:
    return type(first)(*map(add, first, second))


def minus(first: Counts, second: Counts) -> Counts:
    return type(first)(*map(sub, first, second))


class Loop(NamedTuple):
    """Counts and seconds of the loops over a loader, from the first request of each to its last."""

    batches: int = 0  # delivered
    samples: int = 0
    elapsed: float = 0.0  # seconds of the loops
    waited: float = 0.0  # of these, spent by the consumer waiting for a batch
    waited_first: float = 0.0  # of `waited`, for the first batch of each loop
    worker_seconds: float = 0.0  # the same time, once for each worker that had started
    ready_sum: int = 0  # batches that were ready at each request, added up
    copied: int = 0  # batches copied out because the consumer held too many
    copying: float = 0.0  # seconds of it
    restarts: int = 0  # workers that died and were replaced
    bad: int = 0  # samples that could not be read and were substituted or masked
    filtered: int = 0  # samples that `map_sample` dropped


class Spent(NamedTuple):
    """Counts and seconds of all tasks, added up over the workers."""

    busy: float = 0.0  # wall time
    cpu: float = 0.0  # CPU time
    read: float = 0.0  # part of `busy`: reading
    transform: float = 0.0  # part of `busy`: the transforms' code and `map_sample`
    read_bytes: int = 0
    cached: int = 0  # decoded images from memory, with ``cache="decoded"``
    dropped_boxes: int = 0  # and polygons: too small before any crop, or outside
    waiting: float = 0.0  # part of `busy`: waiting for a store; the rest is `decode`
    drawn: int = 0  # with ``decode="auto"``: images that workers decoded, not the GPU
    drawing: float = 0.0  # part of `busy`: decoding them


class Samples(NamedTuple):
    """Numbers of samples fetched from a store, and found in the cache."""

    fetched: int = 0
    hits: int = 0


class Now(NamedTuple):
    workers: int = 1  # worker processes
    cores: int = 1  # that this process may use
    starting: int = 0  # workers that cannot take tasks yet
    slots: int = 0  # batches that the ring holds
    slot_bytes: int = 0  # of each of them
    ready: int = 0  # complete batches that wait for the consumer
    work: str = "decode"  # task of the workers: "decode", or "splice" if the GPU decodes
    decode_share: float = 1.0  # of each batch, which workers decode; the GPU decodes the rest
    decoder: str = ""  # on the GPU
    refused_decoders: tuple[str, ...] = ()  # why others are not used


@dataclass(frozen=True)
class Counters:
    """The counts of a loader, each also an attribute, and figures computed from them."""

    loop: Loop = field(default_factory=Loop)
    spent: Spent = field(default_factory=Spent)
    cache: Samples = field(default_factory=Samples)
    store: Requests = field(default_factory=Requests)
    now: Now = field(default_factory=Now)

    def __getattr__(self, name: str) -> Any:
        for part in vars(self).values():
            if name in part._fields:
                return getattr(part, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def images_per_second(self) -> float:
        """Samples delivered in a second of the loop."""
        return self.loop.samples / self.loop.elapsed if self.loop.elapsed else 0.0

    @property
    def ready_mean(self) -> float:
        """Batches that were ready when the consumer asked for one, on average."""
        return self.loop.ready_sum / self.loop.batches if self.loop.batches else 0.0

    @property
    def decode(self) -> float:
        """Seconds that the workers spent on planning, decoding and resizing."""
        spent = self.spent
        return max(spent.busy - spent.read - spent.transform - spent.waiting, 0.0)

    @property
    def idle(self) -> float:
        """Seconds in which workers had no task, because no slot was free for another batch."""
        return max(self.loop.worker_seconds - self.spent.busy, 0.0)

    @property
    def waited_share(self) -> float:
        """Share of the loop's time that the consumer spent waiting for a batch; 0 to 1."""
        return min(self.loop.waited / self.loop.elapsed, 1.0) if self.loop.elapsed else 0.0

    @property
    def busy_share(self) -> float:
        """Share of the workers' time that they spent on tasks; 0 to 1."""
        seconds = self.loop.worker_seconds
        return min(self.spent.busy / seconds, 1.0) if seconds else 0.0

    @property
    def needed_workers(self) -> int:
        """Number of workers that would keep up with the consumer's own steps."""
        own = max(self.loop.elapsed - self.loop.waited, 1e-9)
        return max(1, math.ceil(round(self.spent.busy / own, 3)))

    @property
    def bound_by(self) -> str:
        """The bottleneck: consumer, store, storage, decode (or splice), transform or start-up.

        Empty before the first batch. The consumer, if it waits for less than 5% of its time.
        Otherwise the largest part of the workers' time, if they are busy for 80% of it. Otherwise
        the consumer, if it waited almost only for a first batch that took less time than its steps.
        """
        loop, spent = self.loop, self.spent
        if not loop.batches or not loop.elapsed:
            return ""
        if self.waited_share < _WAITS:
            return "consumer"
        if self.busy_share < BUSY:
            steps, later = loop.elapsed - loop.waited, loop.waited - loop.waited_first
            is_slow = loop.waited_first < steps and later < _WAITS * (steps + later)
            return "consumer" if is_slow else "start-up"
        parts = {self.now.work: self.decode, "storage": spent.read, "transform": spent.transform}
        parts["store"] = spent.waiting
        return max(parts, key=parts.__getitem__)


class Account:
    """Adds up loops and work; the time between two loops, such as a validation, does not count."""

    def __init__(self, worker_seconds: Callable[[float], float]) -> None:
        """Begin; `worker_seconds` returns the seconds of all workers since a time."""
        self.loop = Loop()
        self.spent = Spent()
        self._worker_seconds = worker_seconds
        self._last = 0.0  # when the last batch was delivered

    def delivered(self, samples: int, asked: float, ready: int, is_first: bool) -> None:
        """Add a batch requested at `asked`, when `ready` batches were complete."""
        self._last = now = self._pass(asked if is_first else self._last)
        waited = now - asked
        first = waited if is_first else 0.0
        self.loop = plus(self.loop, Loop(1, samples, 0, waited, first, 0, ready))

    def finished(self) -> None:
        """Add the consumer's step with the last batch of its loop."""
        self._pass(self._last)

    def ended(self, spent: Spent) -> None:
        self.spent = plus(self.spent, spent)

    def _pass(self, since: float) -> float:
        """Add the time from `since` until now, and return now."""
        now = time.perf_counter()
        seconds = self._worker_seconds(since)
        self.loop = plus(self.loop, Loop(elapsed=now - since, worker_seconds=seconds))
        return now
