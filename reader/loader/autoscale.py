"""Choose the number of workers for ``workers="auto"``, by a pure function of measurements.

It begins with two. After each half second and four batches of the loop, with all workers started:

- If more workers brought less than a tenth of the expected gain, it goes back to the previous
  number, which becomes the ceiling.
- If workers are busy and the consumer waits, it adds as many as the consumer's own pace needs: at
  most twice as many at a time, and at most the usable cores.
- If the consumer does not wait, it keeps as few workers as do the work at 80% load. If these turn
  out too few, the number that it grows to becomes the floor.

Ceiling and floor hold until the next iterator. Batches do not depend on any of this.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from reader.monitoring.counters import Counters, Loop
from reader.monitoring.statistics import Statistics
from reader.workers.pool import Pool

_MEASURED_SECONDS, _MEASURED_BATCHES = 0.5, 4
_FIRST = 2
_WORTH = 0.1  # of the promised gain
_AT_EASE = 0.01  # share of waiting below which there are more workers than needed
_OCCUPIED = 0.8


@dataclass(frozen=True)
class Choice:
    workers: int
    ceiling: int
    floor: int = 1  # fewer are too few, and more than `ceiling` bring nothing
    before: tuple[int, float] | None = None  # workers and images/s that it grew from
    has_shrunk: bool = False  # whether it was ever lowered since the limits were set

    @classmethod
    def first(cls, cores: int) -> "Choice":
        return cls(min(_FIRST, cores), cores)

    def renewed(self, cores: int) -> "Choice":
        return Choice(self.workers, cores)


def choose(choice: Choice, seen: Counters) -> Choice:
    """Return the next choice, given the measurements of `choice.workers` workers."""
    workers, rate = choice.workers, seen.images_per_second
    if choice.before is not None:
        fewer, slower = choice.before
        if rate < slower * (1 + _WORTH * (workers / fewer - 1)) and seen.bound_by != "consumer":
            return replace(choice, workers=fewer, ceiling=fewer, before=None)
        choice = replace(choice, before=None)
    if seen.bound_by in (seen.now.work, "transform", "storage"):
        wanted = max(workers + 1, min(seen.needed_workers, 2 * workers))
        more = min(wanted, choice.ceiling)
        if more <= workers:
            return choice
        floor = more if choice.has_shrunk else choice.floor
        return replace(choice, workers=more, floor=floor, before=(workers, rate))
    if seen.bound_by == "consumer" and seen.waited_share < _AT_EASE:
        enough = math.ceil(round(seen.spent.busy / seen.loop.elapsed / _OCCUPIED, 3))
        fewer = max(enough, choice.floor)
        if fewer < workers:
            return replace(choice, workers=fewer, has_shrunk=True)
    return choice


class Autoscaler:
    def __init__(self, pool: Pool, cores: int) -> None:
        self._pool = pool
        self._cores = cores
        self._choice = Choice.first(cores)
        self._since: Statistics | None = None  # when these workers began to be measured

    def begin(self) -> None:
        self._choice = self._choice.renewed(self._cores)

    def settle(self, loop: Loop, look: Callable[[], Statistics]) -> None:
        if not self._pool.is_settled:
            self._since = None
        elif self._since is None:
            self._since = look()
        elif (
            loop.elapsed - self._since.loop.elapsed >= _MEASURED_SECONDS
            and loop.batches - self._since.loop.batches >= _MEASURED_BATCHES
        ):
            now = look()
            self._choice = choose(self._choice, now.since(self._since))
            self._pool.resize(self._choice.workers)
            self._since = now
