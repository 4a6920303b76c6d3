"""From what a person gives, on the command line or in Python, to options that go together."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packer.errors import UnusableInput
from packer.images.tiles import can_tile
from packer.options.declared import OPTIONS, SHAPING, PackOptions, SourceOptions
from packer.words import option
from reader.format import Limits
from reader.format.tar import MAX_MEMBER

_REMEDY = "pip install numba, or install the package libjpeg-turbo-progs"
WITHOUT_TILER = (
    "neither numba nor jpegtran is installed, so JPEGs are kept as they are and crops of them "
    f"decode more slowly: {_REMEDY}."
)


def checked(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return those of a call's arguments that are options and not None, in their final form.

    Raises:
        UnusableInput: a value is not of its kind, or two options exclude each other.
    """
    found = {}
    for name, value in arguments.items():
        if value is None or name not in OPTIONS:
            continue
        kind = OPTIONS[name].kind
        try:
            found[name] = kind.check(value)
        except (TypeError, ValueError, AttributeError):
            raise UnusableInput(f"{name} is {kind.asks}, not {value!r:.200}.") from None
    refuse_both(found)
    usual = {
        name: OPTIONS[name].default for name in ("on_error", "append", "overwrite", "progress")
    }
    return usual | found


def refuse_both(given: Mapping[str, Any]) -> None:
    """Raise UnusableInput for options of one run that exclude each other."""
    if given.get("append") and given.get("overwrite"):
        append, overwrite = option("append", True), option("overwrite", True)
        raise UnusableInput(
            f"{append} adds to a dataset and {overwrite} replaces it: give only one."
        )


def chosen(src: Path | None, given: Mapping[str, Any]) -> PackOptions:
    """Return the options that shape the shards.

    Args:
        src: what is packed; None if it does not lie at a path.
        given: values by the names of Python's arguments; what is None or no such option is not
            considered.

    Raises:
        UnusableInput: two of them do not go together, or one needs what is not installed.
    """
    asked = {name: value for name, value in given.items() if value is not None}
    _refuse(src, asked)
    pairs, root = asked.pop("pairs", {}), asked.pop("root", None)
    beside = None if src is None else Path(os.path.realpath(src)).parent
    if beside is not None and root is not None:
        asked["root"] = _relative(root, beside)
    if src is not None:
        asked["pairs"] = {name: _relative(folder, src) for name, folder in pairs.items()}
    if not asked.get("shuffle", True):
        asked["seed"] = None
    limits = limits_of(asked)
    asked.setdefault("jpeg", "tiled" if can_tile() else "verbatim")
    shaping = {name: value for name, value in asked.items() if name in SHAPING}
    of_source = shaping.keys() & SourceOptions.__dataclass_fields__.keys()
    source = SourceOptions(**{name: shaping.pop(name) for name in of_source})
    return PackOptions(**shaping, source=source, limits=limits)


def limits_of(given: Mapping[str, Any]) -> Limits:
    """Return the limits of images that the options give, the usual ones where they are None.

    Raises:
        UnusableInput: a file in a tar cannot be so large.
    """
    pixels, most = given.get("max_pixels"), given.get("max_bytes")
    if most is not None and most > MAX_MEMBER:
        raise UnusableInput(
            f"{option('max_bytes', most)} is too much: a file in a tar has at most {MAX_MEMBER} "
            "bytes."
        )
    return Limits(pixels or Limits.pixels, most or Limits.bytes)


def _refuse(src: Path | None, asked: Mapping[str, Any]) -> None:
    """Raise for options that do not go together."""
    jpeg, png, raw = (asked.get(name) for name in ("jpeg", "png", "raw"))
    if asked.get("check") and jpeg == png == "verbatim":
        both = f"{option('jpeg', 'verbatim')} and {option('png', 'verbatim')}"
        raise UnusableInput(
            f"{option('check', True)} compares transcoded images, and {both} transcode none."
        )
    if src is None and (asked.get("pairs") or asked.get("root")):
        raise UnusableInput(
            f"{option('pairs')} and {option('root')} name local folders, and the source is not a "
            "local path. For a source in a store, pack the folder that holds all of it."
        )
    if raw is not None and {"jpeg", "png", "max_side", "quality"} & asked.keys():
        others = [option(name) for name in ("jpeg", "png", "max_side", "quality")]
        raise UnusableInput(
            f"{option('raw')} stores pixels. Leave out {', '.join(others[:-1])} and {others[-1]}."
        )
    if jpeg == "tiled" and not can_tile():
        raise UnusableInput(f"{option('jpeg', 'tiled')} needs numba or jpegtran: {_REMEDY}.")


def _relative(path: Path, start: Path) -> str:
    return os.path.relpath(os.path.realpath(path), os.path.realpath(start))
