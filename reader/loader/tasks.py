"""Divide a step into the tasks that fill its batch."""

from collections import deque
from dataclasses import dataclass, field
from itertools import pairwise, takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.batch.layout import BatchArrays
from reader.order.shuffle import Order
from reader.order.steps import Step, Steps
from reader.workers.messages import Task

SPARE = 16  # samples tried in place of one that cannot be read

_BLOCK = 1 << 14  # sample numbers that are computed at a time; a few cost almost as much


class TaskPlanner:
    def __init__(self, order: Order, chunk: int, spare: int) -> None:
        self._order = order
        self._chunk = chunk
        self._spare = np.arange(1, spare + 1)
        self._next = 0
        # Epoch, number, stride and offset of the block in memory.
        self._block_of = (-1, -1, 1, 0)
        self._block: NDArray[np.int64] = np.empty(0, np.int64)

    def tasks(self, step: Step, slot: int, drawn: int = 0) -> list[Task]:
        """Return the tasks of a step, whose first `drawn` images are not left to a GPU.

        None reaches from one epoch into the next.
        """
        count = self._order.count
        positions = step.positions
        begun = range(step.position // count + 1, (step.end - 1) // count + 1)  # epochs
        edges = {int(np.searchsorted(positions[: step.valid], epoch * count)) for epoch in begun}
        tasks = []
        for row, end in pairwise(sorted({*range(0, step.rows, self._chunk), *edges, step.rows})):
            epoch = int(positions[row]) // count
            inside = positions[row:end] - epoch * count
            samples = self._samples(inside, epoch, step.stride)
            valid = min(max(step.valid - row, 0), end - row)
            following = (inside[-1] + step.stride * self._spare) % count
            spare = self._order.samples(following, epoch) if following.size else following
            first = int(inside[0])
            place = self._next, slot, row, epoch, first
            tasks.append(Task(*place, samples, valid, spare, step.stride, drawn))
            self._next += 1
        return tasks

    def _samples(self, positions: NDArray[np.int64], epoch: int, stride: int) -> NDArray[np.int64]:
        turns, offsets = np.divmod(positions, stride)
        number, offset = int(turns[0]) // _BLOCK, int(offsets[0])
        if int(turns[-1]) // _BLOCK != number or (offsets != offset).any():
            return self._order.samples(positions, epoch)
        if self._block_of != (epoch, number, stride, offset):
            start = number * _BLOCK * stride + offset
            stop = min(start + _BLOCK * stride, self._order.count)
            self._block_of = epoch, number, stride, offset
            self._block = self._order.samples(np.arange(start, stop, stride), epoch)
        return self._block[turns - number * _BLOCK]


@dataclass
class PendingBatch:
    """A batch in the ring: FILLING while tasks of it are `missing`, then READY."""

    step: Step
    slot: int | None  # None once it was copied out to make room
    missing: set[int]
    loose: dict[int, tuple[tuple[Any, ...], ...]] = field(default_factory=dict)  # by task
    copy: BatchArrays | None = None
    error: Exception | None = None
    is_wanted: bool = True
    share: float | None = None  # of its images that workers decode, if it is settled


@dataclass(eq=False)
class EpochRun:
    """One pass over the data, with the batches that are queued and not yet delivered."""

    steps: Steps
    queued: int = 0
    taken: int = 0  # delivered batches
    batches: deque[PendingBatch] = field(default_factory=deque)

    @property
    def decoded(self) -> int:
        """Number of steps up to the first one that is not decoded."""
        return self.taken + sum(1 for _ in takewhile(lambda batch: not batch.missing, self.batches))

    @property
    def left(self) -> int:
        return len(self.steps) - self.taken

    @property
    def position(self) -> int:
        """The position, counted over all epochs, up to which batches are delivered."""
        return self.steps.begin(self.taken) if self.left else self.steps.stop

    @property
    def is_queued(self) -> bool:
        return self.queued >= len(self.steps)
