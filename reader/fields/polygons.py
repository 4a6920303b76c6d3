"""Polygons of an image, transformed with it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.checks import FLAG, TEXT, Rule, check, one_of
from reader.decode.plan import View
from reader.errors import ArgumentError
from reader.fields.members import Decode
from reader.fields.overlays import RULES, SHARE, Overlay, Placed, is_left, limits_of, rows_of_lines
from reader.format.frames import Frame

_RULES: dict[str, Rule] = RULES | {
    "path": TEXT,
    "format": (one_of("xy", "cxcywhr"), '"xy" or "cxcywhr"'),
    "clip": FLAG,
    "min_visible": SHARE,
}
# Of a box, from its centre, in halves of its sides: the corners in turn, the upper left one first.
_CORNERS = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)]) / 2

Ring = NDArray[np.float64]  # (V, 2)


@dataclass(frozen=True)
class Polygons(Overlay):
    """The polygons of a member's objects: outlines, rotated boxes or the corners of texts.

    They go through the image's transforms and are clipped to what is seen of the image (by
    Sutherland and Hodgman: the parts of a concave polygon stay joined by edges along the border);
    those of which nothing is seen are dropped. The field is a dict of arrays:

    - ``points``: float32 (P, 2), x and y of all corners, in pixels of the output, as in `Boxes`.
    - ``offsets``: int64 (M + 1,): polygon m is ``points[offsets[m]:offsets[m + 1]]``.
    - ``kept``: int64 (M,), which of the member's objects each polygon belongs to.
    - ``labels``: int64 (M,), those of the objects, if there is a path to them.

    The objects are a list: each is a polygon, or a list of polygons (COCO's), or null. A polygon is
    a list of numbers x, y, x, y ... (DOTA's have 8), or of points. Masks in COCO's run lengths, as
    crowds have them, are no polygons: such an object has none.

    A member ``txt`` has lines of YOLO's outlines or oriented boxes: a class and the corners, in
    fractions of the upright image, and always gives ``labels``.

    Attributes:
        member: its extension. With a ``?`` behind it, a sample without the member has no polygons.
        path: where the polygons are, as in `Boxes`.
        format: "xy" for corners. "cxcywhr" for rotated boxes of five numbers, with torchvision's
            name: the centre, width, height and the angle in degrees, counter-clockwise; they
            arrive as their four corners, from the upper left one of the box before it is rotated.
        labels: path of as many whole numbers as there are objects; None: no labels.
        clip: False keeps all corners of a polygon of which something is seen, also those that lie
            outside, so that rotated boxes have four: ``points.view(-1, 4, 2)``.
        min_visible: the least share of a polygon's area, 0 to 1, that a crop leaves of a polygon
            that is kept.
        normalized, upright, decode: as in `Boxes`. `normalized` is True for the lines of a ``txt``.

    Raises:
        ArgumentError: an argument is not of its kind.
        SampleError: a member has no such polygons.

    Example:
        >>> polygons = reader.Polygons("json?", min_visible=0.2)
        >>> polygons.path
        'segmentation'
    """

    __module__ = "reader"
    name = "polygons"

    member: str
    path: str = "segmentation"
    format: str = "xy"
    labels: str | None = None
    clip: bool = True
    min_visible: float = 0.0
    normalized: bool | None = None
    upright: bool | None = None
    decode: Decode | None = None

    def __post_init__(self) -> None:
        check(vars(self), _RULES)
        if self.normalized and self.format == "cxcywhr":
            raise ArgumentError(
                f"{self}: an angle is one between pixels, so rotated boxes are in pixels. Let "
                "decode= make corners of fractions."
            )

    def parse_lines(self, data: bytes) -> Mapping[str, Any]:
        """The polygons and ``labels`` of lines of a class and corners: YOLO's outlines."""
        rows = rows_of_lines(data)
        for number, row in rows:
            if len(row) < 7 or len(row) % 2 == 0:
                raise ValueError(
                    f"line {number} has {len(row)} numbers; a line of an outline has its class and "
                    "at least three corners: Polygons(..., decode=f) may read others"
                )
        return {self.path: [row[1:] for _, row in rows], "labels": [row[0] for _, row in rows]}

    def place(self, content: Any, view: View, frame: Frame) -> tuple[Placed, int]:
        """Return the polygons as `view` shows them, and the number outside the image."""
        objects = self._of_objects(content)
        labels = self._labels(content, len(objects))
        try:
            owned = [(at, ring) for at, entry in enumerate(objects) for ring in self._rings(entry)]
        except (KeyError, TypeError, ValueError):
            what = "x and y" if self.format == "xy" else "five numbers"
            raise ValueError(f"its {self.path!r} has no list of {what} for each object") from None
        if not owned:
            return self._field([], [], labels), 0
        owners, given = zip(*owned, strict=True)
        points = np.concatenate(given)
        self._check_scale(points)
        points = view.carry(self._as_stored(points, frame))
        starts = np.cumsum([0, *map(len, given)])[:-1]
        least, most = np.minimum.reduceat(points, starts), np.maximum.reduceat(points, starts)
        low, high = limits_of(view)
        edges = np.sort(view.carry(frame.edges), axis=0)
        is_whole = np.all((low <= least) & (most <= high) & view.is_seen, axis=1)
        is_gone = np.any((most <= low) | (high <= least), axis=1) & ~is_whole
        found, kept = [], []
        for number in np.flatnonzero(~is_gone).tolist():
            ring = points[starts[number] :][: len(given[number])]
            seen = ring if is_whole[number] else _clipped(ring, low, high)
            if is_whole[number] or self._is_enough(seen, ring, edges):
                found.append(seen if self.clip else ring)
                kept.append(owners[number])
        outside = ((most <= edges[0]) | (edges[1] <= least)).any(axis=1) & view.is_seen
        return self._field(found, kept, labels), int(outside.sum())

    def _is_enough(self, seen: Ring, ring: Ring, edges: NDArray[np.float64]) -> bool:
        """Whether enough is seen of a polygon that a crop cuts; `edges` are the image's."""
        area = _area(seen)
        share = self.min_visible
        return area > 0 and (not share or is_left(area, share, _area(_clipped(ring, *edges))))

    @property
    def absent(self) -> Placed:
        """The field of a sample without the member."""
        return self._field([], [], None if self.labels is None else np.zeros(0, np.int64))

    def _rings(self, entry: Any) -> Iterator[Ring]:
        """The polygons of an object."""
        if entry is None or (isinstance(entry, Mapping) and "counts" in entry) or not len(entry):
            return
        is_many = not np.isscalar(entry[0]) and (len(entry[0]) != 2 or not np.isscalar(entry[0][0]))
        if is_many:
            for part in entry:
                yield from self._rings(part)
        elif self.format == "xy":
            yield np.asarray(entry, np.float64).reshape(-1, 2)
        else:
            x, y, width, height, angle = map(float, entry)
            cos, sin = np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle))
            axes = np.array([(cos, -sin), (sin, cos)])  # of a y that grows downwards
            yield (x, y) + _CORNERS * (width, height) @ axes

    def _field(
        self, rings: Sequence[Ring], kept: Sequence[int], labels: NDArray[np.int64] | None
    ) -> Placed:
        found: Placed = {
            "points": np.concatenate([*rings, np.zeros((0, 2))]).astype(np.float32),
            "offsets": np.cumsum([0, *map(len, rings)]),
            "kept": np.array(kept, np.int64),
        }
        return found if labels is None else {**found, "labels": labels[found["kept"]]}


def _clipped(ring: Ring, low: NDArray[np.float64], high: NDArray[np.float64]) -> Ring:
    """The part of a polygon between two corners, by Sutherland and Hodgman; maybe of no points."""
    for axis, sign, edge in (
        (axis, sign, limit[axis]) for axis in (0, 1) for sign, limit in ((1, low), (-1, high))
    ):
        depth = sign * (ring[:, axis] - edge)  # of each point within the edge
        is_inside = depth >= 0
        if is_inside.all():
            continue
        after = _turned(depth)
        crosses = is_inside != (after >= 0)
        share = depth / np.where(crosses, depth - after, 1)
        cuts = ring + share[:, None] * (_turned(ring) - ring)
        cuts[:, axis] = edge
        both = np.stack([ring, cuts], axis=1)
        ring = both[np.column_stack([is_inside, crosses])]
    return ring


def _turned(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """The value that follows each, the first one after the last."""
    return np.concatenate([values[1:], values[:1]])


def _area(ring: Ring) -> float:
    x, y = ring.T
    return float(abs(x @ _turned(y) - y @ _turned(x))) / 2
