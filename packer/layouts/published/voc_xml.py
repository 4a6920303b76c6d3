"""Images with an XML file in VOC's form for each, beside them or in a folder of annotations.

https://github.com/HumanSignal/labelImg writes them beside the images, Roboflow (Pascal VOC XML) in
a folder for each split, and many of Kaggle's datasets have ``images`` and ``annotations``. Boxes
become each sample's ``json``, as the XML has them.
"""

from collections.abc import Iterator
from functools import partial

from packer.layouts.interpretation import Place, Reading
from packer.layouts.voc import Part, Voc, has_annotations
from packer.trees.meaning import splits_of
from packer.trees.shape import IMAGES, inside, plain
from packer.trees.tree import Tree

_XML = frozenset({"annotations", "annotation", "annots", "xmls", "xml", "labels", "bboxes"})


def recognise(place: Place) -> Reading | None:
    """XML beside the images of a folder or of its splits, or beside the folder of images."""
    tree = place.tree
    if not tree or place.options.pairs:
        return None
    if "JPEGImages" in tree.level().folders:  # which VOC has
        return None
    parts = [part for part in _parts(tree) if part.xml is not None]
    parts = [part for part in parts if has_annotations(tree, part.xml or "")]
    if not any(tree.level(part.images).images for part in parts):
        return None
    voc = Voc(parts=tuple(parts))
    return Reading("voc", "images with annotations in VOC's form (XML)", partial(voc.open, tree))


def _parts(tree: Tree) -> Iterator[Part]:
    """Where images and XML may lie, in this folder."""
    names = tree.level().folders
    splits = splits_of(names)
    for name, split in ({"": ""} | splits).items():
        yield Part(split, name, name)
        below = tree.level(name).folders
        for images in (folder for folder in below if plain(folder) in IMAGES):
            for xml in (folder for folder in below if plain(folder) in _XML):
                folders = inside(name, images), inside(name, xml)
                yield Part(split, *folders)
                for again, inner in splits_of(tree.level(folders[0]).folders).items():
                    yield Part(inner, inside(folders[0], again), inside(folders[1], again))
