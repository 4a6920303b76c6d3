"""Deliver columns as torch tensors in the loop's process; workers do not import this."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from reader.batch.nested import map_leaves
from reader.fields.values import PictureForm, as_array

from_numpy = torch.from_numpy


def listed(values: Sequence[Any], rows: int) -> Any:
    """Return values of different shapes as a list; a tensor if a batch has one sample."""
    is_one = rows == 1 and isinstance(values[0], torch.Tensor)
    return values[0].unsqueeze(0) if is_one else values


def channels_first(image: Any, form: PictureForm) -> Any:
    """Move the channels of a picture, or of a batch of them, from last to first."""
    if isinstance(image, list):
        return [channels_first(view, form) for view in image]
    if not isinstance(image, torch.Tensor) or image.dim() < 3:
        return image
    return image.movedim(-1, -3) if image.shape[-1] in (3, form.channels) else image


def tensor(value: Any) -> Any:
    """Convert arrays to tensors, also in a dict or list; return other values unchanged."""
    if isinstance(value, list):
        return [tensor(entry) for entry in value]
    if isinstance(value, dict):
        return {name: tensor(entry) for name, entry in value.items()}
    array = as_array(value) if isinstance(value, np.ndarray) else None
    if array is None:
        return value
    # An array made from bytes is read-only, but a tensor is not.
    return torch.from_numpy(array if array.flags.writeable else array.copy())


def pinned(batch: Any) -> Any:
    """Copy the tensors of a batch to torch's page-locked memory, as its `pin_memory` does."""
    # torch reuses this memory only after `non_blocking` copies from it have ended.

    def copied(leaf: Any) -> Any:
        on_host = isinstance(leaf, torch.Tensor) and leaf.device.type == "cpu"
        return leaf.pin_memory() if on_host else leaf

    return map_leaves(batch, copied)
