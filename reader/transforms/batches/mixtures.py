"""Mix the images and labels of a batch, on any device and without waiting for it."""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from reader.transforms.batches.mixing import Mixes


class Mixture(NamedTuple):
    images: Tensor
    labels: Tensor  # float32 (B, C)


def mixture(images: Tensor, labels: Tensor, mixes: Mixes, *, is_rolled: bool) -> Mixture:
    """Mix images (B, C, H, W) and labels, float32 (B, C), with their partners.

    A partner is the row before, if `is_rolled`, or the row as far from the other end. Labels of
    zeros are those of rows without a sample: these are partners of none.
    """
    size = images.shape[-2], images.shape[-1]
    own = mixes.labels(size)
    parts = [mixes.shares, 1 - mixes.shares, own, 1 - own, *mixes.boxes.T]
    table = _sent(np.stack(parts).astype(np.float32), images.device)
    partners = _partner(labels, is_rolled)
    is_mixed = labels.any(1) & partners.any(1)
    share, rest, own_label, other_label = (
        torch.where(is_mixed, part, nothing).reshape(-1, 1)
        for part, nothing in zip(table[:4], (1.0, 0.0, 1.0, 0.0), strict=True)
    )
    rows = is_mixed.reshape(-1, 1, 1, 1)
    mixed = images
    if mixes.boxes.any():
        mixed = _with_boxes(images, mixes.boxes, table[4:], rows, is_rolled)
    if (mixes.shares < 1).any():
        partner = _partner(images, is_rolled)
        # In two roundings, as torchvision does.
        mean = (mixed * share[..., None, None]).add_(partner * rest[..., None, None])
        mixed = (mean.round_() if images.dtype == torch.uint8 else mean).to(images.dtype)
    return Mixture(mixed, labels * own_label + partners * other_label)


def _with_boxes(
    images: Tensor, boxes: NDArray[np.int64], sides: Tensor, rows: Tensor, is_rolled: bool
) -> Tensor:
    """Return images with their partners' boxes in some `rows`; `sides` are on their device."""
    if (boxes == boxes[0]).all():  # only its pixels are read twice
        top, bottom, left, right = boxes[0].tolist()
        mixed = images.clone()
        inside = mixed[..., top:bottom, left:right]
        inside.copy_(torch.where(rows, _partner(inside, is_rolled), inside))
        return mixed
    down = torch.arange(images.shape[-2], device=images.device).reshape(-1, 1)
    across = torch.arange(images.shape[-1], device=images.device)
    top, bottom, left, right = sides.reshape(4, -1, 1, 1, 1)
    is_inside = (down >= top) & (down < bottom) & (across >= left) & (across < right)
    return torch.where(is_inside & rows, _partner(images, is_rolled), images)


def as_shares(labels: Tensor, count: int, smoothing: float) -> Tensor:
    """Return labels (B,), or shares of classes (B, C), as shares of classes, float32 (B, C).

    The label -1 of a row without a sample becomes zeros, and one of no class NaN.
    """
    if labels.dim() == 2:
        return labels.float() * (1 - smoothing) + smoothing / count
    classes = torch.arange(count, device=labels.device)
    known = (labels[:, None] == classes).float()
    smooth = known * (1 - smoothing) + smoothing / count
    shares = smooth * (labels >= 0)[:, None]
    return shares.masked_fill_(((labels >= count) | (labels < -1))[:, None], torch.nan)


def _partner(rows: Tensor, is_rolled: bool) -> Tensor:
    # `roll` would change channels_last to contiguous memory on a GPU.
    return torch.cat([rows[-1:], rows[:-1]]) if is_rolled else rows.flip(0)


def _sent(table: NDArray[np.float32], device: torch.device) -> Tensor:
    made = torch.from_numpy(table)
    # A copy of memory that is not page-locked may wait for the stream.
    return (made.pin_memory() if device.type == "cuda" else made).to(device, non_blocking=True)
