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
    mixed = images
    partner = _partner(images, is_rolled)
    if (mixes.shares < 1).any():
        # In two roundings, as torchvision does.
        mean = images * share[..., None, None] + partner * rest[..., None, None]
        mixed = (mean.round_() if images.dtype == torch.uint8 else mean).to(images.dtype)
    if mixes.boxes.any():
        top, bottom, left, right = table[4:].reshape(4, -1, 1, 1, 1)
        down = torch.arange(size[0], device=images.device).reshape(-1, 1)
        across = torch.arange(size[1], device=images.device)
        is_inside = (down >= top) & (down < bottom) & (across >= left) & (across < right)
        mixed = torch.where(is_inside & is_mixed.reshape(-1, 1, 1, 1), partner, mixed)
    return Mixture(mixed, labels * own_label + partners * other_label)


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
