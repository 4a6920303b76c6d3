"""Folders of images with an XML file for each, with lists of their splits, with masks.

The objects of an image are its member ``json``: ``boxes`` (x, y, x, y as the XML has them) and
``categories`` (class numbers from 0), and what else the XML says of each. An image without XML has
none. Masks are ``mask.png`` (a class in each pixel) and ``instances.png`` (an object).

The format is that of the development kit, http://host.robots.ox.ac.uk/pascal/VOC/voc2012/, which
labelImg, CVAT and Roboflow write, too. The numbers of the boxes are kept as they are. VOC itself
counts pixels from 1 and the last one belongs to the box; most tools count from 0.
"""

import math
import os
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from xml.etree.ElementTree import Element, ParseError, fromstring

from packer.errors import BadImage, first_of
from packer.layouts.listed import ListedSource
from packer.layouts.lists import BadFile, Lists, Row
from packer.samples.labels import Objects, class_order, in_json
from packer.samples.records import Skipped
from packer.trees.shape import inside
from packer.trees.tree import Tree

MASKS = {"mask.png": "SegmentationClass", "instances.png": "SegmentationObject"}
MAX_BYTES = 16 << 20  # of a file; a larger one is no annotation
_CORNERS = ("xmin", "ymin", "xmax", "ymax")
_FLAGS = ("difficult", "truncated", "occluded")
_BEGINNING = 1 << 12  # bytes


@dataclass(frozen=True)
class Part:
    """Images of one split.

    Attributes:
        split: "" for none.
        images: their folder.
        xml: the folder of their annotations; None: there are none.
        list: the file that lists them by their names without extension; "": it is all.
        masks: extension -> folder of the masks that some of them have.
    """

    split: str
    images: str
    xml: str | None = None
    list: str = ""
    masks: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Voc(Lists):
    """Images with annotations in VOC's form.

    Attributes:
        parts: where the images of each split lie.
    """

    parts: tuple[Part, ...] = ()

    def rows(self, tree: Tree) -> Iterator[Row | Skipped]:
        """The images of each part; then the annotations whose images are not there."""
        for part in self.parts:
            image_of = {os.path.splitext(name)[0]: name for name in tree.images(part.images)}
            stems: list[str] | dict[str, str] = image_of
            if part.list:  # of a layout, an image comes once for each person in it
                lines = tree.lines(part.list)
                stems = list(dict.fromkeys(line.split()[0] for line in lines))
            for stem in stems:
                files = dict(self._files(tree, part, stem))
                image = inside(part.images, image_of.get(stem, f"{stem}.jpg"))
                yield Row(image, None, part.split, files, "" if "xml" in files else None)
            if not part.list and part.xml is not None:
                yield from _strays(tree, part.xml, image_of)
        known = {part.xml for part in self.parts}
        for folder, level in tree.walk():
            if level.counts.get(".xml") and folder not in known and has_annotations(tree, folder):
                yield from _strays(tree, folder)

    def members(self, note: str, files: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """The masks as they are, and what the XML says."""
        class_of = {name: number for number, name in enumerate(self.classes)}
        try:
            text = parsed(files["xml"]).numbered(class_of).json()
        except KeyError as error:
            raise BadFile("xml", f"class {error} is not in the list of classes") from None
        except BadImage as error:
            raise BadFile("xml", str(error)) from None
        return {"json": text} | {ext: data for ext, data in files.items() if ext != "xml"}

    def open(self, tree: Tree, classes: Sequence[str] | None) -> ListedSource:
        """The source, whose classes are those of the objects.

        Args:
            tree: in which all lies.
            classes: class names in label order; None: the sorted names.
        """
        names: set[str] = set()
        for row in self.rows(tree):
            if isinstance(row, Row) and "xml" in row.files:
                path = row.files["xml"]
                try:
                    found = parsed(tree.read(path, tree.measure(path)[0])[0])
                except BadImage:
                    continue  # the scan names it
                names.update(found.categories or ())
        order = class_order(tree.root, names, classes)
        return ListedSource.open(tree, replace(self, classes=order, boxes=in_json("xyxy")))

    def _files(self, tree: Tree, part: Part, stem: str) -> Iterator[tuple[str, str]]:
        """The files of an image, by extension."""
        if part.xml is not None and tree.has(path := inside(part.xml, f"{stem}.xml")):
            yield "xml", path
        for ext, folder in part.masks.items():
            if tree.has(path := inside(folder, f"{stem}.png")):
                yield ext, path


def _strays(tree: Tree, folder: str, stems: Container[str] = ()) -> Iterator[Skipped]:
    """The annotations in a folder that have no image among those of these names."""
    for name in tree.names(folder):
        stem, ext = os.path.splitext(name)
        if ext.lower() == ".xml" and stem not in stems:
            reason = "it is an annotation, and there is no image of its name"
            yield Skipped(inside(folder, name), reason, damaged=True)


def has_annotations(tree: Tree, folder: str) -> bool:
    """Whether XML files in a folder are annotations, told by the first one."""
    names = tree.level(folder).examples.get(".xml", ())
    return any(b"<annotation" in tree.begin(inside(folder, name), _BEGINNING) for name in names[:1])


def parsed(data: bytes) -> Objects:
    """Return the objects of an XML file (pure), with names as their categories."""
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
    boxes, names = ([item.pop(field) for item in found] for field in ("box", "name"))
    others = dict.fromkeys(field for item in found for field in item)
    fields = {field: [item.get(field) for item in found] for field in others}
    where = [f"object {number} ({name})" for number, name in enumerate(names)]
    return Objects(boxes, "xyxy", names, fields, names=where)


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
    return found


def _number(text: str | None, what: str) -> float:
    try:
        number = float(text or "")
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise BadImage(f"{what} is no number: {(text or '')[:40]!r}")
    return int(number) if number.is_integer() else number
