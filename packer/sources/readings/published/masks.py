"""Images with masks in separate files."""

import os
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice

from packer.errors import UnusableInput
from packer.sources.interpretation import Candidate, Interpretation
from packer.sources.scanners.rows.lists import Lists, Row
from packer.sources.scanners.rows.source import by_lists
from packer.sources.trees.meaning import Layout, interpret, refuse_doubtful_classes
from packer.sources.trees.names import are_counters, share_a_word, splits_of
from packer.sources.trees.outright import FLAT
from packer.sources.trees.shape import enclosing, inside, is_within, may_be_masks, unpaired
from packer.sources.trees.shape import masks as mask_folders
from packer.sources.trees.tree import Tree
from packer.words import choices, listed, option

_KIND = "pairs"
_OTHERS = ("JPEGImages", "training/image_2")  # VOC's and KITTI's images
_BESIDE = ("_mask", "-mask", "_seg", "_segmentation", "_gt")
_LOOKED_AT = 20  # folders, or names of images
_MANY = 0.3  # of the images are masks of others


@dataclass(frozen=True)
class _Pair:
    """A folder of images and that of their masks; one folder if they are beside each other.

    Attributes:
        suffix: what the name of a mask has behind that of its image.
        above: the class folder that holds both, below that of a split; "" if there is none.
    """

    images: str
    masks: str
    suffix: str = ""
    above: str = ""


def masks(candidate: Candidate) -> Interpretation | None:
    """Images with masks in folders beside them, or ``x_mask.png`` beside ``x.png``.

    ``train/images`` and ``train/masks``, ``train`` and ``train_masks`` with ``1_mask.gif``
    (https://www.kaggle.com/c/carvana-image-masking-challenge), ``images`` and ``masks``: where each
    image has its mask, and no mask is left, it is the member ``mask.png``. With ``--as pairs`` some
    images may have none.
    """
    tree, kind, where = candidate.tree, candidate.options.kind, candidate.path
    if not tree or candidate.options.pairs or kind not in (None, _KIND):
        return None
    if any(tree.level(folder).images for folder in _OTHERS):
        return None
    if (only := tree.level().only) and not splits_of([only]):
        return None  # which is looked into
    pairs = _pairs(tree, lax=kind == _KIND)
    if not pairs and kind == _KIND and (suffix := _beside(tree)):
        pairs = [_Pair("", "", suffix)]  # without this choice, the audit asks

    def stems(top: str) -> dict[str, str]:
        return {stem: stem for stem in _stems(tree, top)}

    found = unpaired(tree.shape, stems) if pairs and kind is None else None
    if not pairs or (found and found.is_certain(tree.shape, "")):
        return None  # a folder of images with its masks, which needs no lists

    def lists(tree: Tree) -> Lists:
        depth = candidate.options.class_depth
        shape = tree.shape.without([pair.masks for pair in pairs if pair.masks != pair.images])
        layout = interpret(shape, where, depth=depth)
        _refuse_others(tree, layout, pairs, where)
        for pair in pairs if depth is None else ():
            if not any(is_within(base, pair.images) for base in layout.bases):
                refuse_doubtful_classes(shape, pair.images, where)
            _refuse_videos(tree, layout, pair, where)
        pair_of = {pair.images: pair for pair in _with_classes(layout, pairs, depth, where)}
        labels = {_label(layout, pair_of, path) for path, count in shape.images.items() if count}
        return Lists(partial(_masked, tree, layout, pair_of), tuple(sorted(filter(None, labels))))

    return by_lists(candidate, "images and masks", (), lists, _KIND)


def _refuse_others(tree: Tree, layout: Layout, pairs: Sequence[_Pair], where: object) -> None:
    """Raise where folders hold images that belong to no pair and no split, or other masks."""
    paired = {folder for pair in pairs for folder in (pair.images, pair.masks)}
    known = paired | {inside(layout.top, base) for split, base in layout.splits.items() if split}
    holding = sorted(path for path, count in tree.shape.images.items() if count)
    if others := [
        path
        for path in holding
        if enclosing(path, known) is None
        or (may_be_masks(path.rpartition("/")[2]) and enclosing(path, paired) is None)
    ]:
        raise UnusableInput(
            f"{where}: {listed([path or 'the folder itself' for path in others])} holds images "
            f"beside those of {listed([pair.images for pair in pairs])} and their masks. Move the "
            "images that are neither to another folder, or choose:",
            choices(where, {"Each is a sample of its own": ("--as", "folder")}),
        )


def _refuse_videos(tree: Tree, layout: Layout, pair: _Pair, where: object) -> None:
    """Raise where folders of images are counted alike, as the frames of videos are."""
    images, files = pair.images, pair.masks
    while not tree.level(images).images and len(names := tree.shape.with_images(images)) == 1:
        images, files = inside(images, names[0]), inside(files, names[0])
    names = tree.shape.with_images(images)
    if len(layout.bases) > 1 or not names or splits_of(names) or files == images or pair.suffix:
        return
    stems = [sorted(_stems(tree, inside(images, name))) for name in names]
    if len({some[0] for some in stems}) == 1 and all(map(are_counters, stems)):
        raise UnusableInput(
            f"{where}: the images in each folder of {images} are numbered in the same way: they "
            "may be frames of videos. If these folders are classes, pass ",
            option("class_depth", 1),
            ".",
        )


def _with_classes(
    layout: Layout, pairs: Sequence[_Pair], depth: int | None, where: object
) -> list[_Pair]:
    """The pairs with the class folders that hold both folders; raise where these may be sets."""
    found = [replace(pair, above=_around(layout, pair.images)) for pair in pairs]
    above = sorted({pair.above for pair in found} - {""})
    if len(above) < 2:
        return list(pairs)
    if depth is not None or not share_a_word(above):
        return found
    ends = {(pair.images.rpartition("/")[2], pair.masks.rpartition("/")[2]) for pair in pairs}
    if len(ends) > 1 or layout.splits.keys() != {""} or any("/" in name for name in above):
        return list(pairs)  # folders named after a set, as in DUTS-TR/DUTS-TR-Image
    raise UnusableInput(
        f"{where}: the folders {listed(above)}, which have images and masks, may be classes, or "
        "parts of one set. If they are classes, pass ",
        option("class_depth", 1),
        ".",
    )


def _around(layout: Layout, images: str) -> str:
    """The folder that holds a folder of images and that of its masks, below that of a split."""
    above = images.rpartition("/")[0]
    base = enclosing(above, set(layout.bases))
    return "" if base is None else above[len(base) :].strip("/")


def _pairs(tree: Tree, *, lax: bool) -> list[_Pair]:
    """Return the folders of masks; none if one of them does not fit its images."""
    found: dict[str, _Pair] = {}
    for folder, images in mask_folders(tree.shape):
        if enclosing(folder, found) is not None:
            continue
        pair = images and _fitting(tree, images, folder, lax=lax)
        if not pair:
            return []
        found[pair.masks] = pair
    return list(found.values())


def _fitting(tree: Tree, images: str, folder: str, *, lax: bool) -> _Pair | None:
    """The pair if each image has a mask, and each mask an image; if lax, some may have none."""
    stems, of_masks = sorted(_stems(tree, images)), sorted(_stems(tree, folder))
    named = set(of_masks)
    one_each = len(set(stems)) == len(named)
    for stem in stems[:_LOOKED_AT]:
        at = bisect_left(of_masks, stem)
        for mask in islice(of_masks, at, at + _LOOKED_AT):
            if not mask.startswith(stem):
                break
            suffix = mask[len(stem) :]
            if lax or (one_each and all(image + suffix in named for image in stems)):
                return _Pair(images, folder, suffix)
    return None


def _beside(tree: Tree) -> str:
    """Return the suffix of the names of masks beside many of the images, "" for none."""
    folders = [folder for folder, level in tree.walk() if level.images]
    stems = [list(_stems(tree, folder, False)) for folder in folders[:_LOOKED_AT]]
    for suffix in _BESIDE:
        count = sum(len({stem + suffix for stem in some}.intersection(some)) for some in stems)
        if count > _MANY * sum(map(len, stems)):
            return suffix
    return ""


def _stems(tree: Tree, top: str, below: bool = True) -> Iterator[str]:
    """The paths of the images in a folder, and below it, relative to it and without extension."""
    for folder, _ in tree.walk(top) if below else [(top, None)]:
        for name in tree.images(folder):
            yield os.path.splitext(f"{folder}/{name}"[len(top) :].lstrip("/"))[0]


def _masked(tree: Tree, layout: Layout, pair_of: Mapping[str, _Pair]) -> Iterator[Row]:
    """Yield the images of each split in the order of their folders."""
    apart = {pair.masks for pair in pair_of.values() if pair.masks != pair.images}
    for split, base in layout.splits.items():
        for folder, _ in tree.walk(inside(layout.top, base)):
            if enclosing(folder, apart) is None:
                label = _label(layout, pair_of, folder)
                images = enclosing(folder, pair_of)
                pair = None if images is None else pair_of[images]
                for name, files in _with_masks(tree, folder, pair):
                    yield Row(inside(folder, name), label, split, files)


def _label(layout: Layout, pair_of: Mapping[str, _Pair], folder: str) -> str | None:
    """The class of the images in a folder: the folder around images and masks, or that of images.

    Folders that hold classes or pairs are none.
    """
    images = enclosing(folder, pair_of)
    if images is not None and (above := pair_of[images].above):
        return layout.class_of(above)
    bases = [base for base in (images, enclosing(folder, layout.bases)) if base is not None]
    below = folder[len(max(bases, key=len, default=folder)) :].strip("/")
    return None if layout.depth == FLAT else layout.class_of(below)


def _with_masks(
    tree: Tree, folder: str, pair: _Pair | None
) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the images of one folder, each with its mask."""
    names = tree.images(folder)
    if pair is None:
        yield from ((name, {}) for name in names)
        return
    masks = inside(pair.masks, folder[len(pair.images) :].strip("/"))
    mask_of = {os.path.splitext(name)[0]: name for name in tree.images(masks)}
    owners = {stem + pair.suffix for stem in mask_of} if masks == folder else set()
    for name in names:
        stem = os.path.splitext(name)[0]
        if stem in owners:
            continue  # it is a mask itself
        mask = mask_of.get(stem + pair.suffix)
        ext = os.path.splitext(mask or "")[1].lower()
        yield name, {f"mask{ext}": inside(masks, mask)} if mask else {}
