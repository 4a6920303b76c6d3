"""Folders of labels beside the images, as YOLO and VOC have them: never to be lost (pure)."""

import os
from collections.abc import Callable, Iterable

from packer.trees.shape import IMAGES, OfOthers, Shape, inside, plain
from packer.words import option

_LABELS = frozenset({"labels", "annotations", "annotation", "annots", "xmls", "bboxes", "label2"})
_TEXTS = (".txt", ".xml", ".json")


def refuse_labels(shape: Shape, where: object, names: Callable[[str], Iterable[str]]) -> None:
    """Raise where a folder has a text for an image in another one, which would be ignored."""
    for path in sorted(shape.images):
        above, _, name = path.rpartition("/")
        if plain(name) not in _LABELS or shape.below(path):
            continue
        if not (siblings := shape.with_images(above)):
            continue
        texts = [os.path.splitext(file) for file in names(path) if file.endswith(_TEXTS)]
        siblings.sort(key=lambda sibling: plain(sibling) not in IMAGES)
        images = inside(above, siblings[0])
        stems = {os.path.splitext(file)[0] for file in names(images)} if texts else set()
        if found := next((ext[1:] for stem, ext in texts if stem in stems), None):
            raise OfOthers(
                f"{where}: {path} has labels of the images in {images}, one file for an image. "
                f"Type: packer pack {where}/{images} DST --pair '{found}?={where}/{path}'. For "
                f"the images without them, give {option('kind', 'flat')} or "
                f"{option('kind', 'folder')}."
            )
