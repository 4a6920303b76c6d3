"""Folders of images with an annotation file for each, with lists of their splits, with masks.

The files are VOC's XML, or KITTI's text. The objects of an image are its member ``json``: ``boxes``
(x, y, x, y as the file has them), ``categories`` (class numbers from 0), and its other fields. An
image without such a file has none.
Masks are ``mask.png`` (a class in each pixel) and ``instances.png`` (an object).

The format is http://host.robots.ox.ac.uk/pascal/VOC/voc2012/, which labelImg, CVAT and Roboflow
write, too. VOC counts pixels from 1, most tools from 0: the numbers of boxes are kept.
"""

import math
import os
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from typing import Any
from xml.etree.ElementTree import Element, ParseError, fromstring

from packer.errors import BadImage, first_of
from packer.images.annotated import size_of
from packer.samples.labels import Objects, class_order, in_json
from packer.samples.outside import Made
from packer.samples.records import Facts, Skipped
from packer.sources.scanners.rows.lists import Lists, Parsed, Row
from packer.sources.scanners.rows.source import RowSource
from packer.sources.trees.shape import inside
from packer.sources.trees.tree import Tree

MASKS = {"mask.png": "SegmentationClass", "instances.png": "SegmentationObject"}
MAX_BYTES = 16 << 20  # of a file; a larger one is no annotation
_CORNERS = ("xmin", "ymin", "xmax", "ymax")
_FLAGS = ("difficult", "truncated", "occluded")
_OF_OBJECTS = frozenset({"name", "bndbox", "pose", "polygon"})
_OF_IMAGES = frozenset({"object", "size", "folder", "filename", "path", "source", "segmented"})
_BEGINNING = 1 << 12  # bytes


Parse = Callable[[bytes], Objects]


@dataclass(frozen=True)
class Part:
    """Images of one split ("" for none), and the folders of what belongs to them."""

    split: str
    images: str
    annotations: str
    lists: tuple[str, ...] = ()  # files with their names without extension; none: it is all
    masks: Mapping[str, str] = field(default_factory=dict)  # extension -> folder of masks


def open_parts(
    tree: Tree,
    parts: Sequence[Part],
    ignored: Mapping[str, str],
    leftover_reason: str,
    classes: Sequence[str] | None,
) -> RowSource:
    """Open images with annotations in VOC's form; see `Lists` for the arguments."""
    lists = Lists(partial(_rows, tree, parts), ignored=ignored, leftover_reason=leftover_reason)
    return open_objects(tree, lists, parsed, classes)


def open_objects(
    tree: Tree, lists: Lists, parse: Parse, classes: Sequence[str] | None
) -> RowSource:
    """Open images whose ``json`` is what `parse` gives for the rows' sources, if any."""
    names: set[str] = set()
    for row in lists.rows():
        if isinstance(row, Row) and isinstance(path := row.members.get("json"), Parsed):
            try:
                data, _ = tree.read(path, tree.measure(path)[0])
                names.update(parse(data).categories or ())
            except BadImage:
                continue  # the scan names it
    order = class_order(tree.root, names, classes)
    number_of = {name: number for number, name in enumerate(order)}

    def made(data: bytes) -> Made:
        try:
            return parse(data).numbered(number_of).json()
        except KeyError as error:
            raise BadImage(f"class {error} is not in the list of classes") from None

    facts = Facts(boxes=in_json("xyxy"))
    return RowSource.open(tree, replace(lists, classes=order, facts=facts, parse=made))


def rows_of_parts(tree: Tree, parts: Sequence[Part], ext: str) -> Iterator[Row | Skipped]:
    """Yield the images of each part; then the annotations whose images are not there."""
    for part in parts:
        image_of = {os.path.splitext(name)[0]: name for name in tree.images(part.images)}
        stems: list[str] | dict[str, str] = image_of
        if part.lists:  # an image comes once for each person in it, or in the list of each class
            lines = chain.from_iterable(map(tree.lines, part.lists))
            stems = list(dict.fromkeys(line.split()[0] for line in lines))
        for stem in stems:
            masks = {of: inside(folder, f"{stem}.png") for of, folder in part.masks.items()}
            files = {"json": Parsed(inside(part.annotations, stem + ext)), **masks}
            image = inside(part.images, image_of.get(stem, f"{stem}.jpg"))
            members = {of: path for of, path in files.items() if tree.has(path)}
            yield Row(image, None, part.split, members)
        if not part.lists:
            yield from _strays(tree, part.annotations, ext, image_of)


def _rows(tree: Tree, parts: Sequence[Part]) -> Iterator[Row | Skipped]:
    yield from rows_of_parts(tree, parts, ".xml")
    known = {part.annotations for part in parts}
    for folder, level in tree.walk():
        if level.counts.get(".xml") and folder not in known and has_annotations(tree, folder):
            yield from _strays(tree, folder, ".xml")


def _strays(tree: Tree, folder: str, ext: str, stems: Container[str] = ()) -> Iterator[Skipped]:
    for name in tree.names(folder):
        stem, own = os.path.splitext(name)
        if own.lower() == ext and stem not in stems:
            reason = "it is an annotation, and no image has its name"
            yield Skipped(inside(folder, name), reason, damaged=True)


def has_annotations(tree: Tree, folder: str) -> bool:
    """Return whether XML files in a folder are annotations, by the first one."""
    names = tree.level(folder).examples.get(".xml", ())
    begins = (tree.head(inside(folder, name), _BEGINNING) for name in names[:1])
    return any(re.search(rb"<annotation[\s>]", data) for data in begins)


def parsed(data: bytes) -> Objects:
    """Return the objects of an XML file (pure), with names as their categories."""
    if len(data) > MAX_BYTES:
        raise BadImage(f"it has more than {MAX_BYTES} bytes")
    try:
        root = document(data)
    except (ParseError, ValueError, LookupError) as error:
        raise BadImage(f"it is not valid XML: {error}") from None
    if root.tag != "annotation":
        raise BadImage(f"it is not an annotation: it starts with <{root.tag[:40]}>")
    found, faults = [], []
    for number, item in enumerate(root.findall("object")):
        try:
            found.append(_object(number, item))
        except BadImage as error:
            faults.append(str(error))
    if faults:
        raise BadImage(first_of(faults))
    boxes, names = ([item.pop(field) for item in found] for field in ("box", "name"))
    others = dict.fromkeys(field for item in found for field in item)
    fields = {field: [item.get(field) for item in found] for field in others}
    where = [f"object {number} ({name})" for number, name in enumerate(names)]
    size = size_of({one.tag: one.text for one in root.iterfind("size/*")})
    image = _further(root, _OF_IMAGES)
    return Objects(boxes, "xyxy", names, fields, {"image": image} if image else {}, where, size)


def document(data: bytes) -> Element:
    """Return the root of an XML file; ParseError, ValueError, LookupError: it has none."""
    # No annotation has one, and its entities could grow to any size. In UTF-16, every other byte
    # of the declaration is zero; expat reads no other encoding in which its bytes would differ.
    if b"<!DOCTYPE" in data.replace(b"\0", b""):
        raise ValueError("it has a document type declaration, which is not accepted")
    return fromstring(data)


def _object(number: int, item: Element) -> dict[str, Any]:
    where = f"object {number}"
    name = (item.findtext("name") or "").strip()
    if not name:
        raise BadImage(f"{where} has no name")
    bounds = item.find("bndbox")
    if bounds is None:
        raise BadImage(f"{where} ({name}) has no bndbox")
    box = [_number(bounds.findtext(corner), f"{where} ({name}): {corner}") for corner in _CORNERS]
    found: dict[str, Any] = {"name": name, "box": box}
    for flag in _FLAGS:
        if (text := item.findtext(flag)) is not None and text.strip() in ("0", "1"):
            found[flag] = int(text)
    if pose := (item.findtext("pose") or "").strip():
        found["pose"] = pose
    if points := item.findall("polygon/*"):  # as Roboflow has it: x1, y1, x2, y2 ...
        found["segmentation"] = [[_number(point.text, f"{where} ({name})") for point in points]]
    return found | _further(item, _OF_OBJECTS.union(found))


def _further(item: Element, known: Container[str]) -> dict[str, Any]:
    """Return the elements of other names, such as parts, actions and attributes, by these."""
    found: dict[str, list[Any]] = {}
    for one in item:
        value = _further(one, ()) if len(one) else (one.text or "").strip()
        if one.tag not in known and value:
            found.setdefault(one.tag, []).append(value)
    return {tag: each if len(each) > 1 else each[0] for tag, each in found.items()}


def _number(text: str | None, what: str) -> float:
    try:
        number = float(text or "")
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise BadImage(f"{what} is no number: {(text or '')[:40]!r}")
    return int(number) if number.is_integer() else number
