"""Convert torchvision's transforms, recognised by module and name without importing it."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

from reader.advice import instead_of
from reader.errors import ArgumentError
from reader.transforms.choices import Choice, RandomApply
from reader.transforms.known import OWN
from reader.transforms.pixels.pixel_transform import PixelTransform
from reader.transforms.transform import Transform

_MODULE = "torchvision.transforms"


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
        kind = OWN.get(name)
        if kind is None:
            advice = instead_of("transforms", name) or "call it in map_sample= or map_batch="
            refused.append(f"{name}: {advice}.")
            continue
        try:
            own.append(_converted(kind, transform))
        except _DiffersError as error:
            refused.append(f"{name}: reader.{name} {error}.")
    if not refused:
        return own
    kept = ", ".join(map(_written, own))
    raise ArgumentError(
        "transforms= takes torchvision's transforms that reader has, too. "
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
    if type(transform).__module__ != "reader":
        return text
    return re.sub(r"\b([A-Z]\w+\()", r"reader.\1", text)  # also those within it


class _DiffersError(Exception):
    """A transform has an argument that reader's does not have."""


def _converted(kind: type[Any], given: Any) -> Transform:
    """Return reader's transform of the same name, which has the same arguments."""
    values = {one.name: getattr(given, one.name, None) for one in fields(kind)}
    if issubclass(kind, Choice):
        parts = [as_own([member]) for member in given.transforms]  # several of a Compose
        members = [part[0] if len(part) == 1 else RandomApply(part, p=1) for part in parts]
        return kind(**values | {"transforms": members})
    values["longest"] = getattr(given, "max_size", None)
    if values["longest"] is not None and values["size"] is not None:
        raise _DiffersError("takes either a size or longest=, not both")
    if getattr(given, "padding_mode", "constant") != "constant":
        raise _DiffersError(f"pads with a grey value, not {given.padding_mode!r}")
    known = (one.name for one in fields(kind))
    ways = _AS_OWN_OF_PIXELS if issubclass(kind, PixelTransform) else _AS_OWN
    made: Transform = kind(**{name: ways.get(name, _same)(values[name]) for name in known})
    return made


def _same(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _one_of(what: str) -> Callable[[Any], int]:
    def one(given: Any) -> int:
        try:
            (number,) = {int(value) for value in np.ravel(given or 0)}
        except (TypeError, ValueError):
            raise _DiffersError(f"takes one {what}, not {given!r}") from None
        return number

    return one


_AS_OWN_OF_PIXELS: dict[str, Callable[[Any], Any]] = {
    "value": lambda given: "random" if given is None else _same(given),  # as v2 keeps it
}
_AS_OWN: dict[str, Callable[[Any], Any]] = {
    "size": lambda given: given if isinstance(given, (int, type(None))) else tuple(given),
    "scale": tuple,
    "ratio": tuple,
    "antialias": lambda given: given is not False,
    "padding": _one_of("padding, the same on all sides"),
    "pad_if_needed": bool,
    "fill": _one_of("fill, the same in all channels"),
}
