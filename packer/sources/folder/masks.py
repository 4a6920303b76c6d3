"""Which folders hold masks, told from their names: masks are no samples (pure)."""

import re
from collections.abc import Callable, Iterator

from packer.sources.folder.shape import IMAGES, Shape, inside, plain

_MASKS = frozenset(
    {"groundtruth", "gtfine", "gtcoarse", "trimap", "trimaps", "segmentationclass", "annotation"}
    | {"segmentationobject", "segmentationclassaug", "annotations", "annots", "labelids"}
)
_MASKS_BESIDE_IMAGES = frozenset(
    {"mask", "masks", "gt", "label", "labels", "segmentation", "segmentations", "seg", "depth"}
    | {"target", "targets", "depths"}
)


def masks(shape: Shape) -> Iterator[str]:
    """The folders that hold masks, told from their names."""
    for path in sorted(filter(None, shape.images)):
        above, _, name = path.rpartition("/")
        siblings = set(shape.with_images(above)) - {name}
        if shape.below(path) and _is_of_masks(name, siblings):
            yield path


def _is_of_masks(name: str, siblings: set[str]) -> bool:
    others = {plain(sibling) for sibling in siblings}
    if plain(name) in _MASKS or (plain(name) in _MASKS_BESIDE_IMAGES and others & IMAGES):
        return True
    tokens = re.split(r"[_\-. ]+", name.lower())
    rest = "".join(token for token in tokens if token not in _MASKS_BESIDE_IMAGES)
    return "" != rest != "".join(tokens) and bool({rest} & others) and len(tokens) > 1


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
    images = [other for other in shape.with_images(above) if other != name]
    images.sort(key=lambda other: plain(other) not in IMAGES)
    text = f"{where}: {folder} is named as masks are, which are no samples."
    if images:
        source = f"{where}/{inside(above, images[0])}"
        text += (
            f" If it has a mask for each image in {inside(above, images[0])}, of the same name, "
            f"type: packer pack {source} DST --pair mask={where}/{folder} (mask?=... if some have "
            f"none); for the images alone: packer pack {source} DST."
        )
    return f"{text} If all folders are classes, give --as folder."
