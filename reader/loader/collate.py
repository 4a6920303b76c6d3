"""Make the batches that the training loop gets from arrays."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from reader.batch.layout import BatchArrays
from reader.dataset.dataset import Dataset
from reader.errors import ReaderError, SampleError, because
from reader.fields.columns import BatchSchema, StoredBatch
from reader.fields.seeding import BatchFunction, is_users
from reader.fields.tensors import tensor
from reader.format import FormatError
from reader.loader.delivery import Delivery
from reader.order.steps import Step

Collate = Callable[[list[tuple[Any, ...]]], Any]


class Batcher:
    """Makes a batch: a tuple of fields, or the result of `collate_fn`."""

    def __init__(
        self,
        schema: BatchSchema,
        dataset: Dataset,
        collate_fn: Collate | None,
        seed: int,
        count: int,
        delivery: Delivery | None = None,
    ) -> None:
        self._count = count
        self._delivery = delivery
        self._fields = schema.fields
        self._rows = schema.rows
        self._dataset = dataset
        self._collate = collate_fn and BatchFunction("collate_fn", collate_fn, seed)

    def batch(
        self,
        arrays: BatchArrays,
        loose: Mapping[str, Sequence[Any]],
        step: Step,
        *,
        is_raw: bool = False,
    ) -> Any:
        """Return the batch of a `step`; a raw one has uint8 images, unless they are collated."""
        stored = StoredBatch(self._rows, arrays, loose, self._dataset)
        try:
            views = [[view.deliver(stored) for view in columns] for columns in self._fields]
        except (FormatError, ReaderError) as error:  # of an index that keys are read from
            raise SampleError(str(error)) from error
        batch = tuple(each[0] if len(each) == 1 else each for each in views)
        if self._delivery is not None and not (is_raw and self._collate is None):
            batch = self._delivery(batch, step.positions)
        if self._collate is None:
            return batch
        pairs = zip(views, batch, strict=True)
        views = [[value] if len(each) == 1 else value for each, value in pairs]
        if not is_users(self._collate.function):
            views = [[_filled(view, arrays["valid"]) for view in each] for each in views]
        samples = list(zip(*map(_rows, views), strict=True))
        try:
            return self._collate(samples, divmod(step.position, self._count))
        except Exception as error:  # such as a function written for PIL images
            given = ", ".join(
                f"{columns[0].name}: {_kind(value)}"
                for columns, value in zip(self._fields, samples[0], strict=True)
            )
            because(
                error,
                ReaderError(
                    f"collate_fn raised the error below. It is called with a list of tuples "
                    f"({given}). If it batches PIL images, as apex's fast_collate does, leave it "
                    "out: a Loader gives uint8 tensors (B, 3, H, W) and labels without it."
                ),
            )
            raise


def _filled(view: Any, valid: Any) -> Any:
    """Return a field with an empty tensor for the None of a masked row, so that it is padded."""
    like = next((v for v in view if isinstance(v, torch.Tensor)), None)
    if like is None or not isinstance(view, list) or valid.all():
        return view
    nothing = like.new_zeros((0,) * like.dim())
    pairs = zip(view, valid.tolist(), strict=True)
    return [nothing if value is None and not is_valid else value for value, is_valid in pairs]


def _rows(views: Sequence[Any]) -> Any:
    """Return the value of each sample in a field; a tuple of several views."""
    if len(views) > 1:
        return zip(*views, strict=True)
    is_number = isinstance(views[0], torch.Tensor) and views[0].dim() == 1
    return views[0].tolist() if is_number else views[0]


def _kind(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')} tensor {tuple(value.shape)}"
    return type(value).__name__


def pad_collate(samples: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Batch samples of different sizes: a `collate_fn`, also for torch's DataLoader.

    Tensors and arrays of a field are padded with zeros at their ends (images on the right and
    below) to the largest length of each dimension, and stacked. Numbers become a tensor (int64,
    float32 or bool). Tuples of one length, such as the views of a field, become a list with each
    entry batched in this way. Anything else becomes a list.

    Example:
        >>> sizes = [torch.ones(3, 2, 4), torch.ones(3, 5, 1)]
        >>> images, labels = reader.pad_collate([(image, 7) for image in sizes])
        >>> images.shape, labels
        (torch.Size([2, 3, 5, 4]), tensor([7, 7]))
    """
    return tuple(_padded(list(values)) for values in zip(*samples, strict=True))


pad_collate.__module__ = "reader"  # where people find it


def _padded(values: list[Any]) -> Any:
    if all(isinstance(value, (bool, int, float, np.number, np.bool_)) for value in values):
        return torch.tensor(values)
    if all(isinstance(value, tuple) for value in values) and len({*map(len, values)}) == 1:
        return [_padded(list(entries)) for entries in zip(*values, strict=True)]
    tensors = [tensor(value) for value in values]
    if not all(isinstance(tensor, torch.Tensor) for tensor in tensors):
        return values
    if len({(tensor.dtype, tensor.dim()) for tensor in tensors}) > 1:
        return values
    lengths = [max(sizes) for sizes in zip(*(t.shape for t in tensors), strict=True)]
    padded = tensors[0].new_zeros((len(tensors), *lengths))
    for row, one in zip(padded, tensors, strict=True):
        row[tuple(map(slice, one.shape))] = one
    return padded
