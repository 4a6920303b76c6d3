"""Which annotation files a folder has, and in which folders the images of each lie.

COCO itself has ``annotations/instances_train2017.json`` beside ``train2017``; tools put the images
into ``images/train2017``, ``images`` or ``data``, or the file in among them. So each file is asked
for the names of its first images, and they are looked for in the usual places, then everywhere.
"""

import os
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from packer.errors import UnusableInput
from packer.layouts.coco.head import Head, head_of
from packer.layouts.coco.index import (
    CAPTIONS,
    CLASSES,
    KEYPOINTS,
    OBJECTS,
    PANOPTIC,
    STUFF,
    Annotations,
)
from packer.samples.records import Skipped
from packer.trees.meaning import splits_of
from packer.trees.shape import inside, plain
from packer.trees.tree import Tree

_FOLDERS = {"annotations", "annotation", "annots", "labels", "json", "jsons", "meta"}
_BEGINS = re.compile(
    rb'(\xef\xbb\xbf)?\s*\{\s*"(info|licenses?|images|annotations|categories|type)"\s*:'
)
_BEGINNING = 1 << 12  # bytes that are looked at
_KIND = re.compile(
    r"_?(instances|person_keypoints|keypoints|captions|panoptic|stuff|image_info|coco|bbox"
    r"|lvis(_v[\d.]+)?|annotations?|labels?|detections?)(_|$)"
)
_ORDER = (OBJECTS, CLASSES, KEYPOINTS, PANOPTIC, STUFF)  # what is taken where there are several
_MOST = 50  # annotation files in a folder
_SEARCHED = 1000  # folders that are looked through for images


@dataclass(frozen=True)
class Found:
    """The annotation files of a folder.

    Attributes:
        parts: those that are read; files of one folder of images follow each other.
        heads: what each of them is about.
        unused: the others, with the reason.
    """

    parts: tuple[Annotations, ...]
    heads: tuple[Head, ...]
    unused: tuple[Skipped, ...]


def files_in(tree: Tree) -> list[str]:
    """The paths of the files in a folder, and in those in it, that begin as annotation files do."""
    return [path for folder in ("", *tree.level().folders) for path in _files_of(tree, folder)]


def find(tree: Tree, files: Sequence[str]) -> Found:
    """Where the images of each annotation file lie.

    Raises:
        UnusableInput: a file cannot be read, none has its images here, or two have the same.
    """
    parts: list[tuple[Annotations, Head]] = []
    unused = []
    for path in files:
        if os.path.basename(path).startswith("image_info"):
            unused.append(Skipped(path, "it has no annotations", ignored=True))
            continue
        file = tree.watched(path)
        head = head_of(file)
        word = _word(tree, path)
        folder = _images(tree, path, word, head.names)
        if folder is None:
            what = f"there is no folder {word} with its images"
            reason = what if word else f"its images, such as {head.names[:1]}, lie nowhere here"
            unused.append(Skipped(path, reason, ignored=True))
            continue
        split = _split(word, folder)
        parts.append((Annotations(file, folder, split, head.kind), head))
    chosen = list(_chosen(parts, unused, tree))
    if not chosen:
        raise UnusableInput(
            f"{tree.root}: no annotation file has its images here: "
            + "; ".join(f"{item.name}: {item.reason}" for item in unused)
        )
    chosen.sort(key=lambda item: (item[0].images, item[0].split))
    return Found(
        tuple(part for part, _ in chosen), tuple(head for _, head in chosen), tuple(unused)
    )


def _files_of(tree: Tree, folder: str) -> Iterator[str]:
    """The annotation files in a folder; where many files are JSON, they are something else."""
    level = tree.level(folder)
    if level.counts.get(".json", 0) > _MOST:
        return
    for name in tree.names(folder) if level.counts.get(".json") else ():
        path = inside(folder, name)
        if name.lower().endswith(".json") and _BEGINS.match(tree.begin(path, _BEGINNING)):
            yield path


def _is_of_lists(tree: Tree, folder: str) -> bool:
    """Whether a folder is named as one of annotations and holds no image."""
    return plain(os.path.basename(folder)) in _FOLDERS and not tree.level(folder).images


def _word(tree: Tree, path: str) -> str:
    """What a file's name says of its images, such as train2017; "" for nothing."""
    folder, name = os.path.split(path)
    word = name[: -len(".json")].removesuffix(".coco")
    while match := _KIND.match(word):
        word = word[match.end() :]
    if word in ("", "coco", "result", "data", "default") and folder:
        return "" if _is_of_lists(tree, folder) else os.path.basename(folder)
    tokens = [token for token in re.split(r"[_\-. ]+", word) if splits_of([token])]
    return word if splits_of([word]) or len(tokens) != 1 else tokens[0]


def _split(word: str, folder: str) -> str:
    """The split of a file's images: its word is that of one, or the name of their folder."""
    if found := splits_of([word]).get(word):
        return found
    if word and os.path.basename(folder) == word:
        return re.sub(r"[_-]?\d+$", "", word) or word
    return ""


def _images(tree: Tree, path: str, word: str, names: Sequence[str]) -> str | None:
    """The folder that a file's images lie in; None if there is none."""
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
    there = [place for place in usual[: len(parts)] if tree.shape.below(place)]
    some = (place for place in (*there, *usual) if _holds(tree, place, names, any))
    return next(iter((*some, *there)), None)


def _holds(tree: Tree, folder: str, names: Sequence[str], how: Callable[..., bool]) -> bool:
    return bool(names) and how(tree.has(inside(folder, name)) for name in names)


def _of_another_split(folder: str, split: str | None) -> bool:
    found = {name for part in folder.split("/") for name in splits_of([part]).values()}
    return bool(split and found and split not in found)


def _chosen(
    parts: Sequence[tuple[Annotations, Head]], unused: list[Skipped], tree: Tree
) -> Iterator[tuple[Annotations, Head]]:
    """For each folder of images and split the captions, and one file of another kind.

    Raises:
        UnusableInput: there are two of the same kind.
    """
    groups: dict[tuple[str, str], list[tuple[Annotations, Head]]] = defaultdict(list)
    for part, head in parts:
        groups[part.images, part.split].append((part, head))
    for group in groups.values():
        yield from (item for item in group if item[0].kind == CAPTIONS)
        others = [item for item in group if item[0].kind != CAPTIONS]
        others.sort(key=lambda item: _ORDER.index(item[0].kind))
        for part, head in others:
            first = others[0][0]
            name, path = first.file.path.name, part.file.path.relative_to(tree.root)
            if part is first:
                yield part, head
            elif part.kind == first.kind:
                raise UnusableInput(
                    f"{tree.root}: {name} and {path} both have {part.kind} of the images in "
                    f"{part.images or tree.root}. Pack one of them: packer pack {part.file.path} "
                    f"DST --root {tree.root / part.images}"
                )
            else:
                reason = f"its objects are those of {name}; to take them, pack it by itself"
                unused.append(Skipped(str(path), reason, ignored=True))
