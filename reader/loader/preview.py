"""The batch that comes next, made beside the loop: nothing of the loop's own is touched."""

from typing import Any

from reader.batch.ring import RingMemory
from reader.loader.collate import Batcher
from reader.loader.feed import Feed
from reader.loader.tasks import SPARE, TaskPlanner
from reader.order.sampled import Sampled
from reader.order.shuffle import Order
from reader.order.steps import Step
from reader.samples.row_writer import loose_fields
from reader.workers.in_place import InPlace
from reader.workers.messages import Failed
from reader.workers.pool import failure


def batch_of(feed: Feed, order: Order, batcher: Batcher, step: Step) -> Any:
    """A step's batch, decoded in this very process into memory of its own.

    Raises:
        ReaderError: a sample of it cannot be read.
    """
    if isinstance(order, Sampled):
        order.given(step.position // order.count)
    setup = feed.setup_of_one
    memory = RingMemory.create(1, setup.layout)
    try:
        spare = SPARE if setup.on_error == "substitute" else 0
        tasks = TaskPlanner(order, setup.layout.rows, spare).tasks(step, 0)
        worker = InPlace(setup, memory)
        worker.submit(tasks)
        rows: list[tuple[Any, ...]] = []
        for _ in tasks:
            [ended] = worker.poll(None)
            if isinstance(ended, Failed):
                raise failure(ended)
            rows += ended.loose
        arrays = setup.layout.arrays(memory.slot(0)).part(0, step.rows).copy()
    finally:
        memory.close()
    names = loose_fields(setup.layout, setup.recipe)
    return batcher.batch(arrays, {name: [row[at] for row in rows] for at, name in enumerate(names)})
