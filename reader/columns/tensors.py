"""Columns as torch's tensors, in the process of the loop; workers do not import this."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from reader.batch.nested import map_leaves
from reader.columns.values import PictureForm, as_array
from reader.errors import ReaderError

from_numpy = torch.from_numpy


def listed(values: Sequence[Any], rows: int) -> Any:
    """Return values of different shapes as a list; that of a batch of one sample as a tensor."""
    is_one = rows == 1 and isinstance(values[0], torch.Tensor)
    return values[0].unsqueeze(0) if is_one else values


def channels_first(image: Any, form: PictureForm) -> Any:
    """Return a picture, or a batch of them, that is (height, width, channels), channels first."""
    if isinstance(image, list):
        return [channels_first(view, form) for view in image]
    if not isinstance(image, torch.Tensor) or image.dim() < 3:
        return image
    channels, width, first = image.shape[-1], image.shape[-2], image.shape[-3]
    if channels not in (3, form.channels):
        return image
    if first == channels and form.is_mapped:
        raise ReaderError(
            f"map_sample gives images of {first} x {width} x {channels} numbers, which may be "
            f"({first}, H, W) or (H, W, {channels}). Pad what is so few pixels high or wide."
        )
    return image.movedim(-1, -3)


def tensor(value: Any) -> Any:
    """Return arrays, also those in a dict or list, as tensors; anything else as it is."""
    if isinstance(value, list):
        return [tensor(entry) for entry in value]
    if isinstance(value, dict):
        return {name: tensor(entry) for name, entry in value.items()}
    array = as_array(value) if isinstance(value, np.ndarray) else None
    if array is None:
        return value
    # What was made of bytes may not be written to, as a tensor may.
    return torch.from_numpy(array if array.flags.writeable else array.copy())


def pinned(batch: Any) -> Any:
    """Copy the tensors of a batch to page-locked memory of torch's, as its `pin_memory` does."""
    # torch reuses that memory only after `non_blocking` copies from it have ended.

    def copied(leaf: Any) -> Any:
        on_host = isinstance(leaf, torch.Tensor) and leaf.device.type == "cpu"
        return leaf.pin_memory() if on_host else leaf

    return map_leaves(batch, copied)
