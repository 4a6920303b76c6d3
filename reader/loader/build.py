"""Build the parts of a loader from its configuration.

::

    order ── EpochRun ──> steps ── TaskPlanner ──> tasks ── Pool ──> workers ── RowWriter ──> rows
    batches <── Epochs <── Batcher: columns deliver <── PendingBatch <── slots of the ring <──┘

`BatchPipeline` drives tasks, workers and ring; `Epochs` gives each iterator its turn.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from reader.columns.kinds import Recorded, parse_fields
from reader.columns.schema import BatchSchema
from reader.columns.tensors import pinned
from reader.dataset.dataset import Dataset
from reader.dataset.mix import Mix
from reader.errors import ArgumentError, ReaderError
from reader.loader.arguments import LoaderConfig, view_pipelines
from reader.loader.collate import Batcher
from reader.loader.epochs import Epochs, IterationSpec
from reader.loader.pipeline import BatchPipeline
from reader.loader.schema import CANDIDATES, batch_schema
from reader.order.buckets import padding_waste
from reader.order.sampled import GivenBatches, GivenOrder
from reader.order.samplers import build_order
from reader.order.shuffle import Order
from reader.order.steps import Share, Steps, given_share
from reader.samples.boxes import Boxes
from reader.samples.decoded_cache import DecodedImages, hold_decoded
from reader.samples.fields import ResolvedField, name_of, written
from reader.samples.members import PictureField
from reader.samples.sample import Recipe

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

    def pipeline(self, config: LoaderConfig, decoded: DecodedImages | None) -> BatchPipeline:
        batcher = Batcher(self.schema, self.dataset, config.collate_fn)
        return BatchPipeline(
            config, self.dataset, self.recipe, self.order, self.schema, batcher, decoded
        )

    def epochs(self, config: LoaderConfig) -> Epochs:
        finish: list[Callable[[Any], Any]] = [config.map_batch] if config.map_batch else []
        if config.pin_memory and torch.cuda.is_available():
            finish.append(pinned)
        return Epochs(self.pipeline(config, self.decoded), self.plan, finish)

    def preview(self, config: LoaderConfig, steps: Steps) -> "Sheet":
        """Return a sheet of the first batch of `steps`, made in this process and its own memory."""
        from reader.look.batch import show  # rarely used, and imports Pillow

        here = replace(config, workers=0, num_workers=None, batches_ahead=1, max_bad=1.0)
        pipeline = self.pipeline(here, None)
        try:
            first = replace(steps, stop=steps[0].end, drop_last=False)
            _, arrays, loose = pipeline.take(pipeline.begin(first))
            batch = pipeline.batcher.batch(arrays, loose)
        finally:
            pipeline.close()
        batch = batch if config.map_batch is None else config.map_batch(batch)
        fields = [one.field for one in self.recipe.members]
        boxes = [field.out or "xyxy" for field in fields if isinstance(field, Boxes)]
        names: tuple[str, ...] | None = self.recipe.names
        is_tuple = isinstance(batch, tuple) and not config.collate_fn
        if not is_tuple or len(self.recipe.names) != len(batch):  # map_batch may return others
            names = None
        return show(batch, fields=names, classes=self.dataset.classes, boxes=[*boxes, "xyxy"][0])

    def padding_waste(self, world_size: int) -> float:
        length = self.order.length if isinstance(self.order, GivenBatches) else None
        span = self.plan.batch_size * world_size
        steps = Steps(self.order.count, span, 0, 1, drop_last=False, length=length)
        seed, transforms = self.recipe.seed, self.recipe.transforms
        return padding_waste(self.dataset, transforms, self.order, steps, seed)


def build(config: LoaderConfig, dataset: Dataset) -> Parts:
    is_mapped = config.map_sample is not None
    recorded: dict[str, Recorded] = {**dataset.box_encodings, **dataset.mask_colors}
    members = parse_fields(config.fields, dataset.extensions, is_mapped, recorded)
    _check_parts(dataset, members)
    names, batch_size = tuple(map(name_of, config.fields)), int(config.batch_size)
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
    transforms, *further = view_pipelines(config.transforms, config.views)
    recipe = Recipe(transforms, int(config.seed), names, members, config.map_sample, tuple(further))
    first = np.arange(min(CANDIDATES, order.count))
    schema = batch_schema(
        dataset,
        recipe,
        batch_size,
        (first if isinstance(order, GivenOrder) else order.samples(first, 0)).tolist(),
        decode=config.decode,
        is_batched=config.collate_fn is None,
        skips_bad=config.on_error != "raise",
        timeout=config.patience,
    )
    decoded = None
    if config.cache == "decoded" and "image" in names and not schema.is_gathered:
        decoded = hold_decoded(dataset, (transforms, *further))
    return Parts(dataset, order, plan, recipe, schema, decoded)


def _check_parts(dataset: Dataset, members: Sequence[ResolvedField]) -> None:
    """See that the datasets of a Mix have the members that all samples are to have, held alike."""
    for part in dataset.parts if isinstance(dataset, Mix) else ():
        _check_parts(part, members)
        for member in members:
            if member.ext not in part.extensions:
                if not member.is_optional:
                    raise ArgumentError(
                        f"{part.source}, a dataset of the Mix, has no members .{member.ext}: write "
                        f'"{written(member.field)}?" among the fields, or leave the dataset out.'
                    )
            elif isinstance(member.field, Boxes) and not member.field.decode:
                own, others = (one.box_encodings.get(member.ext) for one in (part, dataset))
                if own != others:
                    raise ArgumentError(
                        f"{part.source} holds boxes as {own}, another dataset of the Mix as "
                        f"{others}: pack both alike, or give Boxes(..., decode=f)."
                    )
            elif isinstance(member, PictureField) and member.colors == dataset.mask_colors.get(
                member.ext
            ) != part.mask_colors.get(member.ext):
                raise ArgumentError(
                    f"{part.source} has other colours of classes in masks .{member.ext} than "
                    f'another dataset of the Mix: give reader.Mask("{member.ext}", colors=...).'
                )
