"""COCO's annotation files, or the folders that hold them and their images.

The format is that of https://cocodataset.org/#format-data. Boxes, categories, outlines, key points
and captions become each sample's ``json``.
"""

from functools import partial

from packer.sources.coco import coco
from packer.sources.coco.coco import CocoSource
from packer.sources.reading import Place, Reading


def recognise(place: Place) -> Reading | None:
    """``annotations/instances_train2017.json`` beside ``train2017``, or one such file."""
    path = place.path
    if place.tree:
        if not coco.is_layout(path):
            return None
        return Reading("coco", "COCO's folders", partial(CocoSource.open_folder, path))
    if place.suffix != ".json":
        return None
    return Reading("coco", "a COCO annotation file", partial(CocoSource.open, path, place.options))
