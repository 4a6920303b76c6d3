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
    images: str = ""
    split: str = ""

    @classmethod
    def read(cls, file: Watched) -> "Annotations":
        """Read an annotation file through; raise UnusableInput for any other."""
        lists: set[str] = set()
        fields: set[str] = set()
        used: set[int] = set()
        names: list[str] = []
        categories: dict[int, Any] = {}
        path = file.path
        for element in elements(file):
            lists.add(element.of)
            if element.of == "categories":
                number, category = _category(element, path)
                if categories.setdefault(number, category)["name"] != category["name"]:
                    raise UnusableInput(
                        f"{path}: category {number} is {category['name']!r} here and "
                        f"{categories[number]['name']!r} before."
                    )
            elif element.of == "annotations" and isinstance(element.value, dict):
                fields.update(element.value)
                if isinstance(category_id := element.value.get("category_id"), int):
                    used.add(category_id)
            elif element.of == "images" and len(names) < _NAMES and (name := file_name_of(element)):
                names.append(name)
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
        return cls(file, [*by_name, *by_field, OBJECTS][0], named, tuple(names))


@dataclass
class Index:
    """Where the entries of images and annotations lie, by the images' ids: places are kept only."""

    file_names: dict[int, str] = field(default_factory=dict)  # by image number, in their order
    _number_of: dict[int | str, int] = field(default_factory=dict)  # of each image id
    _places: dict[int, tuple[int, int, int]] = field(default_factory=dict)  # by image number
    _owners: "array[int]" = field(default_factory=lambda: array("q"))  # image numbers
    _spans: "array[int]" = field(default_factory=lambda: array("q"))  # part, offset, size

    def add(self, part: int, annotations: Annotations) -> Iterator[Skipped]:
        """Read a file, and yield what is wrong with single entries."""
        name = annotations.file.path.name
        listed: set[int] = set()
        for element in elements(annotations.file):
            where = f"{name}: byte {element.offset}"
            if element.of == "annotations":
                owner = _id(element.value, "image_id")
                if owner is None:
                    yield _wrong(where, "it is not an annotation: it has no image_id")
                    continue
                self._owners.append(self._number(owner))
                self._spans.extend((part, element.offset, element.size))
            elif element.of == "images":
                own = _id(element.value, "id")
                file_name = file_name_of(element)
                if own is None or file_name is None:
                    yield _wrong(where, "it is not an image: it has no id or no file_name")
                    continue
                number = self._number(own)
                if number in listed:
                    yield _wrong(f"{name}: {file_name}", f"the id {own} is that of an earlier one")
                elif number not in self._places:
                    self._places[number] = (part, element.offset, element.size)
                    self.file_names[number] = file_name
                elif (other := self.file_names[number]) != file_name:
                    raise UnusableInput(
                        f"{annotations.file.path}: the image with the id {own} is {file_name} "
                        f"here and {other} in another annotation file of the same images. Pack "
                        f"each file by itself, with {option('root')} for the folder of its images."
                    )
                listed.add(number)

    def strays(self, name: str) -> Iterator[Skipped]:
        """Yield the annotations of images that no file lists."""
        counts = np.bincount(np.array(self._owners, np.int64), minlength=len(self._number_of))
        for image, number in self._number_of.items():
            if number not in self._places:
                yield _wrong(
                    f"{name}: image {image}",
                    f"it has {counts[number]} annotations and is not in the list of images",
                )

    def locators(self) -> Iterator[str]:
        """Yield, for each image that is listed, the places of its entry and its annotations."""
        owners = np.array(self._owners, np.int64)
        spans = np.array(self._spans, np.int64).reshape(-1, 3)
        order = np.argsort(owners, kind="stable")
        bounds = np.searchsorted(owners[order], np.arange(len(self._number_of) + 1))
        for number, place in self._places.items():
            own = spans[order[bounds[number] : bounds[number + 1]]].tolist()
            yield " ".join(f"{part}:{offset}:{size}" for part, offset, size in (place, *own))

    def _number(self, image: int | str) -> int:
        return self._number_of.setdefault(image, len(self._number_of))


def _wrong(name: str, reason: str) -> Skipped:
    return Skipped(name, reason, damaged=True)


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
