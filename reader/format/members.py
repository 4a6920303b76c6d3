"""Decode a member by its extension: one rule for packing, checking and reading.

The last part of an extension decides: ``mask.png`` is a picture, like ``png``. A picture covers its
stored image, so it has the same height and width. Members without a rule here may be any bytes.
"""

import io
import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

_EXTENSIONS = {
    "jpg": ("jpg", "jpeg", "jpe", "jfif"),
    "png": ("png",),
    "webp": ("webp",),
    "bmp": ("bmp", "dib"),
    "gif": ("gif",),
    "tiff": ("tif", "tiff"),
    "ppm": ("ppm", "pgm", "pbm", "pnm"),
}
PICTURES = {ext: format for format, extensions in _EXTENSIONS.items() for ext in extensions}
"""The format of each extension of a picture."""

PHOTOGRAPHS = ("jpg", "webp")  # resized smoothly, like the image; others may hold classes

# Names of pictures that hold values, in any colours.
_VALUES = re.compile("mask|seg|label|depth|panoptic|instance|ids?$|gt$", re.IGNORECASE)


def holds_values(ext: str) -> bool:
    """Return whether the name of a picture says that its pixels are classes or other values."""
    return _VALUES.search(ext.rpartition(".")[0]) is not None


def picture_format(ext: str) -> str | None:
    """Return the format of a picture; None if the member is not a picture."""
    return PICTURES.get(kind_of(ext))


def kind_of(ext: str) -> str:
    """Return the part of an extension that determines its decoder."""
    return ext.rsplit(".")[-1]


def _npy(data: bytes) -> NDArray[Any]:
    """Return the array, after its header is checked by the number of bytes."""
    file, layout = io.BytesIO(data), np.lib.format
    is_first = layout.read_magic(file) == (1, 0)  # versions differ in the header's length
    read_header: Any = layout.read_array_header_1_0 if is_first else layout.read_array_header_2_0
    shape, _, dtype = read_header(file)
    if math.prod(shape) * dtype.itemsize > len(data):
        raise ValueError(f"its header has {shape} of {dtype}, but it has {len(data)} bytes")
    file.seek(0)
    return layout.read_array(file, allow_pickle=False)


def _txt(data: bytes) -> str:
    return data.decode("utf-8")


class Missing(ValueError):
    """Nothing is at a path."""


def at_path(content: Any, path: str) -> Any:
    """Return what is at `path` in JSON: names or places in lists, with dots between; ``*``: all."""
    if isinstance(content, Mapping) and path in content:  # a name may have dots
        return content[path]
    step, _, rest = path.partition(".")
    if step == "*" and not isinstance(content, Mapping):
        return [at_path(entry, rest) if rest else entry for entry in content]
    try:
        found = content[int(step) if isinstance(content, list) else step]
    except (LookupError, TypeError, ValueError):
        names = ", ".join(map(str, content))[:200] if isinstance(content, Mapping) else ""
        raise Missing(f"it has nothing at {path!r}" + f"; it has {names}" * bool(names)) from None
    return at_path(found, rest) if rest else found


def captions_of(content: Mapping[str, Any]) -> list[str]:
    """Return the captions in the JSON of a sample, as datasets name them."""
    for name in ("captions", "caption", "text"):
        texts = content.get(name)
        if isinstance(texts, str):
            return [texts]
        if isinstance(texts, list) and texts and all(isinstance(text, str) for text in texts):
            return texts
    return []


DECODERS: Mapping[str, Callable[[bytes], Any]] = {
    "json": json.loads,
    "txt": _txt,
    "npy": _npy,
    "cls": int,
}
"""The decoder of each kind of member; a decoder may raise anything."""
