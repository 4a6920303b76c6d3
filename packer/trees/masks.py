"""Which folders hold masks, told from their names: masks are no samples (pure)."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator

from packer.errors import UnusableInput
from packer.trees.shape import IMAGES, Shape, inside, plain
from packer.words import option

_MASKS = frozenset(
    {"groundtruth", "gtfine", "gtcoarse", "trimap", "trimaps", "segmentationclass", "annotation"}
    | {"segmentationobject", "segmentationclassaug", "annotations", "annots", "labelids"}
)
_MASKS_BESIDE_IMAGES = frozenset(
    {"mask", "masks", "gt", "label", "labels", "segmentation", "segmentations", "seg", "depth"}
    | {"target", "targets", "depths", "semantic"}
)
_WORDS = _MASKS | _MASKS_BESIDE_IMAGES
_SEPARATORS = re.compile(r"[_\-. ]+")


class OfOthers(UnusableInput):
    """The files of a folder belong to the images of another one."""


def masks(shape: Shape) -> Iterator[tuple[str, str | None]]:
    """Yield the folders that hold masks, each with the folder of its images, told from names."""
    known: dict[str, _Siblings] = {}  # of the folders in a folder
    for path in sorted(filter(None, shape.images)):
        above, _, name = path.rpartition("/")
        if not _has_word(name) or not shape.below(path):
            continue
        if above not in known:
            known[above] = _Siblings(shape.with_images(above))
        if _is_of_masks(name, known[above].words):
            images = known[above].images_of(name)
            yield path, images and inside(above, images)


def may_be_masks(name: str) -> bool:
    """Whether folders of masks are called so, and others, too."""
    return plain(name) in _WORDS


class _Siblings:
    """The names of the folders in a folder, by what they say."""

    def __init__(self, names: Iterable[str]) -> None:
        self._images: list[str] = []
        self._by_rest: dict[str, list[str]] = {}
        self.words: set[str] = set()  # whole names, and what they say beside words for images
        for name in names:
            self._by_rest.setdefault(_rest(name, IMAGES), []).append(name)
            if plain(name) in IMAGES:
                self._images.append(name)
            self.words |= {plain(name), _rest(name, IMAGES)}

    def images_of(self, name: str) -> str | None:
        """Return the one folder that holds the images of a folder of masks; None for none."""
        found = [other for other in self._by_rest.get(_rest(name, _WORDS), ()) if other != name]
        found = found or self._images
        return found[0] if len(found) == 1 else None


def _is_of_masks(name: str, words: set[str]) -> bool:
    """Return whether a folder holds masks; `words` are those of the folders beside it."""
    if plain(name) in _MASKS or (plain(name) in _MASKS_BESIDE_IMAGES and words & IMAGES):
        return True
    rest = _rest(name, _MASKS_BESIDE_IMAGES)
    return "" != rest != plain(name) and rest in words


def _has_word(name: str) -> bool:
    """Return whether a name is or contains a word for masks; most names do not."""
    return may_be_masks(name) or not _WORDS.isdisjoint(_tokens(name))


def _rest(name: str, words: Collection[str]) -> str:
    """What a name of several words says beside `words`: ``train`` of ``train_masks``."""
    return "".join(token for token in _tokens(name) if token not in words)


def _tokens(name: str) -> list[str]:
    return _SEPARATORS.split(name.lower())


def certain_pair(
    shape: Shape, top: str, stems: Callable[[str], frozenset[str]]
) -> dict[str, str] | None:
    """The one folder of masks that has a file for each image, and no other."""
    names = shape.with_images(top)
    images = [name for name in names if plain(name) in IMAGES]
    if len(names) != 2 or len(images) != 1 or shape.images.get(top):
        return None
    (folder,) = set(names) - set(images)
    if not _is_of_masks(folder, _Siblings(images).words):
        return None
    folder = inside(top, folder)
    while not shape.images[folder] and len(only := shape.with_images(folder)) == 1:
        folder = inside(folder, only[0])
    if stems(inside(top, images[0])) != stems(folder):
        return None
    return {"mask": folder}


def told_of_masks(shape: Shape, folder: str, images: str | None, where: object) -> str:
    """Why a folder of masks stops packing, and what to type."""
    above, _, name = folder.rpartition("/")
    others = [inside(above, other) for other in shape.with_images(above) if other != name]
    text = f"{where}: {folder} is named as masks are, which are no samples."
    if images := images or next(iter(others), None):
        source = f"{where}/{images}"
        text += (
            f" If it has a mask for each image in {images}, of the same name, type: packer pack "
            f"{source} DST --pair mask={where}/{folder} (mask?=... if some have none); for the "
            f"images alone: packer pack {source} DST. Where names differ by an ending, or some "
            f"images have none, {option('kind', 'pairs')} tries."
        )
    return f"{text} If all folders are classes, give {option('kind', 'folder')}."
