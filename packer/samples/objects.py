"""The objects that annotations give an image: their boxes are checked, and written as JSON, here.

`Objects` is the form that every layout's annotations take, and a `BoxEncoding` is what dataset.json
records of it, so that readers need not guess. Pure.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from packer.errors import BadImage, UnusableInput, first_of
from packer.options.declared import PYTHON, SourceOptions
from packer.samples.as_json import to_json
from reader.format import BoxEncoding, Manifest

Encodings = Mapping[str, BoxEncoding]
"""How members hold boxes, by extension."""

YOLO: Encodings = {"txt": BoxEncoding("cxcywh", normalized=True, labels="labels")}


def in_json(format: str, *, labels: bool = True) -> Encodings:
    """Return how `Objects.json` holds boxes; `labels`: the objects have categories."""
    return {"json": BoxEncoding(format, labels="categories" if labels else None)}


@dataclass(frozen=True)
class Objects:
    """The annotated objects of one image; each list has one entry for each object."""

    boxes: Sequence[Any] | None  # four numbers each; None: these objects have none
    format: str = "xywh"  # of the boxes, "xyxy", "xywh" or "cxcywh"
    categories: Sequence[Any] | None = None  # their classes; None: they have none
    fields: Mapping[str, Any] = field(default_factory=dict)  # what else is said of them
    image: Mapping[str, Any] = field(default_factory=dict)  # what is said of the image
    names: Sequence[str] = ()  # of the objects, for errors; none: "it"

    def __post_init__(self) -> None:
        boxes = self.boxes or ()
        named = zip(self.names or ["it"] * len(boxes), boxes, strict=True)
        if faults := [f"{name} {fault}" for name, box in named if (fault := self._fault(box))]:
            raise BadImage(first_of(faults))

    def numbered(self, class_of: Mapping[str, int]) -> "Objects":
        """Return the same with class numbers for the names that are the categories."""
        return replace(self, categories=[class_of[name] for name in self.categories or ()])

    def as_xywh(self) -> "Objects":
        """Return the same with boxes of x, y, width and height."""
        if self.format == "xywh":
            return self
        boxes: list[list[float]] = []
        for x, y, third, fourth in self.boxes or ():
            if self.format == "xyxy":
                third, fourth = third - x, fourth - y
            else:
                x, y = x - third / 2, y - fourth / 2
            boxes.append([x, y, third, fourth])
        return replace(self, boxes=None if self.boxes is None else boxes, format="xywh")

    def json(self) -> bytes:
        """Return the member ``json``."""
        found = dict(self.image)
        if self.boxes is not None:
            found["boxes"] = self.boxes
        if self.categories is not None:
            found["categories"] = self.categories
        return to_json({**found, **self.fields})

    def _fault(self, box: Any) -> str:
        """What is wrong with a box; "" if it is sound."""
        if not isinstance(box, list) or len(box) != 4 or not all(map(_is_coordinate, box)):
            return f"has no box of four numbers: {box!r:.200}"
        x, y, third, fourth = box
        if (third < x or fourth < y) if self.format == "xyxy" else min(third, fourth) < 0:
            return f"has a box that ends before it begins, if it is {self.format}: {box}"
        return ""


def _is_coordinate(value: object) -> bool:
    """Whether it is a finite number, of a size that a float has."""
    try:
        return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]
    except OverflowError:
        return False


def of_items(options: SourceOptions) -> Encodings:
    """Return what is known of the boxes of Python's items."""
    if options.kind == PYTHON and options.box_format:
        return {"json": BoxEncoding(options.box_format, normalized=None)}
    return {}


def joined(base: Manifest | None, found: Encodings, where: object = "dataset.json") -> Encodings:
    """Return how members hold boxes once those of `found` have been added to a dataset."""
    there = base.boxes if base else {}
    for ext in found.keys() & there.keys():
        if there[ext] != found[ext]:
            raise UnusableInput(
                f"{where} records the boxes of .{ext} as {asdict(there[ext])}, and those to be "
                f"added are {asdict(found[ext])}. Pack them into another destination."
            )
    new = {ext: one for ext, one in found.items() if base is None or ext not in base.fields}
    return {**new, **there}
