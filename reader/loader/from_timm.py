"""Take timm's own transforms, which its `create_transform` puts beside torchvision's."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from reader.loader.tail import DiffersError, Tail
from reader.transforms.batches.erasing import BatchErasing
from reader.transforms.choices import RandomChoice
from reader.transforms.foreign.timm import (
    NAMES,
    AugmentOp,
    ResizeKeepRatio,
    TimmAugMix,
    TimmAutoAugment,
    TimmRandAugment,
)
from reader.transforms.geometry.crops import CenterCrop, RandomResizedCrop
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


def _keep_ratio(given: Any, tail: Tail) -> list[Transform]:
    tail.check_place(moves_only=True)
    if given.random_scale_prob or given.random_aspect_prob:
        raise DiffersError("has a random scale or aspect; use train_crop_mode='rrc'")
    if isinstance(given.interpolation, (tuple, list)):
        raise DiffersError("has a random interpolation; name one")
    return [ResizeKeepRatio(tuple(given.size), given.longest, given.interpolation)]


def _center_crop(given: Any, tail: Tail) -> list[Transform]:
    if given.padding_mode != "constant" or any(np.ravel(given.fill)):
        raise DiffersError(
            f"pads with black, not with padding_mode={given.padding_mode!r} and fill={given.fill!r}"
        )
    tail.check_place(moves_only=False)
    return [CenterCrop(tuple(given.size))]


def _rand_augment(given: Any, tail: Tail) -> list[Transform]:
    tail.check_place(moves_only=False)
    weights = () if given.choice_weights is None else tuple(map(float, given.choice_weights))
    return [TimmRandAugment(_ops(given.ops), int(given.num_layers), weights)]


def _auto_augment(given: Any, tail: Tail) -> list[Transform]:
    tail.check_place(moves_only=False)
    return [TimmAutoAugment(tuple(map(_ops, given.policy)))]


def _augmix(given: Any, tail: Tail) -> list[Transform]:
    tail.check_place(moves_only=False)
    if given.blended:
        raise DiffersError("blends each chain into the result (b1); leave out b1")
    return [TimmAugMix(_ops(given.ops), float(given.alpha), int(given.width), int(given.depth))]


_FILTERS = {0: "nearest", 2: "bilinear", 3: "bicubic"}


def _ops(given: Any) -> tuple[AugmentOp, ...]:
    return tuple(map(_op, given))


def _op(given: Any) -> AugmentOp:
    if given.name not in NAMES:
        raise DiffersError(f"has an operation {given.name}, which reader has not")
    wanted = given.kwargs["resample"]
    numbers = [int(one) for one in (wanted if isinstance(wanted, (tuple, list)) else [wanted])]
    if not _FILTERS.keys() >= set(numbers):
        raise DiffersError(f"warps with interpolation={wanted!r}, not one of {_FILTERS}")
    return AugmentOp(
        given.name,
        float(given.prob),
        float(given.magnitude),
        float(given.magnitude_std),
        float(given.magnitude_max or 10),
        tuple(int(level) for level in np.ravel(given.kwargs["fillcolor"])),
        tuple(_FILTERS[number] for number in numbers),
        float(given.hparams.get("translate_const", 250)),
        float(given.hparams.get("translate_pct", 0.45)),
    )


OF_TIMM: dict[str, Callable[[Any, Tail], list[Transform]]] = {
    "RandomResizedCropAndInterpolation": _crop,
    "MaybeToTensor": _to_tensor,
    "ToTensor": _to_levels,
    "RandomErasing": _erasing,
    "ResizeKeepRatio": _keep_ratio,
    "CenterCropOrPad": _center_crop,
    "RandAugment": _rand_augment,
    "AutoAugment": _auto_augment,
    "AugMixAugment": _augmix,
    **dict.fromkeys(("MaybePILToTensor", "ToNumpy"), _keep),
}
