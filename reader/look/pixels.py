"""Convert the tensors of a model's input to images."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

IMAGENET_MEAN = (0.485, 0.456, 0.406)
IMAGENET_STD = (0.229, 0.224, 0.225)

Pixels = NDArray[np.uint8]

_SLACK = 0.01  # for rounding in half precision


def array_of(value: Any) -> NDArray[Any] | None:
    """Return a tensor of any device, or an array, as an array; None for other values."""
    if hasattr(value, "detach"):  # torch's
        value = value.detach().cpu()
        value = value.float() if str(value.dtype) == "torch.bfloat16" else value  # numpy has none
        return np.asarray(value.numpy())
    return value if isinstance(value, np.ndarray) else None


def images_of(value: Any) -> list[NDArray[Any]] | None:
    """Return images (height, width, channels) of (B, C, H, W) or a list; else None."""
    if hasattr(value, "decode") and hasattr(value, "table"):  # still encoded
        value = value.decode()
    arrays = [array_of(each) for each in value] if isinstance(value, (list, tuple)) else None
    if arrays is None:
        batch = array_of(value)
        arrays = None if batch is None or batch.ndim != 4 else list(batch)
    if not arrays:
        return None
    found = [None if each is None else _channels_last(each) for each in arrays]
    return None if any(each is None for each in found) else found  # type: ignore[return-value]


def _channels_last(image: NDArray[Any]) -> NDArray[Any] | None:
    if image.ndim != 3:
        return None
    if image.shape[0] in (1, 3):
        return np.moveaxis(image, 0, -1)
    return image if image.shape[-1] in (1, 3) else None


def shown(
    images: Sequence[NDArray[Any]], mean: Sequence[float] | None, std: Sequence[float] | None
) -> tuple[list[Pixels], str]:
    """Return the images as uint8 RGB, and how their normalisation was undone."""
    if all(image.dtype == np.uint8 for image in images):
        return [_rgb(image) for image in images], "uint8"
    kind = str(images[0].dtype)
    scale, shift, how = _scale_of(images, mean, std)
    found = []
    for image in images:
        values = np.nan_to_num(image.astype(np.float32) * scale + shift).clip(0, 1)
        found.append(_rgb((values * 255).round().astype(np.uint8)))
    if not all(np.isfinite(image).all() for image in images if image.dtype.kind == "f"):
        how += ", WITH NaN OR INFINITE VALUES"
    return found, f"{kind}, {how}"


def _scale_of(
    images: Sequence[NDArray[Any]], mean: Sequence[float] | None, std: Sequence[float] | None
) -> tuple[Any, Any, str]:
    if mean is not None and std is not None:
        return np.array(std, np.float32), np.array(mean, np.float32), "mean and std undone"
    numbers = [image[np.isfinite(image).all(axis=-1)] for image in images]
    pixels = [each.astype(np.float32) for each in numbers if each.size]
    if not pixels:
        return 1.0, 0.0, "without finite values"
    low = np.min([each.min(axis=0) for each in pixels], axis=0).astype(np.float64)
    high = np.max([each.max(axis=0) for each in pixels], axis=0).astype(np.float64)
    if low.min() >= -_SLACK and high.max() <= 1 + _SLACK:
        return 1.0, 0.0, "from 0 to 1"
    if low.min() >= 0 and high.max() <= 255:
        return 1 / 255, 0.0, "from 0 to 255"
    if low.min() >= -1 - _SLACK and high.max() <= 1 + _SLACK:
        return 0.5, 0.5, "probably normalised to -1..1"
    mean_, std_ = np.array(IMAGENET_MEAN), np.array(IMAGENET_STD)
    least_, most_ = -mean_ / std_ - _SLACK, (1 - mean_) / std_ + _SLACK
    if len(low) == len(mean_) and (low >= least_).all() and (high <= most_).all():
        return std_, mean_, "probably normalised by IMAGENET_MEAN and IMAGENET_STD"
    least, most = float(low.min()), float(high.max())
    spread = (most - least) or 1.0
    return 1 / spread, -least / spread, f"stretched: values are {least:.3g} to {most:.3g}"


def _rgb(image: NDArray[Any]) -> Pixels:
    return np.ascontiguousarray(np.broadcast_to(image, (*image.shape[:2], 3)))
