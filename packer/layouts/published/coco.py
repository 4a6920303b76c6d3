"""COCO's annotation files, or the folders that hold them and their images.

The format is that of https://cocodataset.org/#format-data. The files lie in ``annotations``, in the
folder itself (FiftyOne, Label Studio), or among the images of each split (Roboflow). Boxes,
categories, outlines, key points and captions become each sample's ``json``, the pictures of
panoptic segments its ``panoptic.png``; where a category is all that there is, as iNaturalist has
it, it is the class.
"""

import os
from functools import partial

from packer.layouts.coco.folders import files_in
from packer.layouts.coco.source import CocoSource
from packer.layouts.interpretation import Place, Reading
from packer.words import listed


def recognise(place: Place) -> Reading | None:
    """``annotations/instances_train2017.json`` and the like, or one such file."""
    path, tree = place.path, place.tree
    if tree:
        files = files_in(tree)
        if not files:
            return None
        names = listed([*dict.fromkeys(map(os.path.basename, files))])
        opening = partial(CocoSource.open_folder, tree, files)
        return Reading("coco", f"COCO annotations ({names})", opening)
    if place.suffix != ".json":
        return None
    return Reading("coco", "a COCO annotation file", partial(CocoSource.open, path, place.options))
