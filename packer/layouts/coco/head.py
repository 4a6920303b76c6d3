"""What an annotation file is about, told by one pass over it: its categories, kind and images."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packer.errors import UnusableInput
from packer.files.snapshot import Watched
from packer.layouts.coco.index import (
    CAPTIONS,
    CLASSES,
    KEYPOINTS,
    OBJECTS,
    PANOPTIC,
    STUFF,
    file_name_of,
)
from packer.layouts.coco.json_stream import Element, elements

_BY_NAME = {"person_keypoints": KEYPOINTS, "stuff": STUFF}
_NAMES = 5  # of images that are kept


@dataclass(frozen=True)
class Head:
    """What an annotation file is about.

    Attributes:
        kind: of its annotations, one of those of `index`.
        categories: the name of each category id.
        names: of the first few images.
    """

    kind: str
    categories: Mapping[int, str]
    names: tuple[str, ...]


def head_of(file: Watched) -> Head:
    """Read an annotation file through.

    Raises:
        UnusableInput: it is not an annotation file.
    """
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
    kind = next((kind for name, kind in _BY_NAME.items() if path.name.startswith(name)), None)
    named = {number: category["name"] for number, category in categories.items()}
    if (project := _project(categories)) is not None and project not in used:
        del named[project]
    return Head(kind or _kind(fields), named, tuple(names))


def _kind(fields: set[str]) -> str:
    """The kind of annotations that have these fields; objects where there are none."""
    if "segments_info" in fields:
        return PANOPTIC
    if "keypoints" in fields:
        return KEYPOINTS
    if "bbox" in fields:
        return OBJECTS
    if "category_id" in fields:
        return CLASSES
    return CAPTIONS if "caption" in fields else OBJECTS


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
