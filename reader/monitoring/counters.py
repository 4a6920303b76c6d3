"""What a loader counts: `Account` adds up loops and work as batches come and tasks end."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import add, sub
from typing import Any, NamedTuple, TypeVar

from reader.store.limits import Requests

_WAITS = 0.05  # from this share of waiting on the consumer is held up
BUSY = 0.8  # from this share of work on the workers are what holds it up

Part = TypeVar("Part", bound=tuple[Any, ...])


def plus(first: Part, second: Part) -> Part:
    return type(first)(*map(add, first, second))


def minus(first: Part, second: Part) -> Part:
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


class Spent(NamedTuple):
    """What tasks took, of all workers together; times in seconds."""

    busy: float = 0.0  # all of it
    cpu: float = 0.0  # the processor time of it
    read: float = 0.0  # of `busy`, in reading
    transform: float = 0.0  # of `busy`, in the transforms' code and `map_sample`
    read_bytes: int = 0
    cached: int = 0  # images that came, decoded, from memory: with ``cache="decoded"``
    dropped_boxes: int = 0  # too small before any crop, or outside of their image
    waiting: float = 0.0  # of `busy`, for a store; the rest is `decode`


class Samples(NamedTuple):
    """Samples that were fetched from a store, and that were in the cache."""

    fetched: int = 0
    hits: int = 0


class Now(NamedTuple):
    """How things are."""

    workers: int = 1  # worker processes
    cores: int = 1  # that this process may use
    starting: int = 0  # workers that cannot take tasks yet
    slots: int = 0  # batches that the ring holds
    slot_bytes: int = 0  # of each of them
    ready: int = 0  # batches that are complete and wait for the consumer
    work: str = "decode"  # what the workers are for: "decode", or "splice" where the GPU decodes


@dataclass(frozen=True)
class Counters:
    """The counts of a loader, and what follows from them; each is also an attribute of this."""

    loop: Loop = field(default_factory=Loop)
    spent: Spent = field(default_factory=Spent)
    cache: Samples = field(default_factory=Samples)
    store: Requests = field(default_factory=Requests)
    now: Now = field(default_factory=Now)

    def __getattr__(self, name: str) -> Any:
        for part in vars(self).values():
            if name in type(part).__annotations__:
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
        """Seconds that the workers had nothing to do: no slot was free for another batch."""
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
        """Workers whose work would fill the time that the consumer itself takes for its steps."""
        own = max(self.loop.elapsed - self.loop.waited, 1e-9)
        return max(1, math.ceil(round(self.spent.busy / own, 3)))

    @property
    def bound_by(self) -> str:
        """What holds it back: consumer, store, storage, decode (or splice), transform or start-up.

        Empty before anything was read. The limit is a consumer that waits for less than 5% of its
        time, or what workers that are busy for 80% of theirs spend most on; otherwise the consumer,
        if it waited for little but a first batch that took less time than its steps.
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
    """Adds up loops and work; what happens between two loops (validation, say) is not waiting."""

    def __init__(self, worker_seconds: Callable[[float], float]) -> None:
        """Begin; `worker_seconds` gives those of all workers since a moment."""
        self.loop = Loop()
        self.spent = Spent()
        self._worker_seconds = worker_seconds
        self._last = 0.0  # when the last batch was delivered

    def delivered(self, samples: int, asked: float, ready: int, is_first: bool) -> None:
        """Add a batch that a loop asked for at `asked`, when `ready` batches were there."""
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
        """Add the time from then until now, which is returned."""
        now = time.perf_counter()
        seconds = self._worker_seconds(since)
        self.loop = plus(self.loop, Loop(elapsed=now - since, worker_seconds=seconds))
        return now
