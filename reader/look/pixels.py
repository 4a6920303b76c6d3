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
    images: Sequence[NDArray[Any]],
    mean: float | Sequence[float] | None,
    std: float | Sequence[float] | None,
) -> tuple[list[Pixels], str]:
    """Return the images as uint8 RGB, and their type, with a note on values that have no colour."""
    kind = str(images[0].dtype)
    if all(image.dtype == np.uint8 for image in images):
        return [_rgb(image) for image in images], kind
    shift = np.asarray(0 if mean is None else mean, np.float32)
    scale = np.asarray(1 if std is None else std, np.float32)
    values = [image.astype(np.float32) * scale + shift for image in images]
    if not all(np.isfinite(each).all() for each in values):
        kind += ", WITH NaN OR INFINITE VALUES"
    elif any(each.min() < -_SLACK or each.max() > 1 + _SLACK for each in values):
        kind += ", WITH VALUES OUTSIDE 0 TO 1: call reader.show with mean= and std="
    pixels = [np.nan_to_num(each).clip(0, 1) * 255 for each in values]
    return [_rgb(each.round().astype(np.uint8)) for each in pixels], kind


def _rgb(image: NDArray[Any]) -> Pixels:
    return np.ascontiguousarray(np.broadcast_to(image, (*image.shape[:2], 3)))
