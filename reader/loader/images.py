"""Find the images of a batch, those that are normalised."""

from collections.abc import Container, Sequence
from itertools import chain
from typing import Any

import torch

from reader.batch.nested import leaves, sequences
from reader.transforms.batches.normalisation import Normalisation


def images_of(
    batch: Any, places: Sequence[int] | None, normalisation: Normalisation
) -> list[torch.Tensor]:
    """Return the tensors of a batch that are images: (..., C, H, W), uint8 or float.

    uint8 of four dimensions is one everywhere; of three only where images are, or in a list of
    nothing else. Floats are images where images are; in other batches if no uint8 is one.
    """
    named = [batch] if places is None else [batch[at] for at in places]
    images = _with_channels(batch, named, normalisation.channels, {torch.uint8})
    if normalisation.has_floats and (places is not None or not images):
        images += _with_channels(named, named, normalisation.channels, _FLOATS)
    return images


_FLOATS = {torch.float16, torch.bfloat16, torch.float32, torch.float64}


def _with_channels(
    batch: Any, named: Sequence[Any], channels: Container[int], dtypes: Container[torch.dtype]
) -> list[torch.Tensor]:
    """Return the images of `dtypes`: of 4 dimensions in `batch`, of 3 in lists in `named`."""

    def is_image(leaf: Any) -> bool:
        is_kind = isinstance(leaf, torch.Tensor) and leaf.dtype in dtypes
        return is_kind and leaf.dim() >= 3 and leaf.shape[-3] in channels

    found = [leaf for leaf in leaves(batch) if is_image(leaf) and leaf.dim() > 3]
    for items in chain.from_iterable(map(sequences, named)):
        if all(is_image(item) and item.dim() == 3 for item in items):
            found += items
    return found
