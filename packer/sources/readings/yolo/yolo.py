"""Images and their label files: ``images`` in an image's path becomes ``labels``, as YOLO has it.

Without such a folder the label file is beside its image. Its lines are checked, and it is stored
as the member ``txt``; an image without one is background.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice

from packer.errors import BadImage
from packer.samples.records import Skipped
from packer.sources.readings.yolo.lines import kind_of
from packer.sources.scanners.rows.lists import Parsed, Row
from packer.sources.tables.images import name_hash
from packer.sources.trees.shape import inside
from packer.sources.trees.tree import Tree

_IMAGES, _LABELS = "images", "labels"
_OTHERS = ("classes.txt", "_classes.txt")  # texts beside the label files, of no image
_TRIED = 20  # lines of a list

ToTree = Callable[[str], str]  # a path as it is written -> the path in a tree


def to_tree(
    paths: Iterable[str], bases: Sequence[str], exists: Callable[[str], bool]
) -> ToTree | None:
    """Return the rule by which one of the first paths leads to what exists; None if none does.

    Paths may be absolute or relative to one of `bases`, with slashes or backslashes. Folders in
    front that lead nowhere here, such as those of another machine, are dropped; ``..`` is dropped,
    too.
    """
    for path in islice(paths, _TRIED):
        for skip in range(max(len(_parts(path)), 1)):
            for base in bases:
                if exists(_apply(base, skip, path)):
                    return partial(_apply, base, skip)
    return None


def _apply(base: str, skip: int, path: str) -> str:
    return inside(base, "/".join(_parts(path)[skip:]))


def _parts(path: str) -> list[str]:
    path = path if "/" in path else path.replace("\\", "/")
    return [part for part in os.path.normpath(path).split("/") if part not in ("", ".", "..")]


def folder_at(tree: Tree, path: str) -> bool:
    """Return whether there is a folder with something in it."""
    level = tree.level(path)
    return bool(level.folders or level.counts)


@dataclass(frozen=True)
class Part:
    """Images of one split ("" for none), in a folder or in a list of images."""

    split: str
    path: str

    @property
    def is_list(self) -> bool:
        """Whether it is a list of images."""
        return self.path.lower().endswith(".txt")


def rows(tree: Tree, parts: Sequence[Part], missing: Iterable[Skipped]) -> Iterator[Row | Skipped]:
    """Yield what is missing, the images of each part, then label files without images."""
    yield from missing
    folders: dict[str, str] = {}  # of images: that of their labels
    split_of: dict[int, str] = {}  # of each image of a list
    for part in parts:
        if not part.is_list:  # its labels may be there without images
            folders[part.path] = labels_of(tree, part.path)
        for image in _images(tree, part):
            if part.is_list:
                digest = name_hash(image)
                if (split := split_of.get(digest)) is not None:
                    if split != part.split:
                        reason = f"it is also in {split}, and a sample has one split"
                        yield Skipped(f"{part.path}: {image}", reason, ignored=True)
                    continue
                split_of[digest] = part.split
            if (folder := os.path.dirname(image)) not in folders:
                folders[folder] = labels_of(tree, folder)
            label = _text_of(image, folders[folder])
            yield Row(image, None, part.split, {"txt": Parsed(label)} if tree.has(label) else {})
    used = set(folders.values())
    further = [
        (_images_of(folder), folder)
        for folder, level in tree.walk()
        if _LABELS in folder.split("/") and level.counts.get(".txt") and folder not in used
    ]
    for folder, labels in [*folders.items(), *further]:
        yield from _strays(tree, folder, labels)


def label_of(tree: Tree, image: str) -> str:
    """Return the path of an image's label file, which need not exist."""
    return _text_of(image, labels_of(tree, os.path.dirname(image)))


def _text_of(image: str, folder: str) -> str:
    return inside(folder, f"{os.path.splitext(os.path.basename(image))[0]}.txt")


def labels_of(tree: Tree, folder: str) -> str:
    """Return the folder of the label files of the images in a folder."""
    parts = folder.split("/")
    at = next((n for n in reversed(range(len(parts))) if parts[n] == _IMAGES), None)
    if at is None:
        return folder
    top = "/".join([*parts[:at], _LABELS])
    return "/".join([top, *parts[at + 1 :]]) if folder_at(tree, top) else folder


def _images_of(labels: str) -> str:
    head, _, tail = f"/{labels}/".rpartition(f"/{_LABELS}/")
    return f"{head}/{_IMAGES}/{tail}".strip("/")


def _images(tree: Tree, part: Part) -> Iterator[str]:
    if part.is_list:
        lines, bases = tree.lines(part.path), (os.path.dirname(part.path), "")
        return map(to_tree(lines, bases, tree.has) or str, tree.lines(part.path))
    return (inside(folder, n) for folder, _ in tree.walk(part.path) for n in tree.images(folder))


def _strays(tree: Tree, folder: str, labels: str) -> Iterator[Skipped]:
    if not tree.level(labels).counts.get(".txt"):
        return
    stems = {os.path.splitext(name)[0] for name in tree.images(folder)}
    for name in tree.names(labels):
        stem, ext = os.path.splitext(name)
        path = inside(labels, name)
        if ext.lower() != ".txt" or stem in stems or name.lower() in _OTHERS:
            continue
        if labels != folder or kind_at(tree, path):
            reason = "it is a label file, and no image has its name"
            yield Skipped(path, reason, damaged=True)


def kind_at(tree: Tree, path: str, keypoints: int = 0) -> str | None:
    """Return what the lines of a file are; None if they are not those of a label file."""
    try:
        return kind_of(tree.read(path, tree.measure(path)[0])[0], keypoints=keypoints)
    except BadImage:
        return None
