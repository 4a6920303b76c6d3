"""Divide an order into steps of batches over ranks, and determine this process's rank."""

import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reader.checks import is_integer
from reader.errors import ArgumentError, ReaderError


@dataclass(frozen=True)
class Step:
    position: int  # of its first sample
    rows: int  # samples in its batch, the same on every rank
    valid: int  # samples of this rank; the rest is padding
    end: int  # position up to which all ranks have read after it
    stride: int = 1  # between the positions of its samples

    @property
    def positions(self) -> NDArray[np.int64]:
        """Positions of all rows; padding repeats a sample of the step, of any rank."""
        return np.minimum(self.position + self.stride * np.arange(self.rows), self.end - 1)


@dataclass(frozen=True)
class Steps:
    """The positions from `start` to `stop`, divided into steps of `world_size` batches.

    Positions count over all epochs. A step takes the next ``batch_size * world_size``, rank after
    rank, so the global order does not depend on the world size; ranks share the last step evenly.
    With `residue`, a rank takes the positions that have it modulo `world_size`. With `length`, the
    number of samples of a position's batch, steps are `batch_size` positions apart.
    """

    stop: int
    batch_size: int
    rank: int
    world_size: int
    drop_last: bool
    start: int = 0
    length: Callable[[int], int] | None = None
    residue: int | None = None

    @cached_property
    def span(self) -> int:
        """Positions of a step, of all ranks."""
        return self.batch_size * self.world_size

    def begin(self, step: Any) -> Any:
        """Return the first position of a step, or of an array of steps, over all epochs."""
        return self.start + step * self.span

    def __len__(self) -> int:
        left = self.stop - self.start
        return left // self.span if self.drop_last else -(-left // self.span)

    @property
    def samples(self) -> int:
        if self.length is not None:
            return sum(step.valid for step in self)
        count = len(self)
        return (count - 1) * self.batch_size + self[count - 1].valid if count else 0

    def __iter__(self) -> Iterator[Step]:
        return map(self.__getitem__, range(len(self)))

    def __getitem__(self, number: int) -> Step:
        first = self.start + number * self.span
        end = min(first + self.span, self.stop)
        if self.length is not None:
            rows = self.length(first)
            return Step(first, rows, rows, end)
        rows = -(-(end - first) // self.world_size)
        if self.residue is not None:
            position = first + (self.residue - first) % self.world_size
            valid = max(-(-(end - position) // self.world_size), 0)
            return Step(position, rows, valid, end, self.world_size)
        position = min(first + self.rank * rows, end)
        return Step(position, rows, min(rows, end - position), end)

    def positions(self, first: int, stop: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the positions of this rank's rows from step `first` to `stop`, and their steps."""
        steps = np.arange(first, stop)
        begins = self.begin(steps)
        ends = np.minimum(begins + self.span, self.stop)
        count, stride = -(-(ends - begins) // self.world_size), 1
        if self.residue is None:
            begins = np.minimum(begins + self.rank * count, ends)
        else:
            stride = self.world_size
            begins = begins + (self.residue - begins) % stride
        inside = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
        positions = np.repeat(begins, count) + stride * inside
        # Padding repeats a sample of the step.
        return np.minimum(positions, np.repeat(ends, count) - 1), np.repeat(steps, count)


class Share(NamedTuple):
    rank: int
    world_size: int


def given_share(rank: int | None, world_size: int | None) -> Share | None:
    if rank is None and world_size is None:
        return None
    if is_integer(rank) and is_integer(world_size) and 0 <= rank < world_size:  # type: ignore[operator]
        return Share(int(rank), int(world_size))  # type: ignore[arg-type]
    raise ArgumentError(
        f"rank={rank!r} and world_size={world_size!r} are invalid: give both, as integers, with "
        "0 <= rank < world_size."
    )


def current_share() -> Share:
    """Return this process's share by torch.distributed, or by torchrun before it is initialised."""
    distributed = sys.modules.get("torch.distributed")  # not initialised if not imported
    if distributed and distributed.is_available() and distributed.is_initialized():
        return Share(distributed.get_rank(), distributed.get_world_size())
    rank, world_size = (os.environ.get(name, "") for name in ("RANK", "WORLD_SIZE"))
    if not (rank.isdecimal() and world_size.isdecimal()):
        return Share(0, 1)
    if int(rank) >= int(world_size):
        raise ReaderError(
            f"The environment has RANK={rank} and WORLD_SIZE={world_size}, but a rank is below the "
            "world size. Start the script with torchrun, or give rank= and world_size=."
        )
    return Share(int(rank), int(world_size))
