"""The labels of samples: class numbers and names, objects and their boxes, and their JSON.

`Objects` is the form that every layout's annotations take. `BoxEncoding` is what dataset.json
records of it, so that readers need not guess. Pure.
"""

import base64
import datetime
import decimal
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, TypeVar

from packer.errors import BadImage, UnusableInput, WrongOption, first_of
from packer.images.annotated import Size, in_pixels
from packer.options.declared import PYTHON, SourceOptions
from packer.samples.outside import Kept, Made
from packer.words import listed
from reader.format import BoxEncoding, Manifest, MaskColors

MAX_TEXT = 20  # bytes of a .cls file
MAX_CLASSES = 1_000_000  # each has a name in dataset.json; a larger number is an identifier
_NAMED = 20  # classes in an error

Recorded = TypeVar("Recorded", BoxEncoding, MaskColors)
_RECORDED = {"boxes": "boxes", "mask_colors": "colours of masks"}

Encodings = Mapping[str, BoxEncoding]
"""How members hold boxes, by extension."""

YOLO: Encodings = {"txt": BoxEncoding("cxcywh", normalized=True, labels="labels")}


def class_order(
    source: object, found: Iterable[str], classes: Sequence[str] | None
) -> tuple[str, ...]:
    """Return the class names in label order: `classes`, which must have all, or those found."""
    found = sorted(set(found))
    if classes is None:
        return tuple(found)
    if unknown := sorted(set(found).difference(classes)):
        raise UnusableInput(
            f"{source} has classes that are not in the list of classes: {listed(unknown, _NAMED)}."
        )
    return tuple(classes)


def class_of_file(label: int, size: int, read: Callable[[], bytes]) -> int:
    """Return the class number that a ``.cls`` file holds; `label` is that of its folder or -1."""
    if label >= 0:
        raise BadImage("the class is the name of the folder; .cls files are ignored")
    if size > MAX_TEXT:
        raise BadImage(f"it has more than {MAX_TEXT} bytes, too many for a class number")
    return class_number(read())


def class_number(data: bytes) -> int:
    text = data[:MAX_TEXT].strip()
    if not text.isdigit():
        raise BadImage("it holds no class number: a .cls file is a decimal number")
    if int(text) >= MAX_CLASSES:
        raise BadImage(f"its class number is {int(text)}; {MAX_CLASSES - 1} is the largest")
    return int(text)


def in_json(
    format: str,
    *,
    labels: bool = True,
    normalized: bool = False,
    keypoints: Sequence[str] = (),
) -> Encodings:
    """Return how `Objects.json` holds boxes; `labels`: the objects have categories."""
    label_path = "categories" if labels else None
    return {"json": BoxEncoding(format, normalized, labels=label_path, keypoints=keypoints)}


@dataclass(frozen=True)
class Objects:
    """The annotated objects of one image; each list has one entry for each object.

    Those that are none of the image are left out of its JSON, see `outside`.
    """

    boxes: Sequence[Any] | None  # four numbers each; None: these objects have none
    format: str = "xywh"  # of the boxes, "xyxy", "xywh" or "cxcywh"
    categories: Sequence[Any] | None = None  # their classes; None: they have none
    fields: Mapping[str, Any] = field(default_factory=dict)  # what else is said of them
    image: Mapping[str, Any] = field(default_factory=dict)  # what is said of the image
    names: Sequence[str] = ()  # of the objects, for errors; none: "it"
    size: Size | None = None  # of the image, in the unit of the boxes
    number: str = ""  # the field that only numbers the objects, if there is one
    behind: Mapping[str, Any] = field(default_factory=dict)  # also of the image, behind the objects
    picture: Size | None = None  # its size in pixels where boxes are fractions; None: `size`

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

    def json(self) -> Made:
        boxes, categories, fields = self.boxes, self.categories, self.fields
        name_of = self.names.__getitem__ if self.names else "object {}".format
        kept = Kept(self.size, name_of, self._is_equal)
        for at, box in enumerate(boxes or ()):
            kept.add(at, self._corners(box), (*box, categories[at] if categories else None))
        if kept.left_out:
            boxes, categories = (
                list and [list[at] for at in kept.numbers] for list in (boxes, categories)
            )
            fields = {name: [list[at] for at in kept.numbers] for name, list in fields.items()}
        own = {"boxes": boxes, "categories": categories}
        found = {**self.image, **{key: value for key, value in own.items() if value is not None}}
        others = {**fields, **self.behind}
        made = kept.made(to_json(found | {k: v for k, v in others.items() if k not in found}))
        if boxes or any(isinstance(one, (list, dict)) and one for one in self._further()):
            made.picture = in_pixels(self.picture or self.size)
        return made

    def _further(self) -> Iterator[Any]:
        """Yield what may be the coordinates of objects without boxes."""
        lists = (*self.fields.values(), self.image.get("shapes", ()))
        return (one for list in lists for one in list)

    def _is_equal(self, one: int, other: int) -> bool:
        lists = (list for name, list in self.fields.items() if name != self.number)
        return all(list[one] == list[other] for list in lists)

    def _corners(self, box: Sequence[float]) -> tuple[float, float, float, float]:
        x, y, third, fourth = box
        if self.format == "xyxy":
            return x, y, third, fourth
        if self.format == "cxcywh":
            x, y = x - third / 2, y - fourth / 2
        return x, y, x + third, y + fourth

    def _fault(self, box: Any) -> str:
        if not isinstance(box, list) or len(box) != 4 or not all(map(_is_coordinate, box)):
            return f"has no box of four numbers: {box!r:.200}"
        x, y, third, fourth = box
        if (third < x or fourth < y) if self.format == "xyxy" else min(third, fourth) < 0:
            return f"has a box that ends before it begins, if it is {self.format}: {box}"
        return ""


def _is_coordinate(value: object) -> bool:
    try:
        return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]
    except OverflowError:
        return False


def of_items(options: SourceOptions) -> Encodings:
    if options.kind == PYTHON and options.box_format:
        return {"json": BoxEncoding(options.box_format, normalized=None)}
    return {}


def joined(
    base: Manifest | None,
    what: Literal["boxes", "mask_colors"],
    found: Mapping[str, Recorded],
    where: object = "dataset.json",
) -> Mapping[str, Recorded]:
    """Return what is recorded of members once those of `found` have been added to a dataset."""
    known: Mapping[str, Recorded] = getattr(base, what) if base else {}
    for ext in found.keys() & known.keys():
        if known[ext] != found[ext]:
            raise WrongOption(
                f"{where} records the {_RECORDED[what]} of .{ext} as {asdict(known[ext])}, and "
                f"those of the source are {asdict(found[ext])}. Pack them into another destination."
            )
    new = {ext: one for ext, one in found.items() if base is None or ext not in base.fields}
    return {**new, **known}


def to_json(fields: Any) -> bytes:
    """Return the JSON of a sample (RFC 8259, ASCII): NaN, infinities as null, bytes as base64."""
    try:
        try:
            return json.dumps(fields, separators=(",", ":"), allow_nan=False).encode()
        except (TypeError, ValueError):
            return json.dumps(_plain(fields), separators=(",", ":")).encode()
    except RecursionError as error:
        raise BadImage("it is nested too deeply") from error


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (decimal.Decimal, datetime.timedelta)):
        return str(value)
    return value
