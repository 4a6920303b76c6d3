"""What is stored of an image: the annotations that name it, a list for each of their fields."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from packer.errors import BadImage, first_of


def described(
    image: Any,
    annotations: Sequence[Mapping[str, Any]],
    class_of: Mapping[int, int],
    has_boxes: bool,
) -> dict[str, Any]:
    """What is stored of an image.

    Args:
        image: its own entry.
        annotations: those that name it.
        class_of: class number of each category id; empty: there are no categories.
        has_boxes: whether an object has to have one.

    Raises:
        BadImage: a box is none, or a category is not listed.
    """
    objects = list(_objects(annotations))
    captions = [item["caption"] for item in annotations if "caption" in item]
    found = {"image": image}
    if class_of:
        _check(objects, class_of, has_boxes)
        if has_boxes:
            found["boxes"] = [item["bbox"] for item in objects]
        found["categories"] = [class_of[item["category_id"]] for item in objects]
        for name in {name: None for item in objects for name in item}:
            if name not in ("image_id", "bbox"):
                found[name] = [item.get(name) for item in objects]
    if captions:
        found["captions"] = captions
    return found


def _objects(annotations: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The annotations of objects; of a panoptic one, its segments."""
    found: list[Mapping[str, Any]] = []
    for item in annotations:
        segments = item.get("segments_info", ())
        if not isinstance(segments, list | tuple) or not all(
            isinstance(segment, dict) and "category_id" in segment for segment in segments
        ):
            raise BadImage(f"its segments_info is not a list of segments: {segments!r:.80}")
        found += segments
        if "category_id" in item:
            found.append(item)
    return found


def class_of_image(annotations: Sequence[Mapping[str, Any]], class_of: Mapping[int, int]) -> int:
    """The class of an image whose annotations have no boxes; -1 if it has none, or several."""
    objects = [item for item in annotations if "category_id" in item]
    _check(objects, class_of, has_boxes=False)
    found = {class_of[item["category_id"]] for item in objects}
    return found.pop() if len(found) == 1 else -1


def picture_of(annotations: Sequence[Mapping[str, Any]]) -> str:
    """The name of the picture of an image's panoptic segments.

    Raises:
        BadImage: there is not one name.
    """
    names = [item.get("file_name") for item in annotations if "segments_info" in item]
    if len(names) != 1 or not isinstance(names[0], str) or "/" in names[0] or not names[0]:
        raise BadImage(f"its panoptic annotation names no picture: {names!r:.80}")
    return names[0]


def _check(
    objects: Sequence[Mapping[str, Any]], class_of: Mapping[int, int], has_boxes: bool
) -> None:
    """Raise BadImage with the first objects that are wrong."""
    if faults := [fault for item in objects for fault in _faults(item, class_of, has_boxes)]:
        raise BadImage(first_of(faults))


def _faults(item: Mapping[str, Any], class_of: Mapping[int, int], has_box: bool) -> Iterator[str]:
    """What is wrong with an object."""
    where, box, category = f"annotation {item.get('id')}", item.get("bbox"), item["category_id"]
    if has_box and (
        not isinstance(box, list)
        or len(box) != 4
        or not all(map(_is_coordinate, box))
        or min(box[2:]) < 0
    ):
        yield f"{where} has no box of x, y, width and height: {box!r:.200}"
    if type(category) not in (int, bool, float) or category not in class_of:
        yield f"{where} has the category {category!r:.80}, which is not in the list of categories"


def _is_coordinate(value: object) -> bool:
    """Whether it is a finite number, of a size that a float has."""
    try:
        return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]
    except OverflowError:
        return False
