"""From what a person says, on the command line or in Python, to options that go together."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packer.errors import UnusableInput
from packer.images.tiles import can_tile
from packer.planning.options import PackOptions
from packer.sources.options import SourceOptions

_REMEDY = "pip install numba, or install the package libjpeg-turbo-progs"
WITHOUT_TILER = (
    "neither numba nor jpegtran is installed, so JPEGs are kept as they are and crops of them "
    f"decode more slowly: {_REMEDY}."
)


def chosen(
    src: Path | None,
    *,
    shuffle: bool = True,
    seed: int = 0,
    jpeg: str | None = None,
    png: str | None = None,
    raw: tuple[int, int] | None = None,
    check: bool = False,
    pairs: Mapping[str, Path] | None = None,
    root: Path | None = None,
    **others: Any,
) -> PackOptions:
    """The options of `packer pack`, by the names that Python has for them.

    Args:
        src: what is packed; None if it does not lie at a path.
        shuffle, seed: of the shuffle.
        jpeg: None: tiled where that is possible.
        png: None: banded.
        raw, check: as `PackOptions` has them.
        pairs: name -> folder.
        root: folder of a manifest's images.
        others: further fields of `PackOptions` and `SourceOptions`.

    Raises:
        UnusableInput: two of them do not go together, or one cannot be had here.
    """
    if check and jpeg == png == "verbatim":
        raise UnusableInput(
            "--check compares what is transcoded: nothing by --jpeg verbatim and --png verbatim."
        )
    if src is None and (pairs or root):
        raise UnusableInput(
            "--pair and --root name folders here, and go with what lies at a path: of what lies in "
            "a store give the folder that holds all of it."
        )
    resized = others.get("max_side") is not None or others.get("quality") is not None
    if raw is not None and (jpeg is not None or png is not None or resized):
        raise UnusableInput("--raw stores pixels: no --jpeg, --png, --max-side or --quality.")
    if jpeg == "tiled" and not can_tile():
        raise UnusableInput(f"--jpeg tiled needs numba, or jpegtran: {_REMEDY}.")
    below = {name: _relative(path, src) for name, path in (pairs or {}).items() if src}
    beside = None if src is None or root is None else Path(os.path.realpath(src)).parent
    of_source = SourceOptions.__dataclass_fields__.keys() & others.keys()
    return PackOptions(
        seed=seed if shuffle else None,
        jpeg=jpeg or ("tiled" if can_tile() else "verbatim"),
        png=png or "banded",
        raw=raw,
        check=check,
        source=SourceOptions(
            pairs=below,
            root=None if beside is None or root is None else _relative(root, beside),
            **{name: others.pop(name) for name in of_source},
        ),
        **others,
    )


def _relative(path: Path, start: Path) -> str:
    return os.path.relpath(os.path.realpath(path), os.path.realpath(start))
