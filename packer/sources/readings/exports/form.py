"""A form of annotations as data: where in an image's record its name, objects and labels are.

A path is names joined by dots; ``*`` stands for every element of a list or value of an object, a
number for an element, and `` | `` parts paths of which the first that exists is meant. Pure.
"""

import csv
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from packer.errors import BadImage
from packer.images.annotated import Size, size_of
from packer.sources.readings.exports.records import JSON, Reader
from packer.sources.trees.names import splits_of

_FIELD = re.compile(rb'"([^"\\]{1,80})"\s*:')
_FAULTS = (ValueError, TypeError, KeyError, AttributeError, IndexError, csv.Error)
_MADE = ("_image", "_objects", "_labels")  # by `readers`


@dataclass(frozen=True)
class Thing:
    """An object in an image."""

    label: str | None
    box: list[Any] | None
    fields: Mapping[str, Any]


@dataclass(frozen=True)
class Described:
    """The data of one image in a record; `split` is not normalised."""

    image: str
    objects: Sequence[Thing]
    labels: Sequence[str]
    split: str
    rest: Any
    size: Size | None = None  # of the image, in pixels


@dataclass(frozen=True)
class Form:
    """One form of annotations; the paths begin in a record, those of an object in the object.

    Attributes:
        what: it is, for a person.
        needs: fields that the beginning of such a file has, with " | " between alternatives, or,
            after "^", how it begins.
        suffixes: of such files, with spaces between them.
        of: member of the top object that holds the records; "": the top list, or lines of JSON;
            "*": all members; "file": the file is one record, and others are beside it.
        image: its name; "@key": the name of the record, "@stem": that of the file.
        objects: a list of them; "": each record is of facts about an image. Those that a reader
            makes need not be said; neither does their label, nor the labels of the image.
        label: of an object; `names` is then a path in the rest of the file to the names of numbers.
        box: path of four numbers, or of an object and the names of four in it: ``a.b: x y w h``.
        format: of boxes, and `scale` is 1 for pixels, otherwise what the image's side counts.
        size: path of an object or list and the names of the image's width and height in it, as
            `box` has it; "": the record has them under usual names, or not at all.
        labels: of the image, and `split`.
        several: an image may have many records, all of which are this field of its ``json``.
        gather: what of each record that is; "": all.
        joins: the records of an image make one, also those of several files.
        reader: of such files.
    """

    what: str
    needs: str
    image: str
    objects: str = "_objects.*"
    label: str = "_label"
    box: str = ""
    format: str = "xywh"
    scale: float = 0
    size: str = ""
    labels: str = "_labels.*"
    split: str = ""
    names: str = ""
    of: str = ""
    several: str = ""
    gather: str = ""
    joins: bool = False
    suffixes: str = ".json"
    reader: Reader = JSON

    def fits(self, name: str, beginning: bytes) -> bool:
        """Return whether a file with this name and beginning is of this form."""
        if not name.lower().endswith(tuple(self.suffixes.split())):
            return False
        if self.needs.startswith("^"):
            return re.match(self.needs.encode(), beginning) is not None
        fields = set(_FIELD.findall(beginning))
        each = (set(some.encode().split()) for some in self.needs.split(" | "))
        return any(some <= fields for some in each)

    def describe(self, data: bytes, key: str, path: str, others: Mapping[str, Any]) -> Described:
        """Parse the bytes of a record in the file `path`; raise BadImage."""
        try:
            record = self.reader.complete(self.reader.parse(data), {**others, "@key": key})
        except _FAULTS as error:
            raise BadImage(f"it cannot be read as {self.what}: {error!s:.200}") from error
        stem = os.path.splitext(os.path.basename(path))[0]
        if not isinstance(record, dict):
            raise BadImage(f"it is not a record of {self.what}: {record!r:.80}")
        known = {"@key": key, "@stem": stem}
        image = known.get(self.image) or first(record, self.image)
        if type(image) not in (str, int) or image == "":
            raise NoImage(f"it names no image: its fields are {', '.join(record)[:200]}")
        names = list(dig(others, self.names))
        things = [self._thing(item, names) for item in dig(record, self.objects)]
        labels = [_name(one, names) for one in dig(record, self.labels)]
        splits = [text for text in dig(record, self.split) if isinstance(text, str)]
        split = next(filter(splits_of, ([text] for text in splits)), splits[:1])
        rest = record
        for path in self.objects.split(" | ") if self.objects else ():
            rest = without(rest, path.split("."))
        rest = {name: one for name, one in rest.items() if name not in _MADE}
        named = list(dict.fromkeys(one for one in labels if one is not None))
        size = self._size(record) or size_of(rest)
        return Described(str(image), things, named, "".join(split), rest, size)

    def _size(self, record: Any) -> Size | None:
        path, _, sides = self.size.partition(": ")
        found = [first(record, f"{path}.{side}") for side in sides.split()]
        return size_of(dict(zip(("width", "height"), found, strict=False)))

    def _thing(self, item: Any, names: Sequence[Any]) -> Thing:
        if not isinstance(item, dict):
            raise BadImage(f"it has an object that is not valid: {item!r:.80}")
        path, _, names_of_four = self.box.partition(":")
        found, corners = first(item, path) if path else item, names_of_four.split()
        box: list[Any] | None = None
        used = {self.label} if self.label.startswith("_") else set[str]()
        if isinstance(found, list):
            box, used = found, used | {path}
        elif corners and isinstance(found, dict) and all(found.get(c) is not None for c in corners):
            box = [found[corner] for corner in corners]
            used |= set(corners) if not path else {path} if found.keys() <= set(corners) else set()
        if box and self.scale:
            box = [number / self.scale if _is_number(number) else number for number in box]
        label = next((name for one in dig(item, self.label) if (name := _name(one, names))), None)
        fields = {name: value for name, value in item.items() if name not in used}
        if isinstance(item.get(self.label), str):
            fields.pop(self.label, None)
        return Thing(label, box, fields)


class NoImage(BadImage):
    """A record names no image."""


def dig(value: Any, paths: str) -> Iterator[Any]:
    """Yield what the first of the paths that exists leads to."""
    for path in paths.split(" | "):
        found = [value]
        for step in path.split(".") if path else ():
            found = [one for above in found for one in _step(above, step)]
        if found and paths:
            yield from found
            return


def _step(value: Any, step: str) -> Iterator[Any]:
    if isinstance(value, dict):
        if step in value:
            yield value[step]
        elif step == "*":
            yield from value.values()
    elif isinstance(value, list):
        if step == "*":
            yield from value
        elif step.isdigit() and int(step) < len(value):
            yield value[int(step)]


def first(value: Any, paths: str) -> Any:
    """Return the first thing that the paths lead to; None if there is none."""
    return next(dig(value, paths), None)


def without(value: Any, steps: Sequence[str]) -> Any:
    """Return a value without what the path of these steps leads to."""
    if steps[0] == "*":
        if len(steps) == 1 or not isinstance(value, (dict, list)):
            return None
        if isinstance(value, list):
            return [without(one, steps[1:]) for one in value]
        return {name: without(one, steps[1:]) for name, one in value.items()}
    if not isinstance(value, dict) or steps[0] not in value:
        return value
    rest = without(value[steps[0]], steps[1:]) if len(steps) > 1 else None
    kept = {name: one for name, one in value.items() if name != steps[0]}
    return kept if rest is None else kept | {steps[0]: rest}


def _name(value: Any, names: Sequence[Any]) -> str | None:
    """Return the name of a class; a number counts `names`, and other ids are looked up in them."""
    if names and isinstance(names[0], dict):
        value = names[0].get(value, value)
    elif type(value) is int and names:
        if not 0 <= value < len(names):
            raise BadImage(f"its class is {value}, and there are {len(names)}")
        value = names[value]
    return str(value) if type(value) in (str, int) and value != "" else None


def _is_number(value: Any) -> bool:
    return type(value) in (int, float)
