"""What is queued of an epoch: batches that are being filled, or wait for their consumer."""

from collections import deque
from dataclasses import dataclass, field
from typing import Any

from reader.batch.layout import BatchArrays
from reader.order.steps import Step, Steps


@dataclass
class Batch:
    """A batch in the ring: FILLING while tasks of it are `missing`, then READY.

    Attributes:
        slot: where it lies; None once it was copied out to make room.
    """

    step: Step
    slot: int | None
    missing: set[int]
    loose: dict[int, tuple[tuple[Any, ...], ...]] = field(default_factory=dict)  # by task
    copy: BatchArrays | None = None
    error: Exception | None = None
    is_wanted: bool = True


@dataclass(eq=False)
class Epoch:
    """One pass over the data: its batches that are queued and not yet given out."""

    steps: Steps
    queued: int = 0
    taken: int = 0  # batches of it that were given out
    batches: deque[Batch] = field(default_factory=deque)

    @property
    def left(self) -> int:
        """Batches of it still to come."""
        return len(self.steps) - self.taken

    @property
    def is_queued(self) -> bool:
        """Whether its last step has been queued."""
        return self.queued >= len(self.steps)
