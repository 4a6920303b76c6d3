"""Images with masks in folders beside them, or ``x_mask.png`` beside ``x.png``.

``train/images`` and ``train/masks``, ``train`` and ``train_masks`` with ``1_mask.gif``
(https://www.kaggle.com/c/carvana-image-masking-challenge), ``images`` and ``masks``: where each
image has its mask, and no mask is left, it is the member ``mask.png``. With ``--as pairs`` some
images may have none.
"""

import os
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import islice, takewhile

from packer.errors import UnusableInput
from packer.layouts.interpretation import Place, Reading
from packer.layouts.listed import by_lists
from packer.layouts.lists import Lists, Row
from packer.samples.records import Skipped
from packer.trees.meaning import (
    FLAT,
    Layout,
    refuse_doubtful_classes,
    splits_of,
    understand,
)
from packer.trees.shape import certain_pair, enclosing, inside, lies_in, masks
from packer.trees.tree import Tree
from packer.words import listed, option

_KIND = "pairs"
_OTHERS = ("JPEGImages", "training/image_2")  # VOC's and KITTI's images
_BESIDE = ("_mask", "-mask", "_seg", "_segmentation", "_gt")
_LOOKED_AT = 20  # folders, or names of images
_MANY = 0.3  # of the images are masks of others


@dataclass(frozen=True)
class Pair:
    """A folder of images and that of their masks; the same if these lie beside each other.

    Attributes:
        suffix: what the name of a mask has behind that of its image.
    """

    images: str
    masks: str
    suffix: str = ""


def recognise(place: Place) -> Reading | None:
    """Folders of masks that fit the images, or names of masks beside names of images."""
    tree, kind = place.tree, place.options.kind
    if not tree or place.options.pairs or kind not in (None, _KIND):
        return None
    if any(tree.level(folder).images for folder in _OTHERS):
        return None
    if (only := tree.level().only) and not splits_of([only]):
        return None  # which is looked into
    pairs = list(_pairs(tree, lax=kind == _KIND))
    if not pairs and (suffix := _beside(tree)):
        if kind is None:
            raise UnusableInput(
                f"{place.path}: many images have another one beside them whose name ends in "
                f"{suffix}. If these are masks, give {option('kind', 'pairs')}; if all are "
                f"samples, {option('kind', 'folder')}."
            )
        pairs = [Pair("", "", suffix)]
    if not pairs or (kind is None and certain_pair(tree.shape, "", partial(_all_stems, tree))):
        return None  # a folder of images with its masks, which needs no lists

    def lists() -> Lists:
        shape = tree.shape.without([pair.masks for pair in pairs if pair.masks != pair.images])
        layout = understand(shape, place.path, depth=place.options.class_depth)
        masked = _Masked(layout=layout, pairs=tuple(pairs))
        _refuse_others(tree, masked, place.path)
        for pair in pairs if place.options.class_depth is None else ():
            if not any(lies_in(base, pair.images) for base in layout.bases):
                refuse_doubtful_classes(shape, pair.images, place.path)
        labels = {masked.label(path) for path, count in shape.images.items() if count}
        names = tuple(sorted(filter(None, labels)))
        return replace(masked, classes=names)

    return by_lists(tree, "images and masks", lists, _KIND)


def _refuse_others(tree: Tree, lists: "_Masked", where: object) -> None:
    """Raise where folders hold images that belong to no pair and no split."""
    known = {folder for pair in lists.pairs for folder in (pair.images, pair.masks)}
    known |= {
        inside(lists.layout.top, base) for split, base in lists.layout.splits.items() if split
    }
    holding = sorted(path for path, count in tree.shape.images.items() if count)
    if others := [path for path in holding if enclosing(path, known) is None]:
        raise UnusableInput(
            f"{where}: {listed([path or 'the folder itself' for path in others])} holds images "
            f"beside those of {listed([pair.images for pair in lists.pairs])} and their masks. "
            f"Move what belongs to neither, or give {option('kind', 'folder')} if all are samples."
        )


def _pairs(tree: Tree, *, lax: bool) -> Iterator[Pair]:
    """The folders of masks; none if one of them does not fit its images."""
    found: list[Pair] = []
    held: set[str] = set()
    for folder, images in masks(tree.shape):
        if enclosing(folder, held) is not None:
            continue
        pair = images and _fitting(tree, images, folder, lax=lax)
        if not pair:
            return iter(())
        found.append(pair)
        held.add(pair.masks)
    return iter(found)


def _fitting(tree: Tree, images: str, folder: str, *, lax: bool) -> Pair | None:
    """The pair if each image has a mask, and each mask an image; if lax, some may have none."""
    stems, of_masks = sorted(_stems(tree, images)), sorted(_stems(tree, folder))
    named = set(of_masks)
    one_each = len(set(stems)) == len(named)
    for stem in stems[:_LOOKED_AT]:
        at = bisect_left(of_masks, stem)
        for mask in takewhile(partial(_begins, stem), islice(of_masks, at, at + _LOOKED_AT)):
            suffix = mask[len(stem) :]
            if lax or (one_each and all(image + suffix in named for image in stems)):
                return Pair(images, folder, suffix)
    return None


def _begins(stem: str, mask: str) -> bool:
    return mask.startswith(stem)


def _beside(tree: Tree) -> str:
    """What the names of masks end in that lie beside many of the images, "" for nothing."""
    folders = [folder for folder, level in tree.walk() if level.images]
    stems = [list(_stems(tree, folder, False)) for folder in folders[:_LOOKED_AT]]
    for suffix in _BESIDE:
        count = sum(len({stem + suffix for stem in some}.intersection(some)) for some in stems)
        if count > _MANY * sum(map(len, stems)):
            return suffix
    return ""


def _all_stems(tree: Tree, top: str) -> frozenset[str]:
    return frozenset(_stems(tree, top))


def _stems(tree: Tree, top: str, below: bool = True) -> Iterator[str]:
    """The paths of the images in a folder, and below it, relative to it and without extension."""
    for folder, _ in tree.walk(top) if below else [(top, None)]:
        for name in tree.images(folder):
            yield os.path.splitext(f"{folder}/{name}"[len(top) :].lstrip("/"))[0]


@dataclass(frozen=True)
class _Masked(Lists):
    """Images with their masks.

    Attributes:
        layout: what the folders mean without those of the masks.
    """

    layout: Layout = field(default_factory=Layout)
    pairs: tuple[Pair, ...] = ()

    @cached_property
    def _pair_of(self) -> dict[str, Pair]:
        return {pair.images: pair for pair in self.pairs}

    @cached_property
    def _bases(self) -> set[str]:
        return {*self.layout.bases, *self._pair_of}

    def rows(self, tree: Tree) -> Iterator[Row | Skipped]:
        """The images of each split in the order of their folders."""
        apart = {pair.masks for pair in self.pairs if pair.masks != pair.images}
        for split, base in self.layout.splits.items():
            for folder, _ in tree.walk(inside(self.layout.top, base)):
                if enclosing(folder, apart) is None:
                    yield from self._folder(tree, folder, split)

    def label(self, folder: str) -> str | None:
        """The class of the images in a folder; what holds the images of a pair is none."""
        base = enclosing(folder, self._bases)
        below = folder[len(folder if base is None else base) :].strip("/")
        return None if self.layout.depth == FLAT else self.layout.class_of(below)

    def _folder(self, tree: Tree, folder: str, split: str) -> Iterator[Row]:
        """The images of one folder."""
        label = self.label(folder)
        images = enclosing(folder, self._pair_of)
        pair = None if images is None else self._pair_of[images]
        names = tree.images(folder)
        if pair is None:
            yield from (Row(inside(folder, name), label, split) for name in names)
            return
        masks = inside(pair.masks, folder[len(pair.images) :].strip("/"))
        mask_of = {os.path.splitext(name)[0]: name for name in tree.images(masks)}
        owners = {stem + pair.suffix for stem in mask_of} if masks == folder else set()
        for name in names:
            stem = os.path.splitext(name)[0]
            if stem in owners:
                continue  # it is a mask itself
            files = {}
            if mask := mask_of.get(stem + pair.suffix):
                files[f"mask{os.path.splitext(mask)[1].lower()}"] = inside(masks, mask)
            yield Row(inside(folder, name), label, split, files)
