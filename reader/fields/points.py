"""Key points of an image, transformed with it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.checks import FLAG, TEXT, Rule, check, is_integer, is_text, one_of, or_none
from reader.decode.plan import View
from reader.errors import ArgumentError
from reader.fields.members import Decode
from reader.fields.overlays import RULES, Overlay, Placed, limits_of, rows_of_lines
from reader.format.frames import Frame
from reader.format.manifest import BoxEncoding

_SEEN = 2  # the visibility of a point without one
_MIDDLE = 0.5  # of a pixel, from its edge

Pairs = Sequence[tuple[int, int]]


def _are(kind: Callable[[Any], bool], given: Any, length: int | None = None) -> bool:
    is_list = isinstance(given, Sequence) and not isinstance(given, str)
    return is_list and all(map(kind, given)) and length in (None, len(given))


_RULES: dict[str, Rule] = RULES | {
    "path": TEXT,
    "format": (one_of("xyv", "xy"), '"xyv" or "xy"'),
    "centers": FLAG,
    "names": (or_none(lambda given: _are(is_text, given)), "a list of names, or None"),
    "flip": (
        or_none(lambda given: _are(lambda pair: _are(is_integer, pair, 2), given)),
        "a list of pairs of numbers, such as [(1, 2), (3, 4)], or None",
    ),
}


@dataclass(frozen=True)
class Points(Overlay):
    """The key points of a member's objects, such as COCO's: x, y and a visibility.

    They go through the image's transforms. The field is a dict with ``keypoints``, as torchvision's
    Keypoint R-CNN wants them: float32 (N, K, 3), for each of the member's N objects its K points: x
    and y in pixels of the output, as those of `Boxes` (0 is the left edge of the first pixel), and
    COCO's visibility: 0 for a point that is not labelled, 1 for one that is hidden, 2 for one that
    is seen. There is also ``labels``, int64 (N,), if there is a path to them.

    A point that a crop leaves outside of what is seen of the image has the visibility 0, and its
    coordinates, which lie outside. One that is not labelled is (0, 0, 0), as COCO has it. No object
    is dropped: ``keypoints[boxes["kept"]]`` are those of the boxes that are kept.

    Where the image is mirrored, left and right points change places, so that the left eye is again
    at its own number: those of `names` with "left" and "right", or the pairs of `flip`. Where
    `packer pack` found names in COCO's categories, dataset.json records them.

    The objects are a list: for each its numbers in a row (COCO's), or a list of points, or None.
    A member ``txt`` has lines of YOLO's poses: a class, a box and the points, in fractions of the
    upright image, and always gives ``labels``.

    Attributes:
        member: its extension. With a ``?`` behind it, a sample without the member has no points:
            an array (0, K, 3), with K of `names`, otherwise 0.
        path: where the points are, as in `Boxes`.
        format: "xyv", or "xy" for points without a visibility, which all have 2 then.
        labels: path of as many whole numbers as there are objects; None: no labels.
        names: of the K points, for the pairs of `flip`. None: as recorded, or unknown.
        flip: pairs of the numbers of points, from 0, that a mirrored image exchanges; ``()`` for
            none. None: those of `names`.
        normalized, upright, decode: as in `Boxes`. `normalized` is True for the lines of a ``txt``.
        centers: whole numbers are the middles of pixels, as given and as delivered: so torchvision
            and albumentations count key points. False: they are edges, as in `Boxes`.

    Raises:
        ArgumentError: an argument is not of its kind; `flip` has a point that there is not, or one
            twice; `centers` with fractions.
        SampleError: a member has no such points.

    Example:
        >>> points = reader.Points("json", names=["nose", "left_eye", "right_eye"])
        >>> points.pairs
        ((1, 2),)
    """

    __module__ = "reader"
    name = "points"

    member: str
    path: str = "keypoints"
    format: str = "xyv"
    labels: str | None = None
    names: Sequence[str] | None = None
    flip: Pairs | None = None
    normalized: bool | None = None
    upright: bool | None = None
    decode: Decode | None = None
    centers: bool = False

    def __post_init__(self) -> None:
        check(vars(self), _RULES)
        if self.centers and self.normalized:
            raise ArgumentError(f"{self}: fractions count no pixels. Leave centers= out.")
        numbers = [number for pair in self.flip or () for number in pair]
        most = len(self.names) if self.names else max(numbers, default=0) + 1
        if len(set(numbers)) < len(numbers) or not all(0 <= number < most for number in numbers):
            raise ArgumentError(
                f"{self}: flip has pairs of numbers from 0 to one below the number of points, each "
                "number once."
            )

    @cached_property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """The numbers of the points that a mirrored image exchanges."""
        if self.flip is not None:
            return tuple((int(one), int(other)) for one, other in self.flip)
        place = {name: at for at, name in enumerate(self.names or ())}
        mirrored = (
            (at, name.replace("left", "right").replace("Left", "Right"))
            for name, at in place.items()
        )
        return tuple((at, place[name]) for at, name in mirrored if place.get(name, at) != at)

    def completed(self, recorded: BoxEncoding | None) -> "Points":
        """Return these points with every argument: as given, as `recorded`, or the default."""
        names = self.names if recorded is None else self.names or recorded.keypoints
        return replace(super().completed(recorded), names=names or None)

    def parse_lines(self, data: bytes) -> Mapping[str, Any]:
        """The points and ``labels`` of lines of a class, a box and points: YOLO's poses."""
        rows = [row for _, row in rows_of_lines(data)]
        return {self.path: [row[5:] for row in rows], "labels": [row[0] for row in rows]}

    def place(self, content: Any, view: View, frame: Frame) -> tuple[Placed, int]:
        """Return the points as `view` shows them; none is dropped."""
        found = self._given(self._of_objects(content))
        labels = self._labels(content, len(found))
        is_labelled = found[:, :, 2] > 0
        found[~is_labelled] = 0
        x, y, visible = found[is_labelled].T
        points = np.column_stack([x, y])
        self._check_scale(points)
        shift = _MIDDLE * self.centers
        points = view.carry(self._as_stored(points + shift, frame))
        low, high = limits_of(view)
        is_inside = view.is_seen & ((low <= points) & (points <= high)).all(axis=1)
        found[is_labelled] = np.column_stack([points - shift, visible * is_inside])
        if len(self.pairs) and len(found) and view.is_mirrored ^ frame.is_mirrored:
            left, right = np.transpose(self.pairs)
            found[:, [*left, *right]] = found[:, [*right, *left]]
        return self._field(found, labels), 0

    @property
    def absent(self) -> Placed:
        """The field of a sample without the member."""
        labels = None if self.labels is None else np.zeros(0, np.int64)
        return self._field(np.zeros((0, len(self.names or ()), 3)), labels)

    def _given(self, objects: Any) -> NDArray[np.float64]:
        """The points (N, K, 3) of the objects, with a visibility; of None (0, 0, 0)."""
        size = len(self.format)
        try:
            rows = [
                None if one is None or (isinstance(one, list) and not one) else self._of_object(one)
                for one in objects
            ]
        except (TypeError, ValueError):
            what = "x, y and a visibility" if size == 3 else "x and y"
            raise ValueError(
                f"its {self.path!r} has no list of {what} for each object; is "
                f"format={self.format!r} right?"
            ) from None
        counts = {len(row) for row in rows if row is not None}
        count = counts.pop() if counts else len(self.names or ())
        least = max((number + 1 for pair in self.pairs for number in pair), default=0)
        if counts or count < least or (self.names and count != len(self.names)):
            raise ValueError(
                f"its objects have {', '.join(map(str, sorted({count, *counts})))} points; names= "
                f"or flip= are for {len(self.names) if self.names else least}"
            )
        nothing = np.zeros((count, 3))
        filled = [nothing if row is None else row for row in rows]
        return np.array(filled).reshape(len(filled), count, 3)

    def _of_object(self, given: Any) -> NDArray[np.float64]:
        numbers, size = np.asarray(given, np.float64), len(self.format)
        if numbers.ndim == 2 and numbers.shape[1] != size:
            raise ValueError("points of another size")
        points = np.full((numbers.size // size, 3), float(_SEEN))
        points[:, :size] = numbers.reshape(-1, size)
        return points

    def _field(self, points: NDArray[Any], labels: NDArray[np.int64] | None) -> Placed:
        found: Placed = {"keypoints": points.astype(np.float32)}
        return found if labels is None else {**found, "labels": labels}
