"""Make floats of images, with equal results on each device."""

import math
from collections.abc import Container, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from reader.checks import is_number
from reader.errors import ArgumentError

_FORMATS = (torch.preserve_format, torch.contiguous_format, torch.channels_last)


@dataclass(frozen=True)
class Normalisation:
    """``(x - mean) / std`` for images (..., C, H, W) from 0 to 1, computed in float32."""

    mean: tuple[float, ...]  # and `std`: of each channel, or one number for all
    std: tuple[float, ...]
    dtype: torch.dtype  # and `memory_format`: of the result
    memory_format: torch.memory_format
    channels: Container[int]  # possible numbers of an image's channels
    has_floats: bool = False  # also for float images, if mean and std were given


class Normaliser:
    """Normalises images on a device."""

    def __init__(self, wanted: Normalisation, device: torch.device) -> None:
        self._wanted = wanted
        self._scale, self._byte_scale = (
            tuple(
                (torch.tensor(values, dtype=torch.float32).reshape(-1, 1, 1) * most).to(device)
                for values in (wanted.mean, wanted.std)
            )
            for most in (1, 255)
        )

    def __call__(self, raw: torch.Tensor) -> torch.Tensor:
        """Return images of uint8 or floats as the floats that are wanted, in memory of its own."""
        dtype, layout = self._wanted.dtype, self._wanted.memory_format
        if raw.dim() != 4 and layout == torch.channels_last:
            layout = torch.preserve_format  # channels_last needs a batch of images
        mean, std = self._scale if raw.is_floating_point() else self._byte_scale
        exact = torch.empty_like(raw, dtype=torch.float32, memory_format=layout)
        # Two kernels in total, which also convert dtypes. Each is one correctly rounded operation,
        # with equal results on a GPU and a CPU; a fused one would differ.
        torch.sub(raw, mean, out=exact)
        result = exact if dtype == torch.float32 else torch.empty_like(exact, dtype=dtype)
        return torch.div(exact, std, out=result)


_LEAST, _MOST = -1, 2  # noise and filters make floats slightly exceed 0 to 1


def check_scale(image: torch.Tensor) -> None:
    if image.device.type != "cpu" or not image.numel():
        return
    least, most = (float(value) for value in image.aminmax())
    if not (least >= _LEAST and most <= _MOST):  # nor for NaN
        raise ArgumentError(
            f"A {str(image.dtype).removeprefix('torch.')} image has values from {least:.4g} to "
            f"{most:.4g}, but floats are normalised from 0 to 1. For values from 0 to 255, divide "
            "by 255 in map_sample. For normalised values, leave mean= and std= out, or Normalize."
        )


def normalisation(
    mean: Sequence[float] | None,
    std: Sequence[float] | None,
    dtype: torch.dtype,
    memory_format: torch.memory_format,
    channels: int | None,
) -> Normalisation:
    if (mean is None) != (std is None):
        raise ArgumentError("Give both mean= and std=, or neither of them.")
    if not isinstance(dtype, torch.dtype) or not dtype.is_floating_point:
        raise ArgumentError(f"Normalised images need a floating-point torch.dtype, not {dtype!r}.")
    means = _per_channel("mean", (0.0,) * (channels or 3) if mean is None else mean, channels)
    stds = _per_channel("std", (1.0,) * len(means) if std is None else std, channels)
    counts = (1, 3) if channels is None and len(means) == len(stds) == 1 else (channels or 3,)
    if not all(0 <= value <= 1 for value in means):
        raise ArgumentError(
            f"mean is on the scale from 0 to 1, not {mean!r}. For the scale to 255, divide by 255."
        )
    if not all(0 < value < math.inf for value in stds):
        raise ArgumentError(f"std is above 0, because images are divided by it, not {std!r}.")
    if memory_format not in _FORMATS:
        raise ArgumentError(f"memory_format is one of {_FORMATS}, not {memory_format!r}.")
    return Normalisation(means, stds, dtype, memory_format, counts, mean is not None)


def _per_channel(name: str, values: Sequence[float], channels: int | None) -> tuple[float, ...]:
    numbers = values.tolist() if isinstance(values, (np.ndarray, torch.Tensor)) else values
    is_known = isinstance(numbers, (list, tuple)) and len(numbers) in (1, channels or 3)
    if not is_known or not all(map(is_number, numbers)):
        count = "one number" if channels == 1 else "three numbers, by channel, or one for all"
        raise ArgumentError(f"{name} is {count}, not {values!r:.200}.")
    return tuple(map(float, numbers))
