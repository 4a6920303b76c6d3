"""Positions of images in a tree, and folders that only describe others or have masks.

Masks are not samples. Folders are recognised by their names. Pure.
"""

import re
from collections import Counter
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

IMAGES = frozenset(
    {"image", "images", "img", "imgs", "jpegimages", "leftimg8bit", "rgb", "frames", "photos"}
    | {"pictures", "jpg", "jpeg", "jpegs", "png", "pngs", "input", "inputs", "imagery", "image2"}
)
_NOT_CLASSES = frozenset(  # as long as they hold no image
    {"annotations", "annotation", "meta", "metadata", "imagesets", "labels", "docs", "doc", "info"}
    | {"lists", "splits", "attributes", "devkit", "code", "scripts", "readme", "license", "poly"}
    | {"boundingboxes", "bboxes", "xmls", "parts"}
)
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
_OTHER_SIGNS = re.compile(r"[^a-z0-9]+")


@dataclass(frozen=True)
class Shape:
    """A tree of folders."""

    images: Mapping[str, int]  # in each folder itself, by its path; "" is the root

    @cached_property
    def _children(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for path in sorted(filter(None, self.images)):
            above, _, name = path.rpartition("/")
            found.setdefault(above, []).append(name)
        return found

    @cached_property
    def _aside(self) -> frozenset[str]:
        return frozenset(
            path
            for path in self.images
            if plain(path.rpartition("/")[2]) in _NOT_CLASSES and not self.below(path)
        )

    @cached_property
    def _below(self) -> dict[str, int]:
        found = dict(self.images)
        for path in sorted(filter(None, self.images), key=lambda path: -path.count("/")):
            above = path.rpartition("/")[0]
            found[above] = found.get(above, 0) + found[path]
        return found

    def folders(self, path: str) -> list[str]:
        """The sorted names of the folders in a folder, but for those that only describe others."""
        names = self._children.get(path, [])
        return [name for name in names if inside(path, name) not in self._aside]

    def is_aside(self, path: str) -> bool:
        """Return whether a folder only describes others, by its name."""
        return path in self._aside

    def with_images(self, path: str) -> list[str]:
        """Return those of them that hold images, somewhere."""
        return [name for name in self.folders(path) if self.below(inside(path, name))]

    def below(self, path: str) -> int:
        """Return how many images a folder and those below it hold."""
        return self._below.get(path, 0)

    def without(self, folders: Collection[str]) -> "Shape":
        """Return the tree as if these folders were not there."""
        images, known = self.images.items(), frozenset(folders)
        left = {path: count for path, count in images if enclosing(path, known) is None}
        return Shape(left) if known else self


def inside(path: str, name: str) -> str:
    """Return the path of what a folder holds; "" is the root, or the folder itself."""
    return f"{path}/{name}" if path and name else path or name


def folders_above(path: str) -> Iterator[str]:
    """Yield the folders that hold the folder at a path; "" is the root."""
    while path:
        path = path.rpartition("/")[0]
        yield path


def is_within(path: str, folder: str) -> bool:
    """Return whether a folder is another one or within it."""
    return not folder or path == folder or path.startswith(f"{folder}/")


def enclosing(path: str, folders: Container[str]) -> str | None:
    """Return the nearest of `folders` that is the one at `path` or holds it; None for none."""
    return next((each for each in (path, *folders_above(path)) if each in folders), None)


def plain(name: str) -> str:
    """Return only the letters and digits of a name, in lower case."""
    return _OTHER_SIGNS.sub("", name.lower())


def masks(shape: Shape) -> Iterator[tuple[str, str | None]]:
    """Yield the folders of masks, each with the folder of its images, by their names."""
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
    """Return whether folders of masks are called so, and others, too."""
    return plain(name) in _WORDS


class _Siblings:
    def __init__(self, names: Collection[str]) -> None:
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
    if plain(name) in _MASKS or (plain(name) in _MASKS_BESIDE_IMAGES and words & IMAGES):
        return True
    rest = _rest(name, _MASKS_BESIDE_IMAGES)
    return "" != rest != plain(name) and rest in words


def _has_word(name: str) -> bool:
    return may_be_masks(name) or not _WORDS.isdisjoint(_tokens(name))


def _rest(name: str, words: Collection[str]) -> str:
    """Return a name of several words without `words`: ``train`` of ``train_masks``."""
    return "".join(token for token in _tokens(name) if token not in words)


def _tokens(name: str) -> list[str]:
    return _SEPARATORS.split(name.lower())


Stems = Callable[[str], Mapping[str, str]]


class Unpaired(NamedTuple):
    """Folders of images and of masks of which nearly all belong together, and what does not."""

    pairs: Sequence[tuple[str, str]]  # the folder of images, and that of their masks
    ending: str  # of the names of masks, behind those of images
    images: Sequence[str]  # that have no mask
    masks: Sequence[str]  # that have no image
    counts: tuple[int, int]  # of all images, and of all masks

    def is_certain(self, shape: Shape, top: str) -> bool:
        """Return whether these are the only folders: each image has its mask, of the same name."""
        names = shape.with_images(top)
        is_only = len(names) == 2 and len(self.pairs) == 1 and not shape.images.get(top)
        is_called = is_only and plain(self.pairs[0][0].rpartition("/")[2]) in IMAGES
        return is_called and not (self.images or self.masks or self.ending)


def unpaired(shape: Shape, stems: Stems) -> Unpaired | None:
    """Return the images and masks that lack each other; None where folders do not fit at all."""
    pairs: list[tuple[str, str]] = []
    alone, strays, endings, sizes = list[str](), list[str](), set[str](), [0, 0]
    for folder, images in masks(shape):
        if enclosing(folder, [masks for _, masks in pairs]) is not None:
            continue
        if images is None:
            return None
        while not shape.images[folder] and len(only := shape.with_images(folder)) == 1:
            folder = inside(folder, only[0])
        of, own = stems(images), stems(folder)
        found = Counter(stem[at:] for stem in own for at in _ends(stem) if stem[:at] in of)
        ending = max(found, key=lambda text: found[text], default="")
        left = own.keys() - {stem + ending for stem in of}
        if 2 * (len(own) - len(left)) < max(1, min(len(own), len(of))):
            return None
        pairs.append((images, folder))
        alone += [path for stem, path in of.items() if stem + ending not in own]
        strays += [own[stem] for stem in sorted(left)]
        endings.add(ending)
        sizes = [sizes[0] + len(of), sizes[1] + len(own)]
    if len(endings) != 1:
        return None
    return Unpaired(pairs, endings.pop(), alone, strays, (sizes[0], sizes[1]))


def _ends(stem: str) -> Iterator[int]:
    """Yield where a name may end that an ending follows."""
    yield len(stem)
    yield from (match.start() for match in _SEPARATORS.finditer(stem))
