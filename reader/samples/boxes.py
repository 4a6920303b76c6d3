"""Boxes of an image, transformed with it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.checks import FUNCTION, TEXT, Rule, check, is_flag, is_number, is_text, or_none
from reader.decode.plan import View
from reader.decode.stored import StoredImage, from_upright
from reader.errors import ArgumentError
from reader.format.manifest import BoxEncoding
from reader.format.members import kind_of
from reader.geometry import CORNERS_OF

_BEYOND = 0.5  # of the image's size: coordinates further outside are not fractions


_RULES: dict[str, Rule] = {
    "member": TEXT,
    "path": (or_none(is_text), "a path, or None"),
    "format": (or_none(is_text), "a text, or None"),
    "labels": (or_none(is_text), "a path, or None"),
    "min_size": (lambda given: is_number(given) and given >= 0, "a number of pixels from 0"),
    "normalized": (or_none(is_flag), "True, False or None"),
    "upright": (or_none(is_flag), "True, False or None"),
    "decode": FUNCTION,
}


@dataclass(frozen=True)
class Boxes:
    """The boxes of a member, transformed with the image.

    They are clipped to the visible image; those with a side below `min_size` are dropped
    (torchvision's SanitizeBoundingBoxes). The field is a dict, as torchvision's detection models
    expect: ``boxes``, float32 (N, 4) in the same format, in pixels of the output; ``kept``, int64
    (N,), their numbers among the member's boxes; and ``labels``, int64 (N,), if they have a path.

    If `packer pack` wrote the boxes, dataset.json records `path`, `format`, `labels` and
    `normalized`, and ``Boxes("json")`` needs none of them. A `format` or `normalized` that
    contradicts the record is refused. The record is not used for another `path`, or with `decode`.

    A member ``json`` has boxes at paths. A member ``txt`` has lines of a class and four numbers, as
    YOLO's label files do, and always gives ``labels``. YOLO's boxes are coordinates of the upright
    image, COCO's of the stored one. These differ in photographs with an EXIF orientation,
    independent of the dataset's own ``upright``.

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
            the stored image. None: True for a ``txt``, False for any other member.
        decode: function from the member's bytes to the value that the paths index, such as a dict;
            None for JSON, or the lines of a ``txt``.

    Example:
        >>> boxes = reader.Boxes("json")
        >>> with reader.Loader("detection", split="train", fields=("image", boxes)) as loader:
        ...     images, objects = list(loader)[-1]
        >>> sorted(objects[0])
        ['boxes', 'kept', 'labels']
    """

    __module__ = "reader"

    member: str
    path: str | None = None
    format: str | None = None
    labels: str | None = None
    min_size: float = 1.0
    normalized: bool | None = None
    upright: bool | None = None
    decode: Callable[[bytes], Any] | None = None

    def __post_init__(self) -> None:
        check(vars(self), _RULES)
        if self.format is not None and self.format not in _FORMATS:
            raise ArgumentError(f"{self}: format is one of {', '.join(_FORMATS)}.")

    @property
    def is_upright(self) -> bool:
        """Whether the coordinates are those of the upright image."""
        if self.upright is None:
            return kind_of(self.member.removesuffix("?")) == "txt"
        return self.upright

    def resolved(self, recorded: BoxEncoding | None) -> "Boxes":
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
        format = self.format or recorded.format
        return replace(self, path=path, format=format, labels=labels, normalized=normalized)

    def place(
        self, content: Any, view: View, orientation: int
    ) -> tuple[dict[str, NDArray[Any]], int]:
        """Return the boxes of a parsed member in `view`, and how many were dropped before any crop.

        These `Boxes` are resolved; `orientation` is EXIF's, independent of `view`.
        """
        assert self.path
        assert self.format
        given = _rows_of_four(_at(content, self.path), self.path)
        labels = None if self.labels is None else _whole(_at(content, self.labels), self.labels)
        if labels is not None and len(labels) != len(given):
            raise ValueError(f"there are {labels.size} {self.labels} for {len(given)} boxes")
        self._check_scale(given)
        into, back = _FORMATS[self.format]
        corners = given @ into
        self._check_order(corners)
        corners = self._as_stored(corners, view.image, orientation if self.is_upright else 1)
        low, high = _carried(corners, view)
        top, left, height, width = view.target
        edges = (left, top), (left + width, top + height)
        low, high = low.clip(*edges), high.clip(*edges)
        is_kept = ((high - low) >= self.min_size).all(axis=1)
        kept = np.flatnonzero(is_kept)
        dropped = 0
        if len(kept) < len(given) and height and width:
            inside = corners.clip(0, (view.image.width, view.image.height) * 2)
            low_inside, high_inside = _carried(inside, view)
            is_small = ((high_inside - low_inside) < self.min_size).any(axis=1)
            dropped = int((is_small & ~is_kept).sum())
        return _field(np.hstack([low, high])[kept] @ back, kept, labels), dropped

    def _as_stored(
        self, corners: NDArray[np.float64], image: StoredImage, orientation: int
    ) -> NDArray[np.float64]:
        """Return opposite corners of each box in pixels of the stored image."""
        points, size = corners.reshape(-1, 2), (image.height, image.width)
        if self.normalized:
            points = from_upright(points, (1, 1), orientation) * size[::-1]
        else:
            points = from_upright(points, size, orientation)
        return points.reshape(-1, 4)

    def none(self) -> dict[str, NDArray[Any]]:
        """Return the field of a sample without the member."""
        nothing = np.zeros(0, np.int64)
        return _field(np.zeros((0, 4)), nothing, None if self.labels is None else nothing)

    def _check_scale(self, given: NDArray[np.float64]) -> None:
        """Refuse fractions in place of pixels, and the reverse."""
        if not np.isfinite(given).all():
            raise ValueError("a box has numbers that are not finite")
        if not given.size:
            return
        least, most = given.min(), given.max()
        if self.normalized and (least < -_BEYOND or most > 1 + _BEYOND):
            number = least if least < -_BEYOND else most
            raise ValueError(
                f"its boxes reach to {number:g}, but normalized=True is for fractions from 0 to 1; "
                "for pixels, leave normalized= out"
            )
        is_fraction = (given > 0) & (given < 1)
        if not self.normalized and least >= 0 and most <= 1 and is_fraction.any():
            raise ValueError(
                "its boxes are between 0 and 1; for fractions of the image, give "
                "Boxes(..., normalized=True)"
                + (', and format="cxcywh" for YOLO\'s files' if self.format != "cxcywh" else "")
            )

    def _check_order(self, corners: NDArray[np.float64]) -> None:
        """Refuse boxes that end before they begin; another format may explain them."""
        wrong = np.flatnonzero((corners[:, 2:] < corners[:, :2]).any(axis=1))
        if len(wrong):
            raise ValueError(
                f"box {wrong[0]} ends before it begins in format={self.format!r}; check format="
            )


def parse_lines(data: bytes) -> Mapping[str, Any]:
    """Parse lines of a class and four numbers (YOLO's label files) to ``boxes`` and ``labels``."""
    boxes, labels = [], []
    for number, line in enumerate(data.decode("utf-8-sig").splitlines(), 1):
        try:
            numbers = [float(word) for word in line.split()]
        except ValueError:
            raise ValueError(f"line {number} is not a list of numbers: {line[:40]!r}") from None
        if not numbers:
            continue
        if len(numbers) != 5:
            kind = " (an outline?)" if len(numbers) > 6 else ""
            raise ValueError(
                f"line {number} has {len(numbers)} numbers{kind}; a box has five, its class and "
                "four coordinates; to read other lines, give Boxes(..., decode=f)"
            )
        labels.append(numbers[0])
        boxes.append(numbers[1:])
    return {"boxes": boxes, "labels": labels}


def _field(
    boxes: NDArray[Any], kept: NDArray[Any], labels: NDArray[np.int64] | None
) -> dict[str, NDArray[Any]]:
    found: dict[str, NDArray[Any]] = {
        "boxes": boxes.astype(np.float32),
        "kept": kept.astype(np.int64),
    }
    return found if labels is None else {**found, "labels": labels[kept]}


def _carried(
    corners: NDArray[np.float64], view: View
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return both corners of each box in the output, the upper left one first."""
    first, second = view.carry(corners[:, :2]), view.carry(corners[:, 2:])
    return np.minimum(first, second), np.maximum(first, second)  # a flip swaps them


def _at(content: Any, path: str) -> Any:
    step, _, rest = path.partition(".")
    if step == "*":
        return [_at(entry, rest) if rest else entry for entry in content]
    try:
        found = content[step]
    except (KeyError, TypeError):
        has = f"; it has {', '.join(map(str, content))[:200]}" if isinstance(content, dict) else ""
        raise ValueError(f"it has nothing at {path!r}{has}") from None
    return _at(found, rest) if rest else found


def _rows_of_four(found: Any, path: str) -> NDArray[np.float64]:
    try:
        rows = np.asarray(found, np.float64)
        return rows.reshape(len(rows), 4)
    except (TypeError, ValueError):
        raise ValueError(f"its {path!r} is not a list of rows of four numbers") from None


def _whole(found: Any, path: str) -> NDArray[np.int64]:
    try:
        numbers = np.asarray(found, np.float64).reshape(len(found))
    except (TypeError, ValueError):
        numbers = np.array([np.nan])
    if not (numbers == np.floor(numbers)).all():
        raise ValueError(f"its {path!r} is not a list of integers")
    return numbers.astype(np.int64)


_FORMATS = {name: (into, np.linalg.inv(into)) for name, into in CORNERS_OF.items()}
