"""Build the parts of a loader from its configuration.

::

    order ── EpochRun ──> steps ── TaskPlanner ──> tasks ── Pool ──> workers ── RowWriter ──> rows
    batches <── Epochs <── Batcher: columns deliver <── PendingBatch <── slots of the ring <──┘

`BatchPipeline` drives tasks, workers and ring; `Epochs` gives each iterator its turn.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch

from reader.dataset.dataset import Dataset
from reader.errors import ReaderError
from reader.fields.boxes import Boxes
from reader.fields.columns import BatchSchema
from reader.fields.decoded_cache import DecodedImages, hold_decoded
from reader.fields.field import Recipe
from reader.fields.kinds import parse_fields
from reader.fields.schema import CANDIDATES, batch_schema
from reader.fields.seeding import BatchFunction, kept_generators
from reader.fields.tensors import pinned
from reader.loader.arguments import LoaderConfig, view_pipelines
from reader.loader.collate import Batcher
from reader.loader.delivery import Delivery
from reader.loader.epochs import Epochs, IterationSpec
from reader.loader.mixer import with_mixer
from reader.loader.pipeline import BatchPipeline
from reader.order.buckets import padding_waste
from reader.order.sampled import GivenBatches, GivenOrder
from reader.order.samplers import build_order
from reader.order.shuffle import Order
from reader.order.steps import Share, Steps, given_share

if TYPE_CHECKING:
    from reader.look.sheet import Sheet


@dataclass(frozen=True)
class Parts:
    dataset: Dataset
    order: Order
    plan: IterationSpec
    recipe: Recipe
    schema: BatchSchema
    decoded: DecodedImages | None
    delivery: Delivery | None  # None for images of uint8

    def pipeline(self, config: LoaderConfig, decoded: DecodedImages | None) -> BatchPipeline:
        batcher = Batcher(
            self.schema,
            self.dataset,
            config.collate_fn,
            self.recipe.seed,
            self.order.count,
            self.delivery,
        )
        return BatchPipeline(
            config, self.dataset, self.recipe, self.order, self.schema, batcher, decoded
        )

    def epochs(self, config: LoaderConfig) -> Epochs:
        is_pinned = config.pin_memory and torch.cuda.is_available()
        map_batch, pipeline = self.map_batch(config), self.pipeline(config, self.decoded)
        return Epochs(pipeline, self.plan, map_batch, pinned if is_pinned else None)

    def map_batch(self, config: LoaderConfig) -> BatchFunction | None:
        if config.map_batch is None:
            return None
        given = config.map_batch
        prepared = partial(with_mixer, recipe=self.recipe, dataset=self.dataset)
        functions = [*map(prepared, given)] if isinstance(given, (list, tuple)) else prepared(given)
        return BatchFunction("map_batch", functions, self.recipe.seed)

    def preview(self, config: LoaderConfig, steps: Steps) -> "Sheet":
        """Return a sheet of the first batch of `steps`, made in this process and its own memory."""
        from reader.look.batch import show  # rarely used, and imports Pillow

        here = replace(config, workers=0, num_workers=None, batches_ahead=1, max_bad=1.0)
        pipeline = self.pipeline(here, None)
        try:
            first = replace(steps, stop=steps[0].end, drop_last=False)
            step, arrays, loose = pipeline.take(pipeline.begin(first))
            place = divmod(step.position, self.order.count)
            batch = pipeline.batcher.batch(arrays, loose, step)
        finally:
            pipeline.close()
        if (map_batch := self.map_batch(config)) is not None:
            batch = map_batch(batch, place)
        own = self.recipe.fields
        boxes = [field.out or "xyxy" for field in own if isinstance(field, Boxes)]
        # `collate_fn` and `map_batch` may return others.
        is_own = isinstance(batch, tuple) and not config.collate_fn and len(own) == len(batch)
        fields, classes = own if is_own else None, self.dataset.classes
        output = None if self.delivery is None else self.delivery.output
        mean, std = (output.mean, output.std) if output and output.is_normalised else (None, None)
        form = [*boxes, "xyxy"][0]
        return show(batch, fields=fields, classes=classes, mean=mean, std=std, boxes=form)

    def padding_waste(self, world_size: int) -> float:
        length = self.order.length if isinstance(self.order, GivenBatches) else None
        span = self.plan.batch_size * world_size
        steps = Steps(self.order.count, span, 0, 1, drop_last=False, length=length)
        seed, transforms = self.recipe.seed, self.recipe.transforms
        with kept_generators():  # a transform of the user's may draw from them
            return padding_waste(self.dataset, transforms, self.order, steps, seed)


def build(config: LoaderConfig, dataset: Dataset) -> Parts:
    is_mapped = config.map_sample is not None
    fields = parse_fields(config.fields, dataset, is_mapped, config.decode)
    batch_size = int(config.batch_size)
    order = build_order(
        dataset,
        config.shuffle,
        int(config.seed),
        config.sampler,
        config.batch_sampler,
        None if batch_size == 1 else batch_size,
        config.epoch_size,
    )
    if not order.count:
        raise ReaderError(f"{dataset.source} has no samples to load.")
    share = given_share(config.rank, config.world_size)
    if config.batch_sampler is not None or hasattr(config.sampler, "num_replicas"):
        share = Share(0, 1)  # it gives this rank's share
    batch_size = order.batch_size if isinstance(order, GivenBatches) else batch_size
    plan = IterationSpec(order, batch_size, bool(config.drop_last), config.epochs, share)
    plan.steps(0)  # raises if there is none
    (transforms, *further), output = view_pipelines(
        config.transforms, config.views, dataset.channels
    )
    recipe = Recipe(transforms, int(config.seed), fields, config.map_sample, tuple(further))
    first = np.arange(min(CANDIDATES, order.count))
    schema = batch_schema(
        dataset,
        recipe,
        batch_size,
        (first if isinstance(order, GivenOrder) else order.samples(first, 0)).tolist(),
        is_batched=config.collate_fn is None,
        skips_bad=config.on_error != "raise",
        timeout=config.patience,
    )
    decoded = None
    if config.cache == "decoded" and "image" in recipe.names and not schema.is_gathered:
        decoded = hold_decoded(dataset, (transforms, *further))
    delivery = None
    if output is not None:
        channels = None if is_mapped else dataset.channels
        delivery = Delivery.of(output, schema, recipe, channels, order.count)
    return Parts(dataset, order, plan, recipe, schema, decoded, delivery)
