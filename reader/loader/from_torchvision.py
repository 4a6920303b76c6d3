"""Convert torchvision's transforms, recognised by module and name without importing it."""

import difflib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from reader.errors import ArgumentError
from reader.transforms import (
    CenterCrop,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    Resize,
    Transform,
)

_MODULE = "torchvision.transforms"

_FLOATS = (
    "leave it out: images arrive as uint8 tensors, and reader.CUDAPrefetcher(loader) makes floats "
    "from 0 to 1 of them"
)
_PIXELS = (
    "it changes pixels, so it belongs in map_sample: `change = torchvision.transforms.v2.{name}("
    '...)`, and `map_sample=lambda sample: sample | {{"image": change(torch.from_numpy('
    'sample["image"]).permute(2, 0, 1))}}`'
)
# Names of transforms of pixels.
_OF_PIXELS = re.compile("Aug|Auto|Color|Elastic|Gaussian|Pad$|Rand|Trivial")
_MIX = (
    "it mixes a batch: `mix = torchvision.transforms.v2.{name}(num_classes=1000)`, and "
    "`map_batch=lambda batch: mix(*batch)`"
)
_ADVICE = {
    "Compose": "write a list: transforms=[reader.RandomResizedCrop(224), ...]",
    "Normalize": (
        "write reader.CUDAPrefetcher(loader, mean=reader.IMAGENET_MEAN, std=reader.IMAGENET_STD), "
        "which normalises on the GPU"
    ),
    **dict.fromkeys(("ToTensor", "PILToTensor", "ToImage", "ToPureTensor"), _FLOATS),
    **dict.fromkeys(("ToDtype", "ConvertImageDtype", "ToPILImage"), _FLOATS),
    **dict.fromkeys(("MixUp", "CutMix"), _MIX),
    "Grayscale": 'write reader.Loader(reader.Dataset("shards", channels=1)) for grey images',
}


def instead_of(name: str) -> str | None:
    """Return what to write in place of a transform that reader lacks; None for any other name."""
    is_misspelled = difflib.get_close_matches(name, _KNOWN, cutoff=0.85)
    is_of_pixels = _OF_PIXELS.match(name) and not is_misspelled
    advice = _ADVICE.get(name, _PIXELS if is_of_pixels else None)
    return advice and advice.format(name=name)


def as_own(transforms: Any) -> Any:
    """Return a pipeline in which reader's transforms replace torchvision's."""
    if not _is_torchvisions(transforms) and not isinstance(transforms, Sequence):
        return transforms
    own, refused = [], []
    for transform in _members(transforms):
        if not _is_torchvisions(transform):
            own.append(transform)
            continue
        name = type(transform).__name__
        try:
            own.append(_KNOWN[name](transform))
        except KeyError:
            advice = instead_of(name) or "call it in map_sample= or map_batch="
            refused.append(f"{name}: {advice}.")
        except _DiffersError as error:
            refused.append(f"{name}: {error}.")
    if not refused:
        return own
    kept = ", ".join(map(_written, own))
    raise ArgumentError(
        "transforms= takes torchvision's transforms of geometry only. "
        f"{' '.join(refused)} Keep transforms=[{kept}]."
    )


def _is_torchvisions(given: Any) -> bool:
    """Whether it is torchvision's own; a derived class may do anything."""
    return f"{type(given).__module__}.".startswith(f"{_MODULE}.")


def _members(pipeline: Any) -> Iterator[Any]:
    is_compose = _is_torchvisions(pipeline) and type(pipeline).__name__ == "Compose"
    if not is_compose and not isinstance(pipeline, Sequence):
        yield pipeline
        return
    for member in pipeline.transforms if is_compose else pipeline:
        if _is_torchvisions(member):
            yield from _members(member)
        else:
            yield member


def _written(transform: Any) -> str:
    text = repr(transform)
    return f"reader.{text}" if type(transform).__module__ == "reader" else text


class _DiffersError(Exception):
    """A transform has an argument that reader's does not have."""


def _resized_crop(given: Any) -> Transform:
    scale, ratio = tuple(given.scale), tuple(given.ratio)
    return RandomResizedCrop(_size(given.size), scale, ratio, given.interpolation, _filtered(given))


def _resize(given: Any) -> Transform:
    if given.size is None:
        longest, how = given.max_size, given.interpolation
        return Resize(longest=longest, interpolation=how, antialias=_filtered(given))
    if given.max_size is not None:
        raise _DiffersError("reader.Resize takes either a size or longest=, not both")
    return Resize(_size(given.size), given.interpolation, antialias=_filtered(given))


def _filtered(given: Any) -> bool:
    return getattr(given, "antialias", True) is not False


def _random_crop(given: Any) -> Transform:
    if given.padding_mode != "constant":
        raise _DiffersError(f"reader.RandomCrop pads with a grey value, not {given.padding_mode!r}")
    padding = _one(given.padding or 0, "padding, the same on all sides")
    fill = _one(given.fill or 0, "fill, the same in all channels")
    return RandomCrop(_size(given.size), padding, bool(given.pad_if_needed), fill)


def _size(given: Any) -> Any:
    return given if isinstance(given, int) else tuple(given)


def _one(given: Any, what: str) -> int:
    try:
        (number,) = {int(value) for value in np.ravel(given)}
    except (TypeError, ValueError):
        raise _DiffersError(f"reader.RandomCrop takes one {what}, not {given!r}") from None
    return number


_KNOWN: dict[str, Callable[[Any], Transform]] = {
    "RandomResizedCrop": _resized_crop,
    "Resize": _resize,
    "CenterCrop": lambda given: CenterCrop(_size(given.size)),
    "RandomCrop": _random_crop,
    "RandomHorizontalFlip": lambda given: RandomHorizontalFlip(given.p),
    "RandomVerticalFlip": lambda given: RandomVerticalFlip(given.p),
}
