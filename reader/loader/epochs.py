"""Keep the position of a loader, and decode the next epoch ahead.

Guarantees: the position counts delivered batches only, those of the newest iterator, also if the
epoch is set while it runs. An iterator never gets batches that were decoded for another position or
rank. An iterator that ends before its first batch leaves its epoch to the next one. Any thread may
use iterators, one call at a time.
"""

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.checks import is_integer
from reader.errors import ArgumentError, ReaderError, warn
from reader.fields.seeding import BatchFunction, Place
from reader.gpu_decode.decoders import ChosenDecoder
from reader.loader.pipeline import BatchPipeline
from reader.loader.tasks import EpochRun
from reader.order.sampled import GivenBatches, GivenOrder
from reader.order.shuffle import Order
from reader.order.steps import Share, Step, Steps, current_share

_ENDLESS = 2**62


@dataclass(frozen=True)
class IterationSpec:
    order: Order
    batch_size: int
    drop_last: bool
    epochs: int | None  # of one iteration; None for no end
    given: Share | None  # None to determine it each time

    @property
    def share(self) -> Share:
        return self.given or current_share()

    def steps(self, start: int) -> Steps:
        stop = _ENDLESS
        share = self.share
        if self.epochs is not None:  # a resumed iterator ends where the first one would have
            span = self.epochs * self.order.count
            stop = (start // span + 1) * span
            step = self.batch_size * share.world_size
            if self.drop_last and span < step:
                raise ArgumentError(
                    f"drop_last=True leaves no step: a step needs {step} samples (batch_size="
                    f"{self.batch_size} on world_size={share.world_size}), and there are {span}. "
                    "Give a smaller batch_size, or leave drop_last out."
                )
        length = self.order.length if isinstance(self.order, GivenBatches) else None
        residue = self.order.residue(*share)
        return Steps(stop, self.batch_size, *share, self.drop_last, start, length, residue)


class Epochs:
    """The state that the iterators of a loader share, under its `lock`."""

    def __init__(
        self,
        pipeline: BatchPipeline,
        plan: IterationSpec,
        map_batch: BatchFunction | None = None,
        finish: Callable[[Any], Any] | None = None,
    ) -> None:
        self.lock = threading.RLock()
        self.position = 0  # up to which the newest iterator has delivered, over all epochs
        self.pipeline = pipeline
        self.plan = plan
        self.map_batch = map_batch
        self.finish_batch = finish  # such as page-locking it
        self._newest: EpochRun | None = None  # the newest iterator's, until a state is loaded
        self._turned: int | None = None  # the position that `turn_to` chose for the next iterator
        self._ahead: EpochRun | None = None  # decoded before an iterator requests it
        self._abandoned: deque[EpochRun] = deque()  # filled by the garbage collector, at any moment

    @property
    def _next(self) -> int:
        """The position, counted over all epochs, at which the next iterator begins."""
        if self._turned is not None:
            return self._turned
        if self._newest is None or self.plan.epochs is None:
            return self.position
        return self._newest.steps.stop

    def decode_ahead(self) -> EpochRun:
        self._ahead = self._ahead or self.pipeline.begin(self.plan.steps(self._next))
        return self._ahead

    def begin(self) -> "EpochIterator":
        with self.lock:
            self.check_open()
            self._drop_abandoned()
            self._heed_share()
            self._heed_sampler()
            self._newest, self._ahead, self._turned = self.decode_ahead(), None, None
            self.position = self._newest.steps.start
            return EpochIterator(self, self._newest)

    def turn_to(self, epoch: int) -> None:
        """Make the next iterator deliver `epoch`, or the rest of it if the position is in it.

        Trainers also name the epoch that already runs. This changes nothing if its iterator goes
        on; a new one begins that epoch again.
        """
        if not is_integer(epoch) or epoch < 0:
            raise ArgumentError(f"epoch is an integer from 0, not {epoch!r}.")
        with self.lock:
            self.check_open()
            self._drop_abandoned()
            count, run = self.plan.order.count, self._newest
            if self._turned is not None or self._next // count != epoch:
                start = position = int(epoch) * count
                if run is not None and run.position // count == epoch and self._is_running(run):
                    start, position = max(start, run.steps.start), run.position
                self._turn(start)
                self.position = position

    def turn_to_iteration(self, number: int) -> None:
        if self.plan.epochs is not None:
            self.turn_to(number * self.plan.epochs)

    def upcoming(self) -> Steps:
        with self.lock:
            self._heed_sampler()
            return self.plan.steps(self._next)

    def steps_of_all(self) -> Steps:
        if self.plan.epochs is None:
            raise TypeError("a Loader with epochs=None has no length")
        return self.plan.steps(0)

    def attach(self, decoder: ChosenDecoder) -> None:
        """Let a GPU decode a share of each batch; batches that are decoded ahead are made again."""
        with self.lock:
            self.check_open()
            if self.pipeline.share.attach(decoder) and self._ahead is not None:
                self._drop_ahead()
                self.decode_ahead()

    def jump(self, position: int, share: float | None = None) -> None:
        with self.lock:
            self.check_open()
            if self.pipeline.share.load(share) or self._next != position:
                self._drop_ahead()
            self.position, self._newest, self._turned = position, None, None
            if isinstance(self.plan.order, GivenOrder):
                self.plan.order.newly_set()  # this call replaces it

    def deliver(self, run: EpochRun, *, is_raw: bool = False) -> tuple[Any, Step]:
        """Return the next batch of `run`, and its step; raw ones are for a prefetcher."""
        with self.lock:
            self.check_open()
            self.settled()
            step, arrays, loose = self.pipeline.take(run)
            if run is self._newest:
                self._deliver_newest(run, step)
            if all(queued.is_queued for queued in self.pipeline.epochs):
                with contextlib.suppress(ArgumentError):  # a sampler's: the next iterator raises it
                    self.decode_ahead()
            return self.pipeline.batcher.batch(arrays, loose, step, is_raw=is_raw), step

    def _deliver_newest(self, run: EpochRun, step: Step) -> None:
        count, turned = self.plan.order.count, self._turned
        if turned is not None and turned // count == step.position // count:
            self._turn(None)  # the epoch that was named is the one that goes on
        self.position = step.end if run.left else self._next

    def is_ready(self, run: EpochRun) -> bool:
        with self.lock:
            self.check_open()
            return self.pipeline.is_ready(run)

    def finish(self, run: EpochRun) -> None:
        with self.lock:
            self.pipeline.finish(run)

    def abandon(self, run: EpochRun) -> None:
        self._abandoned.append(run)

    def check_open(self) -> None:
        if self.pipeline.is_open:
            return
        if self.pipeline.is_forked:
            raise ReaderError(
                "This loader belongs to the process that this one was forked from. Make a new "
                "reader.Loader in this process."
            )
        raise ReaderError("This loader is closed. Make a new reader.Loader.")

    def _heed_share(self) -> None:
        """Drop batches that were decoded for another rank than this process now has."""
        run, share = self._ahead or self._newest, self.plan.share
        before = share if run is None else Share(run.steps.rank, run.steps.world_size)
        if before != share:
            warn(
                f"This loader now reads as rank {share.rank} of {share.world_size}, "
                f"not as rank {before.rank} of {before.world_size}: torch.distributed was "
                "initialised or destroyed in the meantime. Batches decoded ahead are dropped.",
                RuntimeWarning,
            )
            self._drop_ahead()

    def settled(self) -> int:
        """Return the position after what happened to iterators and a script's own sampler."""
        self._drop_abandoned()
        self._heed_sampler()
        return self.position

    def _heed_sampler(self) -> None:
        order = self.plan.order
        epoch = order.newly_set() if isinstance(order, GivenOrder) else None
        if epoch is not None and self.plan.epochs == 1 and self.pipeline.is_open:
            self.turn_to(epoch)

    def _drop_abandoned(self) -> None:
        while self._abandoned:
            run = self._abandoned.popleft()
            if run is self._newest and self._turned is not None:
                self.position = self._turned  # it no longer goes on
            is_untouched = run is self._newest and run.left and not run.taken
            if not is_untouched or self._turned not in (None, run.steps.start):
                self.pipeline.drop(run)
                continue
            self._drop_ahead()
            self._ahead, self._newest = run, None

    def _is_running(self, run: EpochRun) -> bool:
        return run.left > 0 and run in self.pipeline.epochs

    def _turn(self, position: int | None) -> None:
        before, self._turned = self._next, position
        if self._next != before:
            self._drop_ahead()

    def _drop_ahead(self) -> None:
        if self._ahead is not None:
            self.pipeline.drop(self._ahead)
            self._ahead = None


class EpochIterator(Iterator[Any]):
    """One epoch of a loader; if it is dropped before its end, its queued work is cancelled."""

    def __init__(self, epochs: Epochs, run: EpochRun) -> None:
        self._epochs = epochs
        self._run = run
        self._step: Step | None = None  # of the last batch

    def __len__(self) -> int:
        return self._run.left

    def is_ready(self) -> bool:
        return not self._run.left or self._epochs.is_ready(self._run)

    @property
    def positions(self) -> NDArray[np.int64]:
        """Positions of the rows of the last batch, over all epochs."""
        assert self._step is not None
        return self._step.positions

    @property
    def place(self) -> Place:
        """Where the last batch begins."""
        assert self._step is not None
        return divmod(self._step.position, self._epochs.plan.order.count)

    def __next__(self) -> Any:
        batch, epochs = self._next(), self._epochs
        if epochs.map_batch is not None:
            batch = epochs.map_batch(batch, self.place)
        return batch if epochs.finish_batch is None else epochs.finish_batch(batch)

    def raw(self) -> Any:
        """Return the next batch as a CUDAPrefetcher normalises and maps it itself."""
        return self._next(is_raw=True)

    def _next(self, *, is_raw: bool = False) -> Any:
        if not self._run.left:
            self._epochs.finish(self._run)
            raise StopIteration
        batch, self._step = self._epochs.deliver(self._run, is_raw=is_raw)
        return batch

    def __del__(self) -> None:
        self._epochs.abandon(self._run)
