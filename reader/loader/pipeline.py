"""Schedule decoding: epochs -> tasks -> ring -> batches.

Guarantees: each step of an epoch is delivered exactly once, in order, also when workers die.
Several epochs may run at once (nested loops), and none waits for another's consumer.

Assumptions: one thread at a time uses it, in the process that made it. Nothing runs there between
two calls: workers fetch the queued tasks of `depth` batches themselves.
"""

import os
import time
import weakref
from collections.abc import Sequence, Set
from typing import Any

from reader.batch.layout import BatchArrays, chunk_size, depth_of, slots_of
from reader.batch.pinned import page_lock
from reader.batch.ring import Ring, RingMemory
from reader.dataset.dataset import Dataset
from reader.errors import ReaderError
from reader.fields.columns import BatchSchema
from reader.fields.decoded_cache import DecodedImages
from reader.fields.field import Recipe
from reader.loader.arguments import LoaderConfig
from reader.loader.autoscale import Autoscaler, Choice
from reader.loader.collate import Batcher
from reader.loader.decode_share import DecodeShare
from reader.loader.prefetch import Prefetch
from reader.loader.tasks import SPARE, EpochRun, PendingBatch, TaskPlanner
from reader.monitoring.bad_samples import BadSamples, warn_of_boxes
from reader.monitoring.counters import Account, Now
from reader.monitoring.statistics import Statistics
from reader.order.sampled import GivenBatches, GivenOrder
from reader.order.shuffle import Order
from reader.order.steps import Step, Steps
from reader.system import running_on, usable_cores
from reader.workers.messages import Done, Failed, Setup
from reader.workers.pool import Pool, failure
from reader.workers.serial import SerialPool


class BatchPipeline:
    def __init__(
        self,
        config: LoaderConfig,
        dataset: Dataset,
        recipe: Recipe,
        order: Order,
        schema: BatchSchema,
        batcher: Batcher,
        decoded: DecodedImages | None,
    ) -> None:
        self._order = order
        self._cores = usable_cores()
        self._schema = schema
        self.batcher = batcher
        self.share = DecodeShare(config.decode)
        self._is_spliced = config.decode == "gpu"  # workers decode nothing
        workers, layout = config.processes, schema.layout
        self._most_workers = most = self._cores if workers is None else max(workers, 1)
        chunk = chunk_size(layout.rows, most, schema.is_gathered)
        spare = SPARE if config.on_error == "substitute" else 0
        self._planner = TaskPlanner(order, chunk, spare)
        self._depth = config.batches_ahead or depth_of(layout, most * chunk)
        memory = RingMemory.create(slots_of(self._depth), layout)
        setup = Setup(dataset.for_workers(), recipe, memory.slots, schema, config.on_error, decoded)
        self._ring = Ring(memory)
        try:
            self._pool: Pool | SerialPool
            self._scaler: Autoscaler | None = None
            if workers == 0:
                self._pool = SerialPool(setup, memory)
            else:
                first = workers or Choice.first(self._cores).workers
                self._pool = pool = Pool(first, setup, memory.descriptor, config.patience)
                self._scaler = None if workers else Autoscaler(pool, self._cores)
        except BaseException:
            memory.close()
            raise
        self._store = Prefetch(dataset, order, self._depth)
        self._owners: dict[int, PendingBatch] = {}  # by task
        self.epochs: list[EpochRun] = []  # the oldest first
        self._account = Account(self._pool.worker_seconds_since)
        samples = order.first_samples if isinstance(order, GivenBatches) else order.count
        self.bad = BadSamples(samples, config.on_error, config.max_bad)
        self._has_warned = False
        self._owner = os.getpid()
        held: list[RingMemory | DecodedImages] = [memory, *filter(None, [decoded])]
        self._finalizer = weakref.finalize(self, _shut_down, self._pool, held, self._owner)

    @property
    def is_open(self) -> bool:
        return self._finalizer.alive and not self.is_forked

    @property
    def is_forked(self) -> bool:
        return self._owner != os.getpid()

    def begin(self, steps: Steps) -> EpochRun:
        if isinstance(self._order, GivenOrder):
            self._order.begin(steps.start // self._order.count)
        epoch = EpochRun(steps)
        try:
            self._store.begin(epoch)
        except ReaderError:
            self.close()
            raise
        self.epochs.append(epoch)
        if self._scaler is not None:
            self._scaler.begin()
        self.supply()
        return epoch

    def take(self, epoch: EpochRun) -> tuple[Step, BatchArrays, dict[str, list[Any]]]:
        """Return the next batch of `epoch`, valid while it is referenced, and its loose fields."""
        asked = time.perf_counter()
        self._collect(0)
        ready = self._ready()
        while not epoch.batches or epoch.batches[0].missing:
            if not epoch.batches:
                self._make_room()
                self._queue(epoch)
            else:
                self._collect()
        batch = epoch.batches.popleft()
        epoch.taken += 1
        self._account.delivered(batch.step.valid, asked, ready, is_first=epoch.taken == 1)
        if batch.error is not None:
            self._forget(batch)
            raise batch.error
        arrays = batch.copy
        if arrays is None:
            assert batch.slot is not None
            arrays = self._ring.deliver(batch.slot, batch.step.rows)
        try:
            self.bad.delivered(arrays["valid"], batch.step.valid, epoch.steps.world_size)
        except ReaderError:
            self.close()
            raise
        if self._scaler is not None:
            self._scaler.settle(self._account.loop, self.statistics)
        self.share.delivered = batch.share
        self.share.settle(self.statistics)
        self.supply()
        if (dropped := self._account.spent.dropped_boxes) and not self._has_warned:
            self._has_warned = True
            warn_of_boxes(dropped)
        self._store.warn_if_slow(self._account.loop, self._account.spent)
        rows = [row for number in sorted(batch.loose) for row in batch.loose[number]]
        loose = {name: [row[at] for row in rows] for at, name in enumerate(self._schema.loose)}
        return batch.step, arrays, loose

    def is_ready(self, epoch: EpochRun) -> bool:
        self._collect(0)
        return bool(epoch.batches) and not epoch.batches[0].missing

    def pin(self, cuda: Any, cores: Set[int]) -> None:
        if self._most_workers <= len(cores):
            self._pool.bind(cores)
        with running_on(cores):
            page_lock(self._ring.memory.bytes, cuda)

    def supply(self) -> None:
        """Queue tasks while there are free slots, for the oldest epoch first."""
        for epoch in self.epochs:
            self._queue(epoch)

    def finish(self, epoch: EpochRun) -> None:
        if self.is_open and epoch in self.epochs and epoch.taken:
            self._account.finished()
        self.drop(epoch)

    def drop(self, epoch: EpochRun) -> None:
        """Cancel an epoch's queued tasks and forget it; ignored when repeated or closed."""
        if not self.is_open or epoch not in self.epochs:
            return
        self.epochs.remove(epoch)
        self._store.drop(epoch)
        taken = self._pool.cancel({n for batch in epoch.batches for n in batch.missing})
        for number in taken:
            self._owners.pop(number).missing.discard(number)
        for batch in epoch.batches:
            batch.is_wanted = False
            if not batch.missing:
                self._forget(batch)
        epoch.batches.clear()

    def statistics(self) -> Statistics:
        ring, pool = self._ring, self._pool
        loop = self._account.loop._replace(
            copied=ring.copied,
            copying=ring.copying,
            restarts=pool.restarts,
            bad=len(self.bad.reasons),
            filtered=len(self.bad.filtered),
        )
        now = Now(
            pool.size,
            self._cores,
            pool.starting,
            ring.memory.slots,
            ring.memory.layout.slot_bytes,
            self._ready(),
            "splice" if self._is_spliced else "decode",
            self.share.value,
            *((decoder.name, decoder.refused) if (decoder := self.share.decoder) else ()),
        )
        return Statistics(loop, self._account.spent, *self._store.counts(), now)

    def close(self) -> None:
        """End the workers; delivered batches stay valid."""
        self._finalizer()
        self._store.close()
        self.epochs = []

    def _queue(self, epoch: EpochRun) -> None:
        while not epoch.is_queued and len(epoch.batches) < self._depth:
            slot = self._ring.take()
            if slot is None:
                return
            step = epoch.steps[epoch.queued]
            tasks = self._planner.tasks(step, slot, self.share.rows(step.rows))
            numbers = {task.number for task in tasks}
            batch = PendingBatch(step, slot, numbers, share=self.share.settled)
            self._owners.update((task.number, batch) for task in tasks)
            epoch.queued += 1
            epoch.batches.append(batch)
            self._store.queued(epoch, tasks)
            self._pool.submit(tasks)

    def _collect(self, timeout: float | None = None) -> None:
        try:
            self._book(self._pool.poll(timeout))
        except ReaderError:
            self.close()
            raise

    def _book(self, ended: Sequence[Done | Failed]) -> None:
        bad: list[tuple[int, str]] = []
        for message in ended:
            batch = self._owners.pop(message.number)
            batch.missing.discard(message.number)
            if isinstance(message, Done):
                self._account.ended(message.spent)
                bad += message.bad
                batch.loose[message.number] = message.loose
            else:
                batch.error = batch.error or failure(message)
            if not batch.missing and not batch.is_wanted:
                self._forget(batch)
        self.bad.add(bad)
        for epoch in self.epochs:
            self._store.decoded(epoch)

    def _make_room(self) -> None:
        """If no slot is free, copy out a batch that another epoch's consumer has not fetched."""
        while not self._ring.has_free():
            for batch in (batch for epoch in self.epochs for batch in epoch.batches):
                if not batch.missing and batch.slot is not None:
                    batch.copy = self._ring.copy_out(batch.slot, batch.step.rows)
                    batch.slot = None
                    return
            self._collect()

    def _ready(self) -> int:
        """Count the batches that are complete and not yet delivered."""
        return sum(not batch.missing for epoch in self.epochs for batch in epoch.batches)

    def _forget(self, batch: PendingBatch) -> None:
        if batch.slot is not None:
            self._ring.release(batch.slot)


def _shut_down(pool: Pool | SerialPool, held: list[RingMemory | DecodedImages], owner: int) -> None:
    if os.getpid() == owner:  # a forked child must not end its parent's workers
        pool.close()
    for memory in held:
        memory.close()
