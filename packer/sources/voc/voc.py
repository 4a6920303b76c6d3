"""Folders of images with an XML file for each, with lists of their splits, with masks.

The objects of an image are its member ``json``: ``boxes`` (x, y, x, y as the XML has them) and
``categories`` (class numbers from 0), and what else the XML says of each. An image without XML has
none. Masks are ``mask.png`` (a class in each pixel) and ``instances.png`` (an object).
"""

import os
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from packer.errors import BadImage
from packer.sources.folder.shape import inside
from packer.sources.labels import class_order
from packer.sources.listed import ListedSource
from packer.sources.lists import BadFile, Lists, Row, read_by
from packer.sources.records import Skipped
from packer.sources.table.as_json import to_json
from packer.sources.tree import Tree
from packer.sources.voc.annotation import described, parsed

MASKS = {"mask.png": "SegmentationClass", "instances.png": "SegmentationObject"}


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
            text = to_json(described(parsed(files["xml"]), class_of))
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
        every = ""
        for row in self.rows(tree):
            if isinstance(row, Row) and "xml" not in row.files:
                every = "?"  # as the reader says that some have none
            elif isinstance(row, Row):
                path = row.files["xml"]
                try:
                    found = parsed(tree.read(path, tree.measure(path)[0])[0])
                except BadImage:
                    continue  # the scan names it
                names.update(item["name"] for item in found)
        order = class_order(tree.root, names, classes)
        advice = read_by(f'"json{every}", format="xyxy", labels="categories"') if names else ""
        return ListedSource.open(tree, replace(self, classes=order, advice=advice))

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


_BEGINNING = 1 << 12  # bytes
