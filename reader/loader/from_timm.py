"""Take timm's own transforms, which its `create_transform` puts beside torchvision's."""

import math
from collections.abc import Callable
from typing import Any

import torch

from reader.loader.tail import DiffersError, Tail
from reader.transforms.batches.erasing import BatchErasing
from reader.transforms.choices import RandomChoice
from reader.transforms.geometry.crops import RandomResizedCrop
from reader.transforms.transform import Transform


def _crop(given: Any, tail: Tail) -> list[Transform]:
    tail.check_place(moves_only=True)
    modes = given.interpolation
    crops = [
        RandomResizedCrop(tuple(given.size), tuple(given.scale), tuple(given.ratio), mode, True)
        for mode in (modes if isinstance(modes, (tuple, list)) else [modes])
    ]
    return [crops[0] if len(crops) == 1 else RandomChoice(crops)]


def _to_tensor(given: Any, tail: Tail) -> list[Transform]:
    if tail.output is None:
        tail.convert(torch.get_default_dtype(), is_scaled=True)
    return []


def _to_levels(given: Any, tail: Tail) -> list[Transform]:
    tail.convert(given.dtype, is_scaled=False)
    return []


def _keep(given: Any, tail: Tail) -> list[Transform]:
    return []


def _erasing(given: Any, tail: Tail) -> list[Transform]:
    if tail.output is None:
        raise DiffersError("erases bytes; put it after MaybeToTensor and Normalize")
    low, high = given.log_aspect_ratio
    erasing = BatchErasing(
        given.probability,
        (given.min_area, given.max_area),
        (math.exp(low), math.exp(high)),
        (given.min_count, given.max_count),
        deviation=(1.0,) if given.per_pixel or given.rand_color else (),
        is_per_pixel=given.per_pixel,
    )
    tail.erase(erasing)
    return []


OF_TIMM: dict[str, Callable[[Any, Tail], list[Transform]]] = {
    "RandomResizedCropAndInterpolation": _crop,
    "MaybeToTensor": _to_tensor,
    "ToTensor": _to_levels,
    "RandomErasing": _erasing,
    **dict.fromkeys(("MaybePILToTensor", "ToNumpy"), _keep),
}
