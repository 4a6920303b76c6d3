"""The base of fields with coordinates on an image: `Boxes`, `Points` and `Polygons`."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from reader.checks import FUNCTION, TEXT, Rule, is_flag, is_number, is_text, or_none
from reader.dataset.dataset import Dataset
from reader.decode.plan import View
from reader.decode.stored import StoredImage, from_upright
from reader.errors import ArgumentError
from reader.fields.field import Tools
from reader.fields.members import Decode, MemberField
from reader.fields.pixels import Planned
from reader.format.manifest import BoxEncoding
from reader.format.members import DECODERS, at_path, kind_of, picture_format

Placed = dict[str, NDArray[Any]]  # a field of a sample, as it is delivered
Own = TypeVar("Own", bound="Overlay")

_BEYOND = 1  # of the image's size: coordinates further outside are not fractions
_ROUNDING = 1e-9  # of an area: what products of floats may be off

PATH: Rule = or_none(is_text), "a path, or None"
SHARE: Rule = lambda given: is_number(given) and 0 <= given <= 1, "a share from 0 to 1"
RULES: dict[str, Rule] = {
    "member": TEXT,
    "path": PATH,
    "labels": PATH,
    "normalized": (or_none(is_flag), "True, False or None"),
    "upright": (or_none(is_flag), "True, False or None"),
    "decode": FUNCTION,
}


class Overlay(MemberField):
    """A field of coordinates, whose arguments are described at each."""

    follows_image = True
    are_classes = False  # its labels are those of dataset.json's classes

    path: str | None
    labels: str | None
    normalized: bool | None
    upright: bool | None

    @property
    def is_upright(self) -> bool:
        """Whether the coordinates are those of the upright image."""
        return self.is_text if self.upright is None else self.upright

    @property
    def is_text(self) -> bool:
        """Whether the member is a ``txt``."""
        return kind_of(self.ext) == "txt"

    def resolved(self: Own, dataset: Dataset) -> Own:
        """Return the field with what dataset.json records of it."""
        own, kind, what = self.decode, kind_of(self.ext), type(self).__name__
        if own is None and (kind == "npy" or picture_format(self.ext)):
            raise ArgumentError(
                f"{what} reads JSON or the lines of a txt, not {self.ext!r}. Pack {self.name} as "
                f'lists of numbers, which become "json"; or give {what}(..., decode=f), where f '
                f'returns a dict such as {{"{self.path or self.name}": rows of numbers}} for the '
                "member's bytes."
            )
        known = dataset.box_encodings.get(self.ext) if own is None else None
        found = self.completed(known)
        is_labelled = known is not None and found.labels == known.labels is not None
        vars(found)["are_classes"] = is_labelled
        return found

    def completed(self: Own, recorded: BoxEncoding | None) -> Own:
        """Return the field with every argument: as given, as `recorded`, or the default."""
        is_yolo = self.is_text and self.decode is None
        found: Own = replace(
            cast(Any, self),
            labels=self.labels or ("labels" if is_yolo else None),
            normalized=is_yolo if self.normalized is None else bool(self.normalized),
        )
        return found

    @cached_property
    def decoder(self) -> Decode:
        """The function that decodes the member's bytes."""
        lines = self.parse_lines if self.is_text else DECODERS["json"]
        return self.decode or lines

    @property
    def absent(self) -> Placed:
        """The field of a sample without the member."""
        raise NotImplementedError

    def shown(self, data: bytes, planned: Planned, tools: Tools) -> Sequence[Any]:
        """Return the member in each view."""
        content = self.decoder(data)
        orientation = int(planned.shard.index.columns["orientation"][planned.row])
        placed = [self.place(content, view, orientation) for view in planned.views]
        tools.dropped_boxes += sum(dropped for _, dropped in placed)
        if self.are_classes and planned.shard.labels is not None:  # of a Mix
            for found, _ in placed:
                found["labels"] = planned.shard.labels[found["labels"]]
        return [found for found, _ in placed]

    def parse_lines(self, data: bytes) -> Any:
        """Parse YOLO's lines to the value that the paths index."""
        raise NotImplementedError

    def place(self, content: Any, view: View, orientation: int) -> tuple[Placed, int]:
        """Return the field in `view`, and how many entries were dropped before any crop.

        The field is resolved; `orientation` is EXIF's, whether `view` is upright or not.
        """
        raise NotImplementedError

    def _labels(self, content: Any, count: int) -> NDArray[np.int64] | None:
        if self.labels is None:
            return None
        labels = _whole(at_path(content, self.labels), self.labels)
        if len(labels) != count:
            raise ValueError(f"there are {labels.size} {self.labels} for {count} {self.name}")
        return labels

    def _as_stored(
        self, points: NDArray[np.float64], image: StoredImage, orientation: int
    ) -> NDArray[np.float64]:
        """Points (N, 2) in pixels of the stored image, which `orientation` turns."""
        size, orientation = (image.height, image.width), orientation if self.is_upright else 1
        if self.normalized:
            return from_upright(points, (1, 1), orientation) * size[::-1]
        return from_upright(points, size, orientation)

    def _check_scale(self, given: NDArray[np.float64], hint: str = "") -> None:
        """Refuse fractions in place of pixels, and the reverse."""
        if not np.isfinite(given).all():
            raise ValueError(f"its {self.name} have numbers that are not finite")
        if not given.size:
            return
        least, most = given.min(), given.max()
        if self.normalized and (least < -_BEYOND or most > 1 + _BEYOND):
            number = least if least < -_BEYOND else most
            raise ValueError(
                f"its {self.name} reach to {number:g}, but normalized=True is for fractions from 0 "
                "to 1; for pixels, leave normalized= out"
            )
        is_fraction = (given > 0) & (given < 1)
        if not self.normalized and least >= 0 and most <= 1 and is_fraction.any():
            raise ValueError(
                f"its {self.name} are between 0 and 1; for fractions of the image, give "
                f"{type(self).__name__}(..., normalized=True){hint}"
            )


def limits_of(view: View) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The corners of what the output shows of the image, x and y."""
    top, left, height, width = view.target
    return np.array((left, top), np.float64), np.array((left + width, top + height), np.float64)


def is_left(area: Any, share: float, whole: Any) -> Any:
    """Whether an area, or each of many, is at least a `share` of the `whole`."""
    return area >= share * whole * (1 - _ROUNDING)


def rows_of_lines(data: bytes) -> list[tuple[int, list[float]]]:
    """The numbers of each line that has any, with the line's own."""
    found = []
    for number, line in enumerate(data.decode("utf-8-sig").splitlines(), 1):
        try:
            numbers = [float(word) for word in line.split()]
        except ValueError:
            raise ValueError(f"line {number} is not a list of numbers: {line[:40]!r}") from None
        if numbers:
            found.append((number, numbers))
    return found


def _whole(found: Any, path: str) -> NDArray[np.int64]:
    try:
        numbers = np.asarray(found, np.float64).reshape(len(found))
    except (TypeError, ValueError):
        numbers = np.array([np.nan])
    if not (numbers == np.floor(numbers)).all():
        raise ValueError(f"its {path!r} is not a list of integers")
    return numbers.astype(np.int64)
