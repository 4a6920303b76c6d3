"""The base of fields with coordinates on an image: `Boxes`, `Points` and `Polygons`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from reader.checks import FUNCTION, TEXT, Rule, is_flag, is_number, is_text, or_none
from reader.dataset.dataset import Dataset
from reader.decode.plan import View
from reader.errors import ArgumentError, SampleError
from reader.fields.field import Tools
from reader.fields.members import Decode, MemberField
from reader.fields.pixels import Planned
from reader.format.frames import STORED, UPRIGHT, Frame, Packed, frame_in
from reader.format.manifest import BoxEncoding
from reader.format.members import DECODERS, Missing, at_path, kind_of, picture_format

Placed = dict[str, NDArray[Any]]  # a field of a sample, as it is delivered
Own = TypeVar("Own", bound="Overlay")

_LISTS = "boxes", "categories"  # in the JSON that packer writes, with an entry for each object
_LOOKED_AT, _FETCHED = 10_000, 250  # samples in which a path is looked for, here and in a store
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
    may_lack = False  # whether objects may lack what is at the path, which some of others have

    path: str | None
    labels: str | None
    normalized: bool | None
    upright: bool | None

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
        is_further = known is not None and found.path != known.path and not found.is_text
        vars(found)["may_lack"] = is_further and found._is_of_some(dataset)
        return found

    def _is_of_some(self, dataset: Dataset) -> bool:
        """Whether some of the objects that packer wrote have the path; raise if none seems to."""
        assert self.path
        names: dict[str, None] = {}
        step = -(-len(dataset) // (_LOOKED_AT if dataset.fetching is None else _FETCHED))
        for number in range(0, len(dataset), step or 1):
            shard, row = dataset.locate(number)
            if shard.index.span(self.ext, row) is None:
                continue
            try:
                content = json.loads(shard.read(row, self.ext))
                at_path(content, self.path)
            except Missing:
                names |= dict.fromkeys(content if _objects_in(content) else ())
            except (SampleError, ValueError, RecursionError):
                continue  # its batch raises what is wrong with it
            else:
                return True
        if names:
            raise ArgumentError(
                f"{self}: no sample of {dataset.source} that was looked at has {self.path!r} in "
                f"its .{self.ext}, which has {', '.join(names)}. Give path= one of them, leave the "
                "field out, or give decode= a function for the member's bytes."
            )
        return True

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
        frame = self._frame(planned.shard.index.columns, planned.row)
        placed = [self.place(content, view, frame) for view in planned.views]
        tools.dropped_boxes += sum(dropped for _, dropped in placed)
        if self.are_classes and planned.shard.labels is not None:  # of a Mix
            for found, _ in placed:
                found["labels"] = planned.shard.labels[found["labels"]]
        return [found for found, _ in placed]

    def parse_lines(self, data: bytes) -> Any:
        """Parse YOLO's lines to the value that the paths index."""
        raise NotImplementedError

    def place(self, content: Any, view: View, frame: Frame) -> tuple[Placed, int]:
        """Return the field in `view`, and how many entries were dropped before any crop.

        The field is resolved; `frame` is the picture that its coordinates are of.
        """
        raise NotImplementedError

    def _frame(self, columns: Mapping[str, NDArray[Any]], row: int) -> Frame:
        recorded, is_upright = frame_in(columns, row, self.ext), self.upright
        if recorded in (STORED, UPRIGHT):
            is_upright = recorded == UPRIGHT
        return Frame(
            Packed.of_row(columns, row), self.is_text if is_upright is None else is_upright
        )

    def _of_objects(self, content: Any) -> Any:
        """Return what is at the path: a value for each object, None for one without it."""
        assert self.path
        try:
            return at_path(content, self.path)
        except Missing:
            count = _objects_in(content)
            if count is None or (count and not self.may_lack):
                raise
            return [None] * count

    def _labels(self, content: Any, count: int) -> NDArray[np.int64] | None:
        if self.labels is None:
            return None
        try:
            given = at_path(content, self.labels)
        except Missing:
            if _objects_in(content) != 0:
                raise
            given = ()
        labels = _whole(given, self.labels)
        if len(labels) != count:
            raise ValueError(f"there are {labels.size} {self.labels} for {count} {self.name}")
        return labels

    def _as_stored(self, points: NDArray[np.float64], frame: Frame) -> NDArray[np.float64]:
        """Map points (N, 2), in pixels or fractions of `frame`, to the stored image."""
        return frame.to_stored(points * frame.size[::-1] if self.normalized else points)

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


def _objects_in(content: Any) -> int | None:
    """Return the number of objects in a JSON that packer wrote; None if it is of another form."""
    lists = [content.get(name) for name in _LISTS] if isinstance(content, Mapping) else []
    return next((len(one) for one in lists if isinstance(one, list)), None)


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
