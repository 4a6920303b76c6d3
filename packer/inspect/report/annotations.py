"""Annotations in a member: boxes, outlines and captions (pure but for parsing)."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.fields.overlays import rows_of_lines
from reader.format.members import captions_of
from reader.geometry import CORNERS_OF

EMPTY = 1.0  # pixels of a box's shorter side: one of less shows nothing
_NOT_RECORDED = (
    "it has boxes, and dataset.json does not record their format: pass --box-format, and "
    "--normalized if they are fractions of the image"
)
_BOX = 5  # numbers of a line: a class and a box; an outline has more, and an odd number

Points = NDArray[np.float64]


@dataclass(frozen=True)
class Reading:
    ext: str = ""  # of the member that has them; "": not known
    format: str = ""  # xyxy, xywh or cxcywh
    normalized: bool = False
    source: str = "as dataset.json records"  # or the command


@dataclass(frozen=True)
class Annotated:
    """The annotations of a sample; M objects."""

    boxes: Points = field(default_factory=lambda: np.zeros((0, 4)))  # (M, 4), corners x, y, x, y
    labels: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))  # -1: none
    outlines: list[Points] = field(default_factory=list)  # polygons, (points, 2) each
    captions: list[str] = field(default_factory=list)
    ext: str = ""  # of the member that has the boxes; "" without any

    def carried(self, carry: Callable[[Points], Points]) -> "Annotated":
        """Return the same with each point, (N, 2), where `carry` puts it."""
        first, second = carry(self.boxes[:, :2]), carry(self.boxes[:, 2:])
        boxes = np.hstack([np.minimum(first, second), np.maximum(first, second)])
        return replace(self, boxes=boxes, outlines=[carry(line) for line in self.outlines])

    def cropped(self) -> "Annotated":
        """Return the same, in fractions of an image, without what lies outside of it."""
        boxes = self.boxes.clip(0, 1)
        seen = (boxes[:, :2] < boxes[:, 2:]).all(axis=1)
        outlines = [line.clip(0, 1) for line in self.outlines]
        return replace(self, boxes=boxes[seen], labels=self.labels[seen], outlines=outlines)


def annotated(members: Iterable[tuple[str, bytes]], reading: Reading) -> Annotated:
    """Read the members ``json`` and ``txt``; ValueError: one is not as `reading` has it."""
    found = Annotated()
    for ext, data in members:
        if ext == "txt" and reading.ext == "txt":
            found = _of_lines(_rows(data), reading.format)
        elif ext == "txt":
            if not reading.ext and _is_lines(data):
                raise ValueError(_NOT_RECORDED)
            found.captions.append(data.decode("utf-8", "replace"))
        elif isinstance(content := json.loads(data), dict):
            if not reading.ext and content.get("boxes"):
                raise ValueError(_NOT_RECORDED)
            found.captions.extend(captions_of(content))
            if reading.ext == ext:
                objects = _of_objects(content, reading)
                found = replace(objects, captions=found.captions, ext=ext)
    return found


def _of_objects(content: dict[str, Any], reading: Reading) -> Annotated:
    try:
        boxes = np.asarray(content.get("boxes", []), np.float64).reshape(-1, 4)
    except (TypeError, ValueError):
        raise ValueError("its boxes are not rows of four numbers") from None
    if not np.isfinite(boxes).all():
        raise ValueError("a box is not of finite numbers")
    if len(boxes):
        boxes = boxes @ CORNERS_OF[reading.format]
    given: Any = next((content[name] for name in ("categories", "labels") if name in content), [])
    labels = np.full(len(boxes), -1, np.int64)
    if isinstance(given, list) and len(given) == len(boxes):
        labels[:] = [label if isinstance(label, int) else -1 for label in given]
    polygons = chain.from_iterable(map(_list, _list(content.get("segmentation"))))
    outlines = [
        np.asarray(polygon, np.float64).reshape(-1, 2)
        for polygon in map(_list, polygons)
        if len(polygon) >= 6 and not len(polygon) % 2
    ]
    return Annotated(boxes, labels, outlines)


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _of_lines(rows: list[list[float]], format: str) -> Annotated:
    boxes, outlines = [], []
    for row in rows:
        if len(row) > _BOX and len(row) % 2:
            outlines.append(np.array(row[1:]).reshape(-1, 2))
            boxes.append([*outlines[-1].min(axis=0), *outlines[-1].max(axis=0)])
        else:
            boxes.append((row[1:_BOX] @ CORNERS_OF[format]).tolist())
    labels = np.array([row[0] for row in rows]).astype(np.int64)
    return Annotated(np.reshape(boxes, (-1, 4)), labels, outlines, ext="txt")


def _is_lines(data: bytes) -> bool:
    try:
        return bool(_rows(data))
    except ValueError:
        return False


def _rows(data: bytes) -> list[list[float]]:
    rows = [row for _, row in rows_of_lines(data)]
    if any(len(row) < _BOX or not np.isfinite(row).all() for row in rows):
        raise ValueError("a line is neither a box nor an outline")
    return rows
