"""Build the parts of a loader from its configuration.

::

    order ── EpochRun ──> steps ── TaskPlanner ──> tasks ── Pool ──> workers ── RowWriter ──> rows
    batches <── Epochs <── Batcher: columns deliver <── PendingBatch <── slots of the ring <──┘

`BatchPipeline` drives tasks, workers and ring; `Epochs` gives each iterator its turn.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch

from reader.dataset.dataset import Dataset
from reader.dataset.mix import Mix
from reader.errors import ArgumentError, ReaderError
from reader.fields.boxes import Boxes
from reader.fields.decoded_cache import DecodedImages, hold_decoded
from reader.fields.field import ResolvedField, name_of, written
from reader.fields.kinds import Recorded, parse_fields
from reader.fields.members import PictureField
from reader.fields.sample import Recipe
from reader.fields.schema import BatchSchema
from reader.fields.tensors import pinned
from reader.loader.arguments import LoaderConfig, view_pipelines
from reader.loader.collate import Batcher
from reader.loader.epochs import Epochs, IterationSpec
from reader.loader.pipeline import BatchPipeline
from reader.loader.schema import CANDIDATES, batch_schema
from reader.order.samplers import build_order
from reader.order.shuffle import Order
from reader.order.steps import Share, Steps, given_share


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

    def preview(self, config: LoaderConfig, steps: Steps) -> Any:
        """Return the first batch of `steps`, made in this process and in separate memory."""
        pipeline = self.pipeline(replace(config, workers=0, batches_ahead=1, max_bad=1.0), None)
        try:
            first = replace(steps, stop=steps[0].end, drop_last=False)
            _, arrays, loose = pipeline.take(pipeline.begin(first))
            return pipeline.batcher.batch(arrays, loose)
        finally:
            pipeline.close()


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
    batch_size = order.batch_size or batch_size
    plan = IterationSpec(order, batch_size, bool(config.drop_last), config.epochs, share)
    plan.steps(0)  # raises if there is none
    transforms, *further = view_pipelines(config.transforms, config.views)
    recipe = Recipe(transforms, int(config.seed), names, members, config.map_sample, tuple(further))
    first = np.arange(min(CANDIDATES, order.count))
    schema = batch_schema(
        dataset,
        recipe,
        batch_size,
        (first if order.is_given else order.samples(first, 0)).tolist(),
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
