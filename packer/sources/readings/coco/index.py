"""COCO's annotation files: the kind of each, and the positions of each image's entries."""

from array import array
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from packer.errors import UnusableInput
from packer.files.snapshot import Watched
from packer.samples.records import Skipped
from packer.sources.readings.coco.json_stream import Element, elements
from packer.words import many, option

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
_NAMES = 5  # of images that are looked for


@dataclass
class Entries:
    """Positions of the entries of a file, 24 bytes each."""

    ids: dict[int | str, int] = field(default_factory=dict)  # of images -> their numbers here
    names: list[str] = field(default_factory=list)  # of the listed images
    images: "array[int]" = field(default_factory=lambda: array("q"))  # number, offset, size of each
    annotations: "array[int]" = field(default_factory=lambda: array("q"))  # image, offset, size
    wrong: list[Skipped] = field(default_factory=list)
    _listed: bytearray = field(default_factory=bytearray)  # whether each number is listed

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
            return
        number = self.ids.setdefault(own, len(self.ids))
        self._listed.extend(bytes(len(self.ids) - len(self._listed)))
        if self._listed[number]:
            self._refuse(f"{file}: {name}", f"the id {own} is that of an earlier one")
            return
        self._listed[number] = True
        self.names.append(name)
        self.images.extend((number, element.offset, element.size))

    def _refuse(self, name: str, reason: str) -> None:
        self.wrong.append(Skipped(name, reason, damaged=True))


@dataclass(frozen=True)
class Annotations:
    """One annotation file.

    Attributes:
        kind: of its annotations, one of the constants above.
        categories: the name of each category id.
        keypoints: the names of the key points of each object, if all categories have the same.
        images: the folder of its images, relative to the source's root; "" for the root.
        split: of its images.
        moved: an image as it is named and where it is, if paths or extensions are others.
    """

    file: Watched
    kind: str
    categories: Mapping[int, str]
    entries: Entries = field(repr=False, compare=False)
    keypoints: tuple[str, ...] = ()
    images: str = ""
    split: str = ""
    moved: tuple[str, str] | tuple[()] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the first few images."""
        return tuple(self.entries.names[:_NAMES])

    @classmethod
    def read(cls, file: Watched) -> "Annotations":
        """Read an annotation file through, once; raise UnusableInput for any other."""
        lists: set[str] = set()
        fields: set[str] = set()
        used: set[int] = set()
        categories: dict[int, Any] = {}
        entries, path = Entries(), file.path
        for element in elements(file, lists):
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
            if element.of == "annotations" and isinstance(element.value, dict):
                fields.update(element.value)
                if isinstance(category_id := element.value.get("category_id"), int):
                    used.add(category_id)
        if "images" not in lists:
            raise UnusableInput(
                f"{path} is not a COCO annotation file: it has no list of images. Tables "
                "are CSV, TSV, JSONL or Parquet."
            )
        if not entries.names and (count := len(entries.annotations) // 3):
            raise UnusableInput(
                f"{path}: its list of images is empty, and it has {many(count, 'annotation')}."
            )
        by_name = (kind for name, kind in _BY_NAME.items() if path.name.startswith(name))
        by_field = (kind for name, kind in _BY_FIELD.items() if name in fields)
        named = {number: category["name"] for number, category in categories.items()}
        named = named or {number: str(number) for number in used}
        if (project := _project(categories)) is not None and project not in used:
            del named[project]
        kind = [*by_name, *by_field, OBJECTS][0]
        return cls(file, kind, named, entries, _keypoints(categories))


class Index:
    """The entries of the images of one split, from one file or several."""

    def __init__(self, parts: Mapping[int, Annotations]) -> None:
        each = [(part, annotations.entries) for part, annotations in parts.items()]
        self._ids = each[0][1].ids if len(each) == 1 else dict[int | str, int]()
        images, owners = [], []
        for part, entries in each:
            ids = self._ids
            numbers = np.array([ids.setdefault(one, len(ids)) for one in entries.ids], np.int64)
            own, *place = np.asarray(entries.images).reshape(-1, 3).T
            images.append(np.stack((numbers[own], np.full_like(own, part), *place), axis=1))
            owners.append(numbers[entries.annotations[::3]])
        self._images = np.concatenate(images)
        names = [name for _, entries in each for name in entries.names]
        _, first, group = np.unique(self._images[:, 0], return_index=True, return_inverse=True)
        for at in np.flatnonzero(first[group] != np.arange(len(group))).tolist():
            if names[at] != (other := names[first[group[at]]]):
                number, part = self._images[at, :2].tolist()
                raise UnusableInput(
                    f"{parts[part].file.path}: the image with the id {list(self._ids)[number]} is "
                    f"{names[at]} here and {other} in another annotation file of the same images. "
                    "Pack each file separately, with ",
                    option("root"),
                    " for the folder of its images.",
                )
        first.sort()
        self.file_names = [names[at] for at in first.tolist()]  # of the images, in their order
        self._images = self._images[first]
        owned = np.concatenate(owners)
        order = np.argsort(owned, kind="stable")
        self._bounds = np.searchsorted(owned[order], np.arange(len(self._ids) + 1))
        spans = [np.asarray(entries.annotations).reshape(-1, 3) for _, entries in each]
        self._spans = (spans[0] if len(spans) == 1 else np.concatenate(spans))[order]
        self._spans[:, 0] = np.repeat(list(parts), [len(some) for some in owners])[order]

    def strays(self, name: str) -> Iterator[Skipped]:
        """Yield the annotations of images that no file lists."""
        counts = np.diff(self._bounds)
        counts[self._images[:, 0]] = -1
        for image, count in zip(self._ids, counts.tolist(), strict=True):
            if count >= 0:
                reason = f"it has {count} annotations and is not in the list of images"
                yield Skipped(f"{name}: image {image}", reason, damaged=True)

    def places(self) -> Iterator[list[list[int]]]:
        """Yield file, offset and size of the entry and the annotations of each image."""
        for row in self._images:
            number, *place = row.tolist()
            yield [place, *self._spans[self._bounds[number] : self._bounds[number + 1]].tolist()]


def _id(entry: Any, name: str) -> int | str | None:
    value = entry.get(name) if isinstance(entry, dict) else None
    return value if type(value) in (int, str) else None


def file_name_of(element: Element) -> str | None:
    """Return the path of an image: its file name, or the end of its URL, as in LVIS."""
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


def _keypoints(categories: Mapping[int, Mapping[str, Any]]) -> tuple[str, ...]:
    lists = [category["keypoints"] for category in categories.values() if "keypoints" in category]
    is_sound = all(isinstance(one, list) and all(type(n) is str for n in one) for one in lists)
    return tuple(lists[0]) if is_sound and lists and all(one == lists[0] for one in lists) else ()


def _category(element: Element, path: Path) -> tuple[int, Mapping[str, Any]]:
    try:
        category = element.load()
        number, name = category["id"], category["name"]
    except (KeyError, TypeError, ValueError) as error:
        raise UnusableInput(f"{path}: a category has no id or no name.") from error
    if type(number) is not int or not isinstance(name, str):
        raise UnusableInput(f"{path}: a category's id is not a number, or its name no text.")
    return number, category
