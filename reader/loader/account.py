"""The parent's books on a loop over a loader: what the consumer waited, what the workers spent."""

import time
from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from reader.loader.statistics import Flows
from reader.workers.messages import Spent


class Account:
    """Adds up the flows of `Statistics`.

    Time counts from the first request for a batch of a loop to its last one, so what happens
    between two epochs (validation, say) is nobody's waiting.
    """

    def __init__(self, worker_seconds: Callable[[float], float]) -> None:
        """Open the books.

        Args:
            worker_seconds: see `Pool.worker_seconds_since`.
        """
        self._worker_seconds = worker_seconds
        self._sums: dict[str, Any] = asdict(Flows())
        self._last = 0.0  # when the last batch was delivered

    @property
    def flows(self) -> Flows:
        """What has been booked."""
        return Flows(**self._sums)

    def delivered(self, samples: int, asked: float, ready: int, is_first: bool) -> None:
        """Book a batch that a loop asked for at `asked`, with `ready` batches there, and has now.

        Args:
            is_first: of its loop, before which there is no step of the consumer's to count.
        """
        self._last = now = self._pass(asked if is_first else self._last)
        self._add(batches=1, samples=samples, waited=now - asked, ready_sum=ready)

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
