"""COCO's annotation files: what each is about, and where the entries of each image lie in it."""

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from packer.errors import UnusableInput
from packer.files.snapshot import Watched
from packer.layouts.coco.json_stream import Element, elements
from packer.samples.records import Skipped
from packer.words import option

OBJECTS, KEYPOINTS, STUFF = "objects", "key points", "stuff"
PANOPTIC, CAPTIONS, CLASSES = "panoptic segments", "captions", "classes"
_BY_NAME = {"person_keypoints": KEYPOINTS, "stuff": STUFF}
_BY_FIELD = {  # the first field that occurs decides
    "segments_info": PANOPTIC,
    "keypoints": KEYPOINTS,
    "bbox": OBJECTS,
    "category_id": CLASSES,
    "caption": CAPTIONS,
}
_NAMES = 5  # of images that are kept


@dataclass
class Entries:
    """Where the entries of a file lie: places are kept only, of 24 bytes."""

    ids: dict[int | str, int] = field(default_factory=dict)  # of images -> their numbers here
    names: dict[int, str] = field(default_factory=dict)  # of the listed images, by number
    images: "array[int]" = field(default_factory=lambda: array("q"))  # offset, size of each of them
    annotations: "array[int]" = field(default_factory=lambda: array("q"))  # image, offset, size
    wrong: list[Skipped] = field(default_factory=list)

    def add(self, element: Element, file: str) -> None:
        """Add an element of the lists of images and annotations."""
        where = f"{file}: byte {element.offset}"
        if element.of == "annotations":
            if (owner := _id(element.value, "image_id")) is None:
                self._refuse(where, "it is not an annotation: it has no image_id")
            else:
                number = self.ids.setdefault(owner, len(self.ids))
                self.annotations.extend((number, element.offset, element.size))
            return
        own, name = _id(element.value, "id"), file_name_of(element)
        if own is None or name is None:
            self._refuse(where, "it is not an image: it has no id or no file_name")
        elif (number := self.ids.setdefault(own, len(self.ids))) in self.names:
            self._refuse(f"{file}: {name}", f"the id {own} is that of an earlier one")
        else:
            self.names[number] = name
            self.images.extend((element.offset, element.size))

    def _refuse(self, name: str, reason: str) -> None:
        self.wrong.append(Skipped(name, reason, damaged=True))


@dataclass(frozen=True)
class Annotations:
    """One annotation file.

    Attributes:
        kind: of its annotations, one of the constants above.
        categories: the name of each category id.
        names: of the first few images.
        images: the folder of its images, relative to the source's root; "" for the root.
        split: of its images.
    """

    file: Watched
    kind: str
    categories: Mapping[int, str]
    names: tuple[str, ...]
    entries: Entries = field(repr=False, compare=False)
    images: str = ""
    split: str = ""

    @classmethod
    def read(cls, file: Watched) -> "Annotations":
        """Read an annotation file through, once; raise UnusableInput for any other."""
        lists: set[str] = set()
        fields: set[str] = set()
        used: set[int] = set()
        names: list[str] = []
        categories: dict[int, Any] = {}
        entries, path = Entries(), file.path
        for element in elements(file):
            lists.add(element.of)
            if element.of == "categories":
                number, category = _category(element, path)
                if categories.setdefault(number, category)["name"] != category["name"]:
                    raise UnusableInput(
                        f"{path}: category {number} is {category['name']!r} here and "
                        f"{categories[number]['name']!r} before."
                    )
                continue
            if element.of not in ("annotations", "images"):
                continue
            entries.add(element, path.name)
            if element.of == "images":
                if len(names) < _NAMES and (name := file_name_of(element)):
                    names.append(name)
            elif isinstance(element.value, dict):
                fields.update(element.value)
                if isinstance(category_id := element.value.get("category_id"), int):
                    used.add(category_id)
        if "images" not in lists:
            raise UnusableInput(
                f"{path} is not a COCO annotation file: it has no list of images. Tables "
                "are CSV, TSV, JSONL or Parquet."
            )
        by_name = (kind for name, kind in _BY_NAME.items() if path.name.startswith(name))
        by_field = (kind for name, kind in _BY_FIELD.items() if name in fields)
        named = {number: category["name"] for number, category in categories.items()}
        if (project := _project(categories)) is not None and project not in used:
            del named[project]
        return cls(file, [*by_name, *by_field, OBJECTS][0], named, tuple(names), entries)


class Index:
    """The entries of the images of one split, which lie in one file or several."""

    def __init__(self, parts: Mapping[int, Annotations]) -> None:
        self.file_names: dict[int, str] = {}  # by image number, in their order
        self._number_of: dict[int | str, int] = {}  # of each image id
        self._places = array("q")  # part, offset, size of each image's entry
        owners, spans = [], []
        for part, annotations in parts.items():
            entries = annotations.entries
            numbers = np.fromiter(map(self._number, entries.ids), np.int64)
            own = map(int, numbers[list(entries.names)])
            places = zip(entries.images[::2], entries.images[1::2], strict=True)
            for number, name, place in zip(own, entries.names.values(), places, strict=True):
                if number not in self.file_names:
                    self.file_names[number] = name
                    self._places.extend((part, *place))
                elif (other := self.file_names[number]) != name:
                    image = next(key for key, value in self._number_of.items() if value == number)
                    raise UnusableInput(
                        f"{annotations.file.path}: the image with the id {image} is {name} "
                        f"here and {other} in another annotation file of the same images. Pack "
                        f"each file by itself, with {option('root')} for the folder of its images."
                    )
            found = np.array(entries.annotations, np.int64).reshape(-1, 3)
            owners.append(numbers[found[:, 0]])
            found[:, 0] = part
            spans.append(found)
        self._owners, self._spans = np.concatenate(owners), np.concatenate(spans)

    def strays(self, name: str) -> Iterator[Skipped]:
        """Yield the annotations of images that no file lists."""
        counts = np.bincount(self._owners, minlength=len(self._number_of))
        for image, number in self._number_of.items():
            if number not in self.file_names:
                reason = f"it has {counts[number]} annotations and is not in the list of images"
                yield Skipped(f"{name}: image {image}", reason, damaged=True)

    def locators(self) -> Iterator[str]:
        """Yield, for each image that is listed, the places of its entry and its annotations."""
        order = np.argsort(self._owners, kind="stable")
        spans = self._spans[order]
        bounds = np.searchsorted(self._owners[order], np.arange(len(self._number_of) + 1))
        each = zip(*(self._places[at::3] for at in range(3)), strict=True)
        for number, place in zip(self.file_names, each, strict=True):
            own = spans[bounds[number] : bounds[number + 1]].tolist()
            yield " ".join(f"{part}:{offset}:{size}" for part, offset, size in (place, *own))

    def _number(self, image: int | str) -> int:
        return self._number_of.setdefault(image, len(self._number_of))


def _id(entry: Any, name: str) -> int | str | None:
    value = entry.get(name) if isinstance(entry, dict) else None
    return value if type(value) in (int, str) else None


def file_name_of(element: Element) -> str | None:
    """Where an image lies: its file name, or, as LVIS has it, the end of its address."""
    try:
        entry = element.load()
        name, address = entry.get("file_name"), entry.get("coco_url")
    except (AttributeError, ValueError):
        return None
    if name is None and isinstance(address, str):
        name = "/".join(address.split("/")[-2:])
    if not isinstance(name, str) or not name:
        return None
    return name if "/" in name else name.replace("\\", "/")  # as Windows has it


def _project(categories: Mapping[int, Mapping[str, Any]]) -> int | None:
    """The category that Roboflow adds in front: the others' parent, with the project's name."""
    first = categories.get(0, {})
    above = {category.get("supercategory") for number, category in categories.items() if number}
    return 0 if first.get("supercategory") == "none" and first["name"] in above else None


def _category(element: Element, path: Path) -> tuple[int, Mapping[str, Any]]:
    try:
        category = element.load()
        number, name = category["id"], category["name"]
    except (KeyError, TypeError, ValueError) as error:
        raise UnusableInput(f"{path}: a category has no id or no name.") from error
    if type(number) is not int or not isinstance(name, str):
        raise UnusableInput(f"{path}: a category's id is not a number, or its name no text.")
    return number, category
