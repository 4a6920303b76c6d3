"""Take a script's pipeline of torchvision's and timm's transforms.

Classes are recognised by module and name, and neither library is imported. Each becomes one of
reader's transforms, or a part of the batch's output.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

import numpy as np
import torch

from reader.advice import instead_of
from reader.errors import ArgumentError
from reader.loader.from_timm import OF_TIMM
from reader.loader.tail import DiffersError, Tail
from reader.transforms.batches.erasing import BatchErasing
from reader.transforms.batches.output import Output
from reader.transforms.choices import Choice, RandomApply
from reader.transforms.known import OWN
from reader.transforms.pixels.pixel_transform import PixelTransform
from reader.transforms.transform import Transform, states

Pipeline = Sequence[Transform | Callable[[Any], Any]] | Callable[[Any], Any]


_TORCHVISION, _TIMM = "torchvision.transforms", "timm.data"


def as_own(
    pipeline: Any, channels: int, where: str = "transforms"
) -> tuple[tuple[Transform, ...], Output | None]:
    """Return a pipeline's transforms as reader's, and what becomes of their images in a batch.

    Args:
        pipeline: a list of reader's, torchvision's and timm's transforms, or a Compose of them.
        channels: of an image.
        where: the name of the argument, for errors.

    Raises:
        ArgumentError: transforms, or arguments of theirs, cannot be taken; it names their places.
    """
    walk = _Walk(Tail(channels))
    own = walk.all_of(pipeline, where)
    if not walk.refused:
        return tuple(own), walk.tail.output
    kept = ", ".join(map(_written, own))
    raise ArgumentError(
        "transforms= takes torchvision's transforms that reader has, too. "
        f"{' '.join(walk.refused)} Keep transforms=[{kept}]."
    )


def _is_of(given: Any, library: str) -> bool:
    """Whether it is a library's own; a derived class may do anything."""
    return f"{type(given).__module__}.".startswith(f"{library}.")


def _members(given: Any) -> Sequence[Any] | None:
    """Return what is done one after the other; None if it is one transform."""
    name = type(given).__name__
    if name == "Compose" and _is_of(given, _TORCHVISION):
        return list(given.transforms)
    if name == "Sequential" and _is_of(given, "torch.nn"):
        return list(given)
    return None


def _is_own(given: Any) -> bool:
    """Whether it is one of ours: other libraries' also have an `apply`, but are callable."""
    return hasattr(given, "apply") and not callable(given)


def _not_transforms(given: Any, where: str) -> ArgumentError:
    return ArgumentError(
        f"{where} is {given!r:.200}. transforms is a list of reader's transforms, of torchvision's "
        "that have the same names, or of objects with an apply method. Leave it out for none."
    )


class _Walk:
    """Follows a pipeline, and collects what it refuses."""

    def __init__(self, tail: Tail) -> None:
        self.tail = tail
        self.refused: list[str] = []

    def all_of(self, pipeline: Any, where: str) -> list[Transform]:
        members = _members(pipeline)
        if members is None and isinstance(pipeline, Sequence) and not isinstance(pipeline, str):
            members = pipeline
        if members is None:
            if _is_own(pipeline):
                raise _not_transforms(pipeline, where)
            return self._one(pipeline, where)
        return [own for at, each in enumerate(members) for own in self._one(each, f"{where}[{at}]")]

    def _one(self, given: Any, where: str) -> list[Transform]:
        if _members(given) is not None:
            return self.all_of(given, where)
        if not _is_own(given) and not callable(given):
            raise _not_transforms(given, where)
        try:
            return self._taken(given)
        except (DiffersError, ArgumentError) as error:
            self.refused.append(f"{where}, {type(given).__name__}: {str(error).rstrip('.')}.")
            return []

    def _taken(self, given: Any) -> list[Transform]:
        name, tail = type(given).__name__, self.tail
        if _is_own(given):
            tail.check_place(moves_only=_only_moves(given))
            return [given]
        if _is_of(given, _TIMM) and name in OF_TIMM:
            return OF_TIMM[name](given, tail)
        if name == "Identity" and _is_of(given, "torch.nn"):
            return []
        if not _is_of(given, _TORCHVISION):
            raise DiffersError(_of_others(given, tail))
        if name == "RandomErasing" and tail.output is not None:
            tail.erase(_erasing(given, tail))
            return []
        if name in _CONVERSIONS:
            _CONVERSIONS[name](given, tail)
            return []
        kind = OWN.get(name)
        if kind is None:
            raise DiffersError(
                _of_others(given, tail)
                if name == "Lambda"
                else instead_of("transforms", name) or "call it in map_sample= or map_batch="
            )
        if issubclass(kind, Choice):
            return [self._choice(kind, given)]
        made = _converted(kind, given, tail)
        tail.check_place(moves_only=_only_moves(made))
        return [made]

    def _choice(self, kind: type[Any], given: Any) -> Transform:
        before = self.tail.output
        inner = _Walk(self.tail)
        parts = [
            inner.all_of(member, f"its transforms[{at}]")
            for at, member in enumerate(given.transforms)
        ]
        if inner.refused:
            raise DiffersError(" ".join(inner.refused))
        if self.tail.output != before:
            self.tail.output = before
            raise DiffersError("may convert, normalise or erase floats, which is done always")
        members = [part[0] if len(part) == 1 else RandomApply(part, p=1) for part in parts if part]
        if kind is RandomApply or len(members) == len(parts):
            values = {one.name: getattr(given, one.name, None) for one in fields(kind)}
            own: Transform = kind(**values | {"transforms": members})
            return own
        raise DiffersError("chooses among transforms of which one changes nothing")


def _only_moves(transform: Any) -> bool:
    """Whether it moves pixels, and adds no border of a fixed colour."""
    if isinstance(transform, Choice):
        return all(map(_only_moves, transform.transforms))
    return states(transform, "is_mirror") or type(transform).__name__ in (
        "Resize",
        "RandomResizedCrop",
    )


def _of_others(given: Any, tail: Tail) -> str:
    """Return what to do with a function that no library has."""
    function = getattr(given, "lambd", None)
    root = str(type(given if function is None else function).__module__).partition(".")[0]
    whose = "yours" if root in ("__main__", "builtins") else root
    what = "a function" if function is None else f"the function {_name_of(function)}"
    inside = [name for name, value in _attributes(given) if _members(value) is not None]
    if inside and type(given).__name__ != "Lambda":
        name = type(given).__name__
        views = ", ".join(f"{name}(...).{each}" for each in inside)
        call = f"transforms={views}, views=2" if len(inside) == 1 else f"views=[{views}]"
        return f"it is a function of {whose}. If it makes several views, write {call}"
    if tail.output is None:
        return (
            f"it is {what} of {whose}. Call it in map_sample=, which gets the image as an array "
            "after all transforms, or in map_batch="
        )
    return (
        f"it is {what} of {whose}, which comes after the conversion to floats. Call it in "
        "map_batch=, which gets the normalised batch"
    )


def _attributes(given: Any) -> Iterator[tuple[str, Any]]:
    found = dict(getattr(given, "__dict__", {}))
    found.update(found.get("_modules") or {})
    return iter(found.items())


def _name_of(function: Any) -> str:
    return getattr(function, "__qualname__", None) or type(function).__name__


def _written(transform: Any) -> str:
    text = repr(transform)
    if type(transform).__module__ != "reader":
        return text
    return re.sub(r"\b([A-Z]\w+\()", r"reader.\1", text)  # also those within it


def _to_tensor(given: Any, tail: Tail) -> None:
    if tail.output is None:
        tail.convert(torch.get_default_dtype(), is_scaled=True)


def _to_dtype(given: Any, tail: Tail) -> None:
    dtype = given.dtype
    if isinstance(dtype, Mapping):
        by_name = {getattr(kind, "__name__", kind): value for kind, value in dtype.items()}
        dtype = next((by_name[name] for name in ("Image", "others") if name in by_name), None)
    tail.convert(dtype, is_scaled=bool(given.scale))


def _to_picture(given: Any, tail: Tail) -> None:
    if getattr(given, "mode", None) not in (None, "RGB", "L"):
        raise DiffersError(f"makes pictures of RGB, not of mode={given.mode!r}")
    tail.to_bytes()


def _keep(given: Any, tail: Tail) -> None:
    """Take a transform that changes no value."""


def _to_rgb(given: Any, tail: Tail) -> None:
    if tail.channels != 3:
        raise DiffersError("makes three channels; open the dataset without channels=1")


_CONVERSIONS: dict[str, Callable[[Any, Tail], None]] = {
    "ToTensor": _to_tensor,
    "ToDtype": _to_dtype,
    "ConvertImageDtype": lambda given, tail: tail.convert(given.dtype, is_scaled=True),
    "Normalize": lambda given, tail: tail.normalise(given.mean, given.std),
    "ToPILImage": _to_picture,
    "RGB": _to_rgb,
    **dict.fromkeys(("PILToTensor", "ToImage", "ToPureTensor", "Identity"), _keep),
}


def _erasing(given: Any, tail: Tail) -> BatchErasing:
    value: Any = given.value
    if value is None or value == "random":
        return BatchErasing(
            given.p,
            tuple(given.scale),
            tuple(given.ratio),
            deviation=(1.0,),
            is_per_pixel=True,
        )
    colour = tail.of_channels("value", value)
    return BatchErasing(given.p, tuple(given.scale), tuple(given.ratio), colour=colour)


def _converted(kind: type[Any], given: Any, tail: Tail) -> Transform:
    """Return reader's transform of the same name, which has the same arguments."""
    values = {one.name: getattr(given, one.name, None) for one in fields(kind)}
    values["longest"] = getattr(given, "max_size", None)
    if values["longest"] is not None and values.get("size") is not None:
        raise DiffersError(f"reader.{kind.__name__} takes either a size or longest=, not both")
    if getattr(given, "padding_mode", "constant") != "constant":
        raise DiffersError(
            f"reader.{kind.__name__} pads with a grey value, not {given.padding_mode!r}"
        )
    for name in ("fill", "threshold"):
        if tail.output is not None and values.get(name):
            values[name] = _levels(values[name], 255 / tail.top)
    known = (one.name for one in fields(kind))
    ways = _AS_OWN_OF_PIXELS if issubclass(kind, PixelTransform) else _AS_OWN
    try:
        return kind(**{name: ways.get(name, _same)(values[name]) for name in known})
    except DiffersError as error:
        raise DiffersError(f"reader.{kind.__name__} {error}") from None


def _levels(given: Any, scale: float) -> Any:
    """Return floats, one or a list of them, as levels of bytes."""
    return [one * scale for one in given] if isinstance(given, Sequence) else given * scale


def _same(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _one_of(what: str) -> Callable[[Any], int]:
    def one(given: Any) -> int:
        try:
            (number,) = {float(value) for value in np.ravel(given or 0)}
        except (TypeError, ValueError):
            raise DiffersError(f"takes one {what}, not {given!r}") from None
        if number != int(number):
            raise DiffersError(f"takes a whole {what}, not {given!r}")
        return int(number)

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
