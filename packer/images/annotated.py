"""The size that an annotation gives of the picture that its coordinates are of (pure)."""

import re
from collections.abc import Mapping
from typing import Any

Size = tuple[float, float]
"""The width and height of a picture."""

_SIDES = tuple(
    (f"{word}width", f"{word}height") for word in ("", "image", "img", "picture", "photo", "frame")
)
_ABOUT = frozenset(("size", "imagesize", "imgsize", "resolution", "metadata"))
_COORDINATES = frozenset(
    (
        *("bbox", "bboxes", "box", "boxes", "boundingbox", "boundingboxes", "corners", "exterior"),
        *("keypoints", "landmarks", "outline", "outlines", "points", "polygon", "polygons"),
        *("polyline", "polylines", "quad", "quads", "rle", "segmentation", "segmentations"),
        "vertices",
    )
)
_DEPTH = 5  # of a JSON, in which coordinates are looked for
_OTHER_SIGNS = re.compile(r"[^a-z0-9]+")


def size_of(fields: Mapping[str, Any]) -> Size | None:
    """Return the width and height of the image, if a row or a record has them beside its boxes."""
    known = {_plain(name): value for name, value in fields.items()}
    for name in _ABOUT & known.keys():
        if isinstance(about := known[name], Mapping):
            known = {_plain(own): value for own, value in about.items()} | known
    for width, height in _SIDES:
        try:
            size = float(known[width]), float(known[height])
        except (KeyError, TypeError, ValueError):
            continue
        if min(size) > 0:
            return size
    return None


def in_pixels(size: Size | None) -> tuple[int, int] | None:
    """Return a size in whole pixels; None if it is not known or not of pixels."""
    is_whole = size is not None and all(side.is_integer() for side in map(float, size))
    if size is None or size == (1, 1) or not is_whole:
        return None
    return int(size[0]), int(size[1])


def own_size(content: Any) -> tuple[int, int] | None:
    """Return the width and height that a JSON with coordinates gives of its image, if it does."""
    if not isinstance(content, dict) or not _has_coordinates(content, _DEPTH):
        return None
    about = [part for part in (content, content.get("image")) if isinstance(part, dict)]
    return next(filter(None, map(in_pixels, map(size_of, about))), None)


def _has_coordinates(value: Any, depth: int) -> bool:
    if isinstance(value, list):
        return bool(value and depth) and _has_coordinates(value[0], depth - 1)
    if not isinstance(value, dict) or not depth:
        return False
    return any(
        (isinstance(one, (list, dict)) and bool(one) and _plain(name) in _COORDINATES)
        or _has_coordinates(one, depth - 1)
        for name, one in value.items()
    )


def _plain(name: str) -> str:
    return _OTHER_SIGNS.sub("", name.lower())
