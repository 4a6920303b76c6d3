"""Finds the annotation files of a folder, and the folders of their images.

COCO itself has ``annotations/instances_train2017.json`` beside ``train2017``; tools put the images
into ``images/train2017``, ``images`` or ``data``, or the file in among them. So each file is asked
for the names of its first images, and they are looked for in the usual places, then everywhere.
"""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from operator import attrgetter

from packer.errors import BadImage, UnusableInput
from packer.samples.records import Skipped
from packer.sources.readings.coco.index import (
    CAPTIONS,
    CLASSES,
    KEYPOINTS,
    OBJECTS,
    PANOPTIC,
    STUFF,
    Annotations,
)
from packer.sources.tables.images import ImageIndex
from packer.sources.trees.names import splits_of
from packer.sources.trees.shape import inside, plain
from packer.sources.trees.tree import Tree
from packer.words import command

_FOLDERS = {"annotations", "annotation", "annots", "labels", "json", "jsons", "meta"}
_BEGINS = re.compile(
    rb'(\xef\xbb\xbf)?\s*\{\s*"(info|licenses?|images|annotations|categories|type)"\s*:'
)
_OTHERS = re.compile(rb'"(sentids|questions?|question_id)"\s*:')  # Karpathy's captions, and VQA
_BEGINNING = 1 << 12  # bytes that are looked at
_KIND = re.compile(
    r"_?(instances|person_keypoints|keypoints|captions|panoptic|stuff|image_info|coco|bbox"
    r"|lvis(_v[\d.]+)?|annotations?|labels?|detections?)(_|$)"
)
_SAME = frozenset({"val", "valid", "validation"})  # a file may have one, its folder another
_ORDER = (OBJECTS, CLASSES, KEYPOINTS, PANOPTIC, STUFF)  # what is taken where there are several
_MOST = 50  # annotation files in a folder
_SEARCHED = 1000  # folders that are looked through for images


def files_in(tree: Tree) -> list[str]:
    """Return the files in a folder, and in those in it, that begin as annotation files do."""
    return [path for folder in ("", *tree.level().folders) for path in _files_of(tree, folder)]


def find(tree: Tree, files: Sequence[str]) -> tuple[tuple[Annotations, ...], tuple[Skipped, ...]]:
    """Return the annotation files with the folders of their images, and those that are not read.

    Files of one folder of images follow each other.
    """
    parts: list[Annotations] = []
    unused = []
    index: ImageIndex | None = None
    for path in files:
        if os.path.basename(path).startswith("image_info"):
            unused.append(Skipped(path, "it has no annotations", ignored=True))
            continue
        part, word = Annotations.read(tree.watched(path)), _word(tree, path)
        if not part.names and not part.entries.wrong:
            unused.append(Skipped(path, "its list of images is empty", ignored=True))
            continue
        folder = _images(tree, path, word, part.names)
        if folder is None or not _holds(tree, folder, part.names, any):
            index = index or ImageIndex(tree)
            if found := list(_located(index, part.names, splits_of([word]).get(word, ""))):
                folders = {os.path.dirname(image) for image in found}
                folder = folders.pop() if len(folders) == 1 else ""
                part = replace(part, moved=(part.names[0], found[0]))
        if folder is None:
            reason = f"its images, such as {''.join(part.names[:1])!r}, are not in this folder"
            if word:
                reason = f"there is no folder {word} with its images"
            unused.append(Skipped(path, reason, ignored=True))
        else:
            parts.append(replace(part, images=folder, split=_split(word, folder)))
    chosen = list(_chosen(parts, unused, tree))
    if not chosen:
        raise UnusableInput(
            f"{tree.root}: no annotation file has its images in this folder: "
            + "; ".join(f"{item.name}: {item.reason}" for item in unused)
        )
    return tuple(sorted(chosen, key=attrgetter("images", "split"))), tuple(unused)


def _located(index: ImageIndex, names: Sequence[str], split: str) -> Iterator[str]:
    """Yield the images of these names in other folders, or of other forms; none if one lacks."""
    with suppress(BadImage):
        yield from [index.of_any_form(name, "", split) for name in names]


def _files_of(tree: Tree, folder: str) -> Iterator[str]:
    """The annotation files in a folder; where many files are JSON, they are something else."""
    level = tree.level(folder)
    if level.counts.get(".json", 0) > _MOST:
        return
    for name in tree.names(folder) if level.counts.get(".json") else ():
        path = inside(folder, name)
        if not name.lower().endswith(".json"):
            continue
        beginning = tree.head(path, _BEGINNING)
        if _BEGINS.match(beginning) and not _OTHERS.search(beginning):
            yield path


def _is_of_lists(tree: Tree, folder: str) -> bool:
    """Return whether a folder is named as one of annotations and holds no image."""
    return plain(os.path.basename(folder)) in _FOLDERS and not tree.level(folder).images


def _word(tree: Tree, path: str) -> str:
    """Return the part of a file's name that names its images, such as train2017; "" for none."""
    folder, name = os.path.split(path)
    word = name[: -len(".json")].removesuffix(".coco")
    while match := _KIND.match(word):
        word = word[match.end() :]
    if word in ("", "coco", "result", "data", "default") and folder:
        return "" if _is_of_lists(tree, folder) else os.path.basename(folder)
    tokens = [token for token in re.split(r"[_\-. ]+", word) if splits_of([token])]
    return word if splits_of([word]) or len(tokens) != 1 else tokens[0]


def _split(word: str, folder: str) -> str:
    """Return the split of a file's images: its word is that of one, or the name of their folder."""
    if found := splits_of([word]).get(word):
        return found
    if word and os.path.basename(folder) == word:
        return re.sub(r"[_-]?\d+$", "", word) or word
    return ""


def _images(tree: Tree, path: str, word: str, names: Sequence[str]) -> str | None:
    """Return the folder of a file's images; None if there is none."""
    folder = os.path.dirname(path)
    base = os.path.dirname(folder) if _is_of_lists(tree, folder) else folder
    parts = (word, f"images/{word}", f"{word}/images") if word else ()
    usual = [inside(base, name) for name in (*parts, "images", "data", "images/default", "")]
    first = next((place for place in usual if _holds(tree, place, names, all)), None)
    if first is not None:
        return first
    split = splits_of([word]).get(word)
    further = [
        place
        for number, (place, level) in enumerate(tree.walk())
        if number < _SEARCHED and level.images and not _of_another_split(place, split)
    ]
    found = [place for place in further if _holds(tree, place, names, all)]
    if len(found) == 1:
        return found[0]
    existing = [place for place in usual[: len(parts)] if tree.shape.below(place)]
    some = (place for place in (*existing, *usual) if _holds(tree, place, names, any))
    return next(iter((*some, *existing)), None)


def _holds(tree: Tree, folder: str, names: Sequence[str], how: Callable[..., bool]) -> bool:
    return bool(names) and how(tree.has(inside(folder, name)) for name in names)


def _of_another_split(folder: str, split: str | None) -> bool:
    found = {name for part in folder.split("/") for name in splits_of([part]).values()}
    same = _SAME if split in _SAME else {split}
    return bool(split and found and found.isdisjoint(same))


def _chosen(
    parts: Sequence[Annotations], unused: list[Skipped], tree: Tree
) -> Iterator[Annotations]:
    """For each folder of images and split the captions, and one file of another kind."""
    groups: dict[tuple[str, str], list[Annotations]] = defaultdict(list)
    for part in parts:
        groups[part.images, part.split].append(part)
    for group in groups.values():
        yield from (part for part in group if part.kind == CAPTIONS)
        others = [part for part in group if part.kind != CAPTIONS]
        others.sort(key=lambda part: _ORDER.index(part.kind))
        yield from others[:1]
        for part in others[1:]:
            first, path = others[0], part.file.path.relative_to(tree.root)
            name = first.file.path.name
            if part.kind == first.kind:
                raise UnusableInput(
                    f"{tree.root}: {name} and {path} both have {part.kind} of the images in "
                    f"{part.images or tree.root}. Pack one of them: ",
                    command(part.file.path, "--root", str(tree.root / part.images)),
                )
            reason = f"its objects are those of {name}; to use them, pack this file separately"
            unused.append(Skipped(str(path), reason, ignored=True))
