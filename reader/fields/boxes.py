"""Boxes of an image, transformed with it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from reader.checks import Rule, check, is_number, is_text, or_none
from reader.dataset.dataset import Dataset
from reader.dataset.mix import Mix
from reader.decode.plan import View
from reader.errors import ArgumentError
from reader.fields.field import Tools
from reader.fields.members import Decode
from reader.fields.overlays import RULES, SHARE, Overlay, Placed, is_left, limits_of, rows_of_lines
from reader.fields.pixels import Planned
from reader.format.frames import Frame
from reader.format.manifest import BoxEncoding
from reader.geometry import CORNERS_OF

_FORMAT: Rule = or_none(is_text), "a text, or None"
_RULES: dict[str, Rule] = RULES | {
    "format": _FORMAT,
    "min_size": (lambda given: is_number(given) and given >= 0, "a number of pixels from 0"),
    "out": _FORMAT,
    "min_visible": SHARE,
}


@dataclass(frozen=True)
class Boxes(Overlay):
    """The boxes of a member, transformed with the image.

    They are clipped to the visible image; those with a side below `min_size` are dropped
    (torchvision's SanitizeBoundingBoxes). The field is a dict, as torchvision's detection models
    expect: ``boxes``, float32 (N, 4) in the format `out`, in pixels of the output; ``kept``, int64
    (N,), their numbers among the member's boxes; and ``labels``, int64 (N,), if they have a path.

    If `packer pack` wrote the boxes, dataset.json records `path`, `format`, `labels` and
    `normalized`, and ``Boxes("json")`` needs none of them. A `format` or `normalized` that
    contradicts the record is refused. The record is not used for another `path`, or with `decode`.

    A member ``json`` has boxes at paths. A member ``txt`` has lines of a class and four numbers, as
    YOLO's label files do, and always gives ``labels``. Numbers are those of the source's picture,
    whatever packing did to its pixels. In photographs with an EXIF orientation, they are of the
    upright or of the stored picture, independent of the dataset's own ``upright``.

    Fractions without `normalized`, pixels with it, and boxes that end before they begin raise a
    SampleError. Boxes outside the image, or too small before a crop, are dropped with a warning and
    counted in ``loader.statistics().dropped_boxes``.

    Attributes:
        member: its extension. With a final ``?``, a sample without the member has no boxes: arrays
            (0, 4) and (0,).
        path: path of the boxes: names separated by dots, ``*`` for each entry of a list, such as
            ``path="objects.*.box", labels="objects.*.class"``. None: as recorded, or ``boxes``.
        format: "xyxy", "xywh" or "cxcywh". None: as recorded, or "xyxy".
        labels: path of the labels, an integer for each box. None: as recorded, or no labels.
        min_size: in pixels of the output.
        normalized: True if coordinates are fractions of the image's size. None: as recorded, or
            False.
        upright: True for coordinates of the image turned upright by its EXIF orientation; False for
            the stored image. None: True for a ``txt``, False for any other member. What the index
            records of a sample precedes it.
        decode: function from the member's bytes to the value that the paths index, such as a dict;
            None for JSON, or the lines of a ``txt``.
        out: the format of the delivered boxes; "xyxy" for torchvision's detection models. None: the
            same as `format`.
        min_visible: the least share of a box's area, 0 to 1, that a crop must leave. The part of a
            box outside the image does not count.

    Example:
        >>> boxes = reader.Boxes("json", out="xyxy", min_visible=0.2)
        >>> with reader.Loader("detection", split="train", fields=("image", boxes)) as loader:
        ...     images, objects = list(loader)[-1]
        >>> sorted(objects[0])
        ['boxes', 'kept', 'labels']
    """

    __module__ = "reader"
    name = "boxes"
    of_parts: ClassVar[Mapping[int, "Boxes"]] = {}  # of a Mix whose datasets differ; by number

    member: str
    path: str | None = None
    format: str | None = None
    labels: str | None = None
    min_size: float = 1.0
    normalized: bool | None = None
    upright: bool | None = None
    decode: Decode | None = None
    out: str | None = None
    min_visible: float = 0.0

    def __post_init__(self) -> None:
        check(vars(self), _RULES)
        for name, given in (("format", self.format), ("out", self.out)):
            if given is not None and given not in _FORMATS:
                raise ArgumentError(f"{self}: {name} is one of {', '.join(_FORMATS)}.")

    def completed(self, recorded: BoxEncoding | None) -> "Boxes":
        """Return these boxes with every argument set: as given, as `recorded`, or the default."""
        path = self.path or (recorded.path if recorded else "boxes")
        if recorded is None or recorded.path != path:
            recorded = BoxEncoding(self.format or "xyxy", self.normalized)
        for name in ("format", "normalized"):
            given, known = getattr(self, name), getattr(recorded, name)
            if None not in (given, known) and given != known:
                raise ArgumentError(
                    f"{self}: {name}={given!r} contradicts dataset.json, which records "
                    f"{name}={known!r} for this member. Leave {name}= out."
                )
        normalized = bool(recorded.normalized if self.normalized is None else self.normalized)
        labels = self.labels or recorded.labels
        if self.is_text and self.decode is None:
            labels = labels or "labels"
        format = self.format or recorded.format
        out = self.out or format
        return replace(
            self, path=path, format=format, labels=labels, normalized=normalized, out=out
        )

    def check_part(self, part: Dataset, whole: Dataset) -> None:
        """Check a dataset of a Mix: it has the member, held alike."""
        super().check_part(part, whole)
        own, others = (one.box_encodings.get(self.ext) for one in (part, whole))
        is_other = self.ext in part.extensions and not self.decode and own != others
        if is_other and not self.of_parts:
            raise ArgumentError(
                f"{part.source} holds boxes as {own}, another dataset of the Mix as {others}: give "
                'Boxes(..., out="xyxy") for one format of all, pack both alike, or give '
                "Boxes(..., decode=f)."
            )

    def resolved(self, dataset: Dataset) -> "Boxes":
        """Return the boxes with what dataset.json records, or each dataset of a Mix."""
        found = super().resolved(dataset)
        if self.out is not None and self.decode is None and isinstance(dataset, Mix):
            vars(found)["of_parts"] = self._of_parts(dataset)
        return found

    def _of_parts(self, mix: Mix) -> "Mapping[int, Boxes]":
        """Return the boxes of each dataset that has some; none if one has no record of its own."""
        has = {n: part for n, part in enumerate(mix.parts) if self.ext in part.extensions}
        if any(
            isinstance(part, Mix) or self.ext not in part.box_encodings for part in has.values()
        ):
            return {}
        own = {number: super(Boxes, self).resolved(part) for number, part in has.items()}
        return own if len({boxes.labels is None for boxes in own.values()}) == 1 else {}

    def shown(self, data: bytes, planned: Planned, tools: Tools) -> Sequence[Any]:
        """Return the member in each view."""
        if self.of_parts:
            return self.of_parts[planned.shard.source].shown(data, planned, tools)
        return super().shown(data, planned, tools)

    def parse_lines(self, data: bytes) -> Mapping[str, Any]:
        """Parse lines of a class and four numbers (YOLO's label files)."""
        rows = rows_of_lines(data)
        for number, row in rows:
            if len(row) != 5:
                kind = " (an outline?)" if len(row) > 6 else ""
                raise ValueError(
                    f"line {number} has {len(row)} numbers{kind}; a box has five, its class and "
                    "four coordinates; to read other lines, give Boxes(..., decode=f)"
                )
        return {"boxes": [row[1:] for _, row in rows], "labels": [row[0] for _, row in rows]}

    def place(self, content: Any, view: View, frame: Frame) -> tuple[Placed, int]:
        """Return the boxes as `view` shows them, and how many no crop explains."""
        assert self.path
        assert self.format
        given = _rows_of_four(self._of_objects(content), self.path)
        labels = self._labels(content, len(given))
        yolo = ', and format="cxcywh" for YOLO\'s files' if self.format != "cxcywh" else ""
        self._check_scale(given, yolo)
        corners = given @ _FORMATS[self.format][0]
        self._check_order(corners)
        points = self._as_stored(corners.reshape(-1, 2), frame)
        corners = points.reshape(-1, 4)
        limits = limits_of(view)
        low, high = _carried(corners, view)
        low, high = low.clip(*limits), high.clip(*limits)
        sides = high - low
        is_kept = (sides >= self.min_size).all(axis=1)
        if self.min_visible or not is_kept.all():
            inside = points.clip(*frame.edges).reshape(-1, 4)
            low_inside, high_inside = _carried(inside, view)
            sides_inside = high_inside - low_inside
            is_small = (sides_inside < self.min_size).any(axis=1) & ~is_kept & view.is_seen
            is_kept &= is_left(sides.prod(axis=1), self.min_visible, sides_inside.prod(axis=1))
        else:
            is_small = ~is_kept
        kept = np.flatnonzero(is_kept)
        return self._field(np.hstack([low, high])[kept], kept, labels), int(is_small.sum())

    @property
    def absent(self) -> Placed:
        """The field of a sample without the member."""
        nothing = np.zeros(0, np.int64)
        return self._field(np.zeros((0, 4)), nothing, None if self.labels is None else nothing)

    def _field(
        self, corners: NDArray[Any], kept: NDArray[Any], labels: NDArray[np.int64] | None
    ) -> Placed:
        assert self.out
        boxes = corners @ _FORMATS[self.out][1]
        found: Placed = {"boxes": boxes.astype(np.float32), "kept": kept.astype(np.int64)}
        return found if labels is None else {**found, "labels": labels[kept]}

    def _check_order(self, corners: NDArray[np.float64]) -> None:
        """Refuse boxes that end before they begin; another format may explain them."""
        wrong = np.flatnonzero((corners[:, 2:] < corners[:, :2]).any(axis=1))
        if len(wrong):
            raise ValueError(
                f"box {wrong[0]} ends before it begins in format={self.format!r}; check format="
            )


def _carried(
    corners: NDArray[np.float64], view: View
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return both corners of each box in the output, the upper left one first."""
    points = view.carry(corners.reshape(-1, 2)).reshape(-1, 2, 2)
    return points.min(axis=1), points.max(axis=1)  # a flip swaps them


def _rows_of_four(found: Any, path: str) -> NDArray[np.float64]:
    try:
        rows = np.asarray(found, np.float64)
        return rows.reshape(len(rows), 4)
    except (TypeError, ValueError):
        raise ValueError(f"its {path!r} is not a list of rows of four numbers") from None


_FORMATS = {name: (into, np.linalg.inv(into)) for name, into in CORNERS_OF.items()}
