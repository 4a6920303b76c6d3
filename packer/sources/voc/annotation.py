"""The objects that an XML file in VOC's form has for its image (pure).

The format is that of the development kit, http://host.robots.ox.ac.uk/pascal/VOC/voc2012/, which
labelImg, CVAT and Roboflow write, too. The numbers of the boxes are kept as they are. VOC itself
counts pixels from 1 and the last one belongs to the box; most tools count from 0.
"""

import math
from collections.abc import Mapping
from typing import Any
from xml.etree.ElementTree import Element, ParseError, fromstring

from packer.errors import BadImage, first_of

MAX_BYTES = 16 << 20  # of a file; a larger one is no annotation
_CORNERS = ("xmin", "ymin", "xmax", "ymax")
_FLAGS = ("difficult", "truncated", "occluded")


def parsed(data: bytes) -> list[dict[str, Any]]:
    """Each object's ``name`` and ``box`` (x, y, x, y), and what else is said of it.

    Raises:
        BadImage: it is no annotation, or a box is none.
    """
    if len(data) > MAX_BYTES:
        raise BadImage(f"it has more than {MAX_BYTES} bytes")
    if b"<!DOCTYPE" in data:  # no annotation has one, and entities could make it any size
        raise BadImage("it has a document type, which no annotation has")
    try:
        root = fromstring(data)
    except (ParseError, ValueError, LookupError) as error:
        raise BadImage(f"it is not sound XML: {error}") from None
    if root.tag != "annotation":
        raise BadImage(f"it is no annotation: it begins with <{root.tag[:40]}>")
    found, faults = [], []
    for number, item in enumerate(root.findall("object")):
        try:
            found.append(_object(number, item))
        except BadImage as error:
            faults.append(str(error))
    if faults:
        raise BadImage(first_of(faults))
    return found


def described(objects: list[dict[str, Any]], class_of: Mapping[str, int]) -> dict[str, Any]:
    """What is stored of an image: a list for each field with one entry for each object."""
    found: dict[str, Any] = {
        "boxes": [item["box"] for item in objects],
        "categories": [class_of[item["name"]] for item in objects],
    }
    for name in dict.fromkeys(name for item in objects for name in item):
        if name not in ("box", "name"):
            found[name] = [item.get(name) for item in objects]
    return found


def _object(number: int, item: Element) -> dict[str, Any]:
    where = f"object {number}"
    name = (item.findtext("name") or "").strip()
    if not name:
        raise BadImage(f"{where} has no name")
    bounds = item.find("bndbox")
    if bounds is None:
        raise BadImage(f"{where} ({name}) has no bndbox")
    box = [_number(bounds.findtext(corner), f"{where} ({name}): {corner}") for corner in _CORNERS]
    if box[2] < box[0] or box[3] < box[1]:
        raise BadImage(f"{where} ({name}) has a box that ends before it begins: {box}")
    found: dict[str, Any] = {"name": name, "box": box}
    for flag in _FLAGS:
        if (text := item.findtext(flag)) is not None and text.strip() in ("0", "1"):
            found[flag] = int(text)
    if pose := (item.findtext("pose") or "").strip():
        found["pose"] = pose
    if points := item.findall("polygon/*"):  # as Roboflow has it: x1, y1, x2, y2 ...
        found["segmentation"] = [[_number(point.text, f"{where} ({name})") for point in points]]
    return found


def _number(text: str | None, what: str) -> float:
    try:
        number = float(text or "")
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise BadImage(f"{what} is no number: {(text or '')[:40]!r}")
    return int(number) if number.is_integer() else number
