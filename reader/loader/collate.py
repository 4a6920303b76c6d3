"""From a batch's arrays to what the training loop gets."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch

from reader.batch.layout import BatchArrays, BatchLayout
from reader.batch.nested import map_leaves
from reader.dataset.dataset import Dataset
from reader.errors import ReaderError, because, called
from reader.gpu_decode.images import EncodedImages
from reader.gpu_decode.parcels import CONTENT, PARCEL
from reader.samples.row_writer import InArray, as_array
from reader.samples.sample import Recipe

Collate = Callable[[list[tuple[Any, ...]]], Any]


class Batcher:
    """Gives batches as a tuple of fields, or as `collate_fn` makes them of the samples.

    By default what has one type and shape comes as one tensor, anything else as a list.
    """

    def __init__(
        self,
        names: Sequence[str],
        dataset: Dataset,
        layout: BatchLayout,
        recipe: Recipe,
        collate_fn: Collate | None = None,
    ) -> None:
        """Say what a batch consists of.

        Args:
            names: of the fields.
            dataset: has the keys and names of all samples.
            layout: of its arrays.
            recipe: of the samples.
            collate_fn: called with the list of samples, each a tuple of its fields.
        """
        self._names = names
        self._texts = {"key": dataset.keys, "name": dataset.names}
        self._collate_fn = collate_fn
        self._layout = layout
        self._pictures = recipe.picture_names
        self._is_mapped = recipe.map_sample is not None
        self._channels = dataset.channels

    def batch(self, arrays: BatchArrays, loose: dict[str, list[Any]]) -> Any:
        """The batch over `arrays`, with the fields that lie in none of them."""
        fields = tuple(self._field(name, arrays, loose) for name in self._names)
        if self._collate_fn is None:
            return fields
        rows = map(self._rows, self._names, fields)
        samples = list(zip(*rows, strict=True))
        try:
            return called("collate_fn", self._collate_fn, samples)
        except Exception as error:  # such as of one that was written for PIL images
            given = ", ".join(
                f"{n}: {_kind(v)}" for n, v in zip(self._names, samples[0], strict=True)
            )
            because(
                error,
                ReaderError(
                    f"collate_fn raised the error below. It is called with a list of tuples "
                    f"({given}). One that batches PIL images, such as apex's fast_collate, is not "
                    "needed: without it, a Loader gives uint8 tensors (B, 3, H, W) and labels."
                ),
            )
            raise

    def _rows(self, name: str, field: Any) -> Any:
        """A field's value of each sample."""
        if name in self._layout.views:
            return list(zip(*field, strict=True))
        return field.tolist() if isinstance(field, torch.Tensor) and field.dim() == 1 else field

    def _field(self, name: str, arrays: BatchArrays, loose: dict[str, list[Any]]) -> Any:
        parts = [self._part(name, part, arrays, loose) for part in self._layout.parts(name)]
        return parts if name in self._layout.views else parts[0]

    def _part(self, name: str, part: str, arrays: BatchArrays, loose: dict[str, list[Any]]) -> Any:
        """A field, or the view of it that goes by the name `part`."""
        if name == "image" and self._layout.encoded is not None:
            content = arrays.columns[CONTENT].reshape(-1)
            return EncodedImages(
                self._layout.encoded,
                arrays.columns[PARCEL],
                content,
                loose[name],
                self._texts["key"],
                arrays.index,
            )
        if name in self._texts:
            return [self._texts[name][number] for number in arrays.index.tolist()]
        if name == "image" and self._layout.image != (0, 0):  # as it was drawn, not mapped
            if part in self._layout.listed:
                return self._listed(
                    [torch.from_numpy(image).permute(2, 0, 1) for image in arrays.images()]
                )
            return torch.from_numpy(arrays.columns.get(part, arrays.image)).permute(0, 3, 1, 2)
        given = loose.get(part, ())
        if part in self._layout.listed or any(value is not InArray for value in given):
            values = [_tensor(value) for value in self._rows_of(part, arrays, given)]
            if name in self._pictures:
                values = [self._channels_first(value) for value in values]
            return self._listed(values) if part in arrays.columns else values
        if part in arrays.columns:
            tensor = torch.from_numpy(arrays.columns[part])
            is_batch_of_images = name in self._pictures and tensor.dim() > 3
            return self._channels_first(tensor) if is_batch_of_images else tensor
        return torch.from_numpy(getattr(arrays, name))

    def _listed(self, values: list[Any]) -> Any:
        """Values of different shapes as a list; that of a batch of one sample as a tensor."""
        is_one = self._layout.rows == 1 and isinstance(values[0], torch.Tensor)
        return values[0].unsqueeze(0) if is_one else values

    def _channels_first(self, image: Any) -> Any:
        """A picture, or a batch of them, that is (height, width, 3), or grey, channels first."""
        if isinstance(image, list):
            return [self._channels_first(view) for view in image]
        if not isinstance(image, torch.Tensor) or image.dim() < 3:
            return image
        channels, width, first = image.shape[-1], image.shape[-2], image.shape[-3]
        if channels not in (3, self._channels):
            return image
        if first == channels and self._is_mapped:
            raise ReaderError(
                f"map_sample gives images of {first} x {width} x {channels} numbers, which may be "
                f"({first}, H, W) or (H, W, {channels}). Pad what is so few pixels high or wide."
            )
        return image.movedim(-1, -3)

    def _rows_of(self, part: str, arrays: BatchArrays, given: Sequence[Any]) -> Sequence[Any]:
        """Each row's value: what was given for it, or what lies in the arrays."""
        if part not in arrays.columns:
            return given
        column = self._layout.column(part)
        rows = arrays.pictures(part) if column.is_picture else list(arrays.columns[part])
        if not given:
            return rows
        return [row if value is InArray else value for row, value in zip(rows, given, strict=True)]


def pinned(batch: Any) -> Any:
    """Copy the tensors of a batch to page-locked memory of torch's, as its `pin_memory` does.

    torch does not use that memory again before copies from it have ended, so that they may be
    `non_blocking`; the loader's own memory could be filled anew meanwhile.
    """

    def copied(leaf: Any) -> Any:
        on_host = isinstance(leaf, torch.Tensor) and leaf.device.type == "cpu"
        return leaf.pin_memory() if on_host else leaf

    return map_leaves(batch, copied)


def _kind(value: Any) -> str:
    """What a value is, in a few words."""
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).removeprefix('torch.')} tensor {tuple(value.shape)}"
    return type(value).__name__


def pad_collate(samples: list[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Batch samples of different sizes: a `collate_fn`, also for torch's DataLoader.

    Tensors and arrays of a field are padded with zeros at their ends (images on the right and
    below) to the largest length of each dimension, and stacked; numbers become a tensor (int64,
    float32 or bool); tuples of one length, as which the views of a field come, become a list of
    their entries, each batched so; anything else is a list.

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
    tensors = [_tensor(value) for value in values]
    if not all(isinstance(tensor, torch.Tensor) for tensor in tensors):
        return values
    if len({(tensor.dtype, tensor.dim()) for tensor in tensors}) > 1:
        return values
    lengths = [max(sizes) for sizes in zip(*(t.shape for t in tensors), strict=True)]
    padded = tensors[0].new_zeros((len(tensors), *lengths))
    for row, tensor in zip(padded, tensors, strict=True):
        row[tuple(map(slice, tensor.shape))] = tensor
    return padded


def _tensor(value: Any) -> Any:
    """Arrays, also those in a dict or list, as tensors; anything else as it is."""
    if isinstance(value, list):
        return [_tensor(entry) for entry in value]
    if isinstance(value, dict):
        return {name: _tensor(entry) for name, entry in value.items()}
    array = as_array(value) if isinstance(value, np.ndarray) else None
    if array is None:
        return value
    # What was made of bytes may not be written to, as a tensor may.
    return torch.from_numpy(array if array.flags.writeable else array.copy())
