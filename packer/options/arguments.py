"""The options of `packer.pack` and `packer.Writer` as keyword arguments, with their types.

Defaults, checks and help are those of `declared`, which a test holds the names to.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from inspect import Parameter, signature
from typing import Any, Literal, TypedDict

from packer.errors import UnusableInput
from packer.options.declared import OPTIONS

PathLike = str | os.PathLike[str]


class WriterArguments(TypedDict, total=False):
    """The options of a loop; None is the default of each."""

    classes: Sequence[str] | Literal["numeric"] | None
    image_column: str | None
    label_column: str | None
    split_column: str | None
    split: Mapping[str, float] | None
    shard_size: int | str | None
    shard_samples: int | None
    jpeg: str | None
    png: str | None
    check: bool | None
    max_side: int | None
    quality: int | None
    raw: tuple[int, int] | None
    columns: Sequence[str] | None
    on_error: str | None
    max_pixels: int | None
    max_bytes: int | None
    append: bool | None
    overwrite: bool | None
    jobs: int | None
    scratch: PathLike | None
    progress: bool | None


class PackArguments(WriterArguments, total=False):
    """The options of a source; None is the default of each."""

    shuffle: bool | None
    seed: int | None
    stratify: bool | None
    kind: str | None
    class_depth: int | str | None
    pairs: Mapping[str, PathLike] | None
    ignore: Sequence[str] | None
    dedupe: bool | None
    root: PathLike | None
    label_separator: str | None
    box_format: str | None
    images: str | Sequence[str] | None
    members: Mapping[str, str] | None
    labels: str | Sequence[str] | None
    keys_of: PathLike | None
    executor: Any


def shown(call: Callable[..., Any], arguments: type) -> Any:
    """Return the signature of a `call` with each of its keyword `arguments`, for `help`."""
    *own, _ = signature(call).parameters.values()
    keywords = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=OPTIONS[name].default, annotation=kind)
        for name, kind in arguments.__annotations__.items()
    ]
    places = [one for one in own if one.kind is not Parameter.KEYWORD_ONLY]
    return signature(call).replace(parameters=[*places, *keywords, *own[len(places) :]])


def checked(given: Mapping[str, Any], arguments: type) -> dict[str, Any]:
    """Return the options that are not None, in their final form."""
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name not in arguments.__annotations__:
            raise TypeError(f"Unknown keyword argument {name!r}.")
        kind = OPTIONS[name].kind
        try:
            found |= {} if value is None else {name: kind.check(value)}
        except (TypeError, ValueError, AttributeError):
            raise UnusableInput(f"{name} must be {kind.asks}, not {value!r:.200}.") from None
    return found
