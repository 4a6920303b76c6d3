"""Where the entries of COCO's annotation files lie, by image: places are kept, not entries."""

from array import array
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from packer.errors import UnusableInput
from packer.files.snapshot import Watched
from packer.layouts.coco.json_stream import Element, elements
from packer.samples.records import Skipped
from packer.words import option

OBJECTS, KEYPOINTS, STUFF = "objects", "key points", "stuff"
PANOPTIC, CAPTIONS, CLASSES = "panoptic segments", "captions", "classes"


@dataclass(frozen=True)
class Annotations:
    """One annotation file.

    Attributes:
        images: the folder of its images, relative to the source's root; "" for the root.
        split: of its images.
        kind: of its annotations, one of the constants above.
    """

    file: Watched
    images: str = ""
    split: str = ""
    kind: str = OBJECTS


@dataclass
class Index:
    """Where the entries of images and annotations lie, by the images' ids.

    Attributes:
        file_names: of the images that are listed, in their order, by their numbers.
    """

    file_names: dict[int, str] = field(default_factory=dict)
    _number_of: dict[int | str, int] = field(default_factory=dict)  # of each image id
    _places: dict[int, tuple[int, int, int]] = field(default_factory=dict)  # by image number
    _owners: "array[int]" = field(default_factory=lambda: array("q"))  # image numbers
    _spans: "array[int]" = field(default_factory=lambda: array("q"))  # part, offset, size

    def add(self, part: int, annotations: Annotations) -> Iterator[Skipped]:
        """Read a file; what is wrong with single entries.

        Raises:
            UnusableInput: another file has another image of the same id.
        """
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
        """The annotations of images that no file lists."""
        counts = np.bincount(np.array(self._owners, np.int64), minlength=len(self._number_of))
        for image, number in self._number_of.items():
            if number not in self._places:
                yield _wrong(
                    f"{name}: image {image}",
                    f"it has {counts[number]} annotations and is not in the list of images",
                )

    def locators(self) -> Iterator[str]:
        """For each image that is listed, the places of its entry and of its annotations."""
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
    """A wrong entry: the file is an annotation file all the same."""
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
