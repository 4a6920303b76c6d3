"""The objects in an entry's fields, as TensorFlow's detection API and TFDS name them (pure).

Their boxes are the lists ``PREFIX/bbox/xmin`` and so on, or one list ``PREFIX/bbox`` of ymin, xmin,
ymax, xmax for each object. Every other list below the prefix has a value for each object.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from packer.errors import BadImage
from packer.images.annotated import size_of
from packer.samples.labels import Objects
from packer.samples.outside import FRACTIONS
from packer.sources.containers.entries import Blob

_SIDES = ("xmin", "ymin", "xmax", "ymax")
_FRACTION = 2  # larger numbers are pixels
_CLASSES = ("class/text", "class/label", "label", "bbox/label")


@dataclass
class ObjectFields:
    """The fields of objects, and what all entries tell of their classes.

    Attributes:
        prefix: of their names, with a ``/`` at its end.
        is_flat: whether the boxes are one list.
        has_classes: whether any object has a class.
        normalized: whether the numbers are fractions of the image's sides.
        texts: their classes by name.
        named: class numbers -> names.
    """

    prefix: str
    is_flat: bool
    normalized: bool = True
    has_classes: bool = False
    texts: set[str] = field(default_factory=set)
    named: dict[int, set[str]] = field(default_factory=dict)

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> "ObjectFields | None":
        """Return those of an entry, None if it has none."""
        for name in fields:
            prefix, is_box, side = name.rpartition("bbox/")
            if is_box and side == "xmin" and all(f"{prefix}bbox/{one}" in fields for one in _SIDES):
                return cls(prefix, False)
            if name.endswith("objects/bbox"):
                return cls(name.removesuffix("bbox"), True)
        return None

    def look_at(self, fields: Mapping[str, Any]) -> None:
        """Note the classes and the largest number of an entry."""
        boxes = self._boxes(fields)
        if any(value > _FRACTION for box in boxes for value in box):
            self.normalized = False
        found = self._classes(fields, len(boxes))
        self.has_classes = self.has_classes or bool(found)
        texts = next((each for each in found.values() if each and isinstance(each[0], str)), [])
        numbers = next((each for each in found.values() if each and isinstance(each[0], int)), [])
        self.texts.update(texts)
        for number, text in zip(numbers, texts, strict=False):
            self.named.setdefault(number, set()).add(text)

    def class_names(self) -> list[str]:
        """Return the names of the classes by their numbers, or sorted; none if only numbers are."""
        each = [self.named[number] for number in sorted(self.named)]
        is_one_each = all(len(names) == 1 for names in each)
        ordered = [name for names in each for name in names]
        is_whole = is_one_each and len(set(ordered)) == len(ordered)
        return ordered if is_whole and set(ordered) == self.texts else sorted(self.texts)

    def objects(
        self, fields: Mapping[str, Any], class_of: Mapping[Any, int] | None
    ) -> tuple[Objects, dict[str, Any]]:
        """Return the objects of an entry, and its other fields; `class_of` None: as they are."""
        boxes = self._boxes(fields)
        own = {n: v for n, v in fields.items() if n.startswith(self.prefix) and v is not None}
        others = {n: v for n, v in fields.items() if not n.startswith(self.prefix)}
        lists: dict[str, Any] = {}
        for name, value in own.items():
            short = name.removeprefix(self.prefix)
            if short == "bbox" or (short.startswith("bbox/") and short[5:] in _SIDES):
                continue
            each = value if isinstance(value, list) else [value]
            if len(each) == len(boxes) and not any(isinstance(one, Blob) for one in each):
                lists[short] = each
            else:
                others[name] = value
        categories = next(iter(self._classes(fields, len(boxes)).values()), None)
        if categories is not None and class_of is not None:
            if unknown := next((one for one in categories if one not in class_of), None):
                raise BadImage(f"the class of one of its objects is {unknown!r}, which is unknown")
            categories = [class_of[one] for one in categories]
        size = FRACTIONS if self.normalized else size_of(_short(fields))
        found = Objects(boxes, "xyxy", categories, lists, size=size)
        return found, others

    def _boxes(self, fields: Mapping[str, Any]) -> list[list[float]]:
        if self.is_flat:
            flat = _listed(fields.get(f"{self.prefix}bbox"))
            each = [flat[at : at + 4] for at in range(0, len(flat), 4)]
            return [[box[1], box[0], box[3], box[2]] for box in each if len(box) == 4]
        sides = [_listed(fields.get(f"{self.prefix}bbox/{side}")) for side in _SIDES]
        if len({len(side) for side in sides}) > 1:
            raise BadImage("its boxes have more of one side than of another")
        return [list(box) for box in zip(*sides, strict=True)]

    def _classes(self, fields: Mapping[str, Any], count: int) -> dict[str, list[Any]]:
        found = {name: _listed(fields.get(self.prefix + name)) for name in _CLASSES}
        return {name: each for name, each in found.items() if each and len(each) == count}


def _listed(value: Any) -> list[Any]:
    return [] if value is None else value if isinstance(value, list) else [value]


def _short(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {name.rpartition("/")[2]: value for name, value in fields.items()}
