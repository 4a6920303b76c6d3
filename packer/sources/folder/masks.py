"""Which folders hold masks, told from their names: masks are no samples (pure)."""

import re
from collections.abc import Callable, Collection, Iterator

from packer.errors import UnusableInput
from packer.sources.folder.shape import IMAGES, Shape, inside, plain

_MASKS = frozenset(
    {"groundtruth", "gtfine", "gtcoarse", "trimap", "trimaps", "segmentationclass", "annotation"}
    | {"segmentationobject", "segmentationclassaug", "annotations", "annots", "labelids"}
)
_MASKS_BESIDE_IMAGES = frozenset(
    {"mask", "masks", "gt", "label", "labels", "segmentation", "segmentations", "seg", "depth"}
    | {"target", "targets", "depths", "semantic"}
)
_WORDS = _MASKS | _MASKS_BESIDE_IMAGES


class OfOthers(UnusableInput):
    """The files of a folder belong to the images of another one."""


def masks(shape: Shape) -> Iterator[str]:
    """The folders that hold masks, told from their names."""
    for path in sorted(filter(None, shape.images)):
        above, _, name = path.rpartition("/")
        siblings = set(shape.with_images(above)) - {name}
        if shape.below(path) and _is_of_masks(name, siblings):
            yield path


def may_be_masks(name: str) -> bool:
    """Whether folders of masks are called so, and others, too."""
    return plain(name) in _WORDS


def images_of(shape: Shape, folder: str) -> str | None:
    """The one folder beside a folder of masks that holds its images, told from their names."""
    above, _, name = folder.rpartition("/")
    siblings = [other for other in shape.with_images(above) if other != name]
    found = [other for other in siblings if _rest(other, IMAGES) == _rest(name, _WORDS)]
    found = found or [other for other in siblings if plain(other) in IMAGES]
    return inside(above, found[0]) if len(found) == 1 else None


def _is_of_masks(name: str, siblings: set[str]) -> bool:
    others = {plain(sibling) for sibling in siblings}
    if plain(name) in _MASKS or (plain(name) in _MASKS_BESIDE_IMAGES and others & IMAGES):
        return True
    rest = _rest(name, _MASKS_BESIDE_IMAGES)
    others |= {_rest(sibling, IMAGES) for sibling in siblings}
    return "" != rest != plain(name) and rest in others


def _rest(name: str, words: Collection[str]) -> str:
    """What a name of several words says beside `words`: ``train`` of ``train_masks``."""
    tokens = re.split(r"[_\-. ]+", name.lower())
    return "".join(token for token in tokens if token not in words)


def certain_pair(
    shape: Shape, top: str, stems: Callable[[str], frozenset[str]]
) -> dict[str, str] | None:
    """The one folder of masks that has a file for each image, and no other."""
    names = shape.with_images(top)
    images = [name for name in names if plain(name) in IMAGES]
    if len(names) != 2 or len(images) != 1 or shape.images.get(top):
        return None
    (folder,) = set(names) - set(images)
    if not _is_of_masks(folder, set(images)):
        return None
    folder = inside(top, folder)
    while not shape.images[folder] and len(only := shape.with_images(folder)) == 1:
        folder = inside(folder, only[0])
    if stems(inside(top, images[0])) != stems(folder):
        return None
    return {"mask": folder}


def told_of_masks(shape: Shape, folder: str, where: object) -> str:
    """Why a folder of masks stops packing, and what to type."""
    above, _, name = folder.rpartition("/")
    others = [inside(above, other) for other in shape.with_images(above) if other != name]
    text = f"{where}: {folder} is named as masks are, which are no samples."
    if images := images_of(shape, folder) or next(iter(others), None):
        source = f"{where}/{images}"
        text += (
            f" If it has a mask for each image in {images}, of the same name, type: packer pack "
            f"{source} DST --pair mask={where}/{folder} (mask?=... if some have none); for the "
            f"images alone: packer pack {source} DST. Where names differ by an ending, or some "
            "images have none, --as pairs tries."
        )
    return f"{text} If all folders are classes, give --as folder."
