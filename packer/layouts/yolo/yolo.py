"""Images and their label files: ``images`` in an image's path becomes ``labels``, as YOLO has it.

Where there is no such folder the label file lies beside its image. Label files are stored as they
are, as the member ``txt``; an image without one is background. What their lines are is looked at.
"""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from packer.errors import BadImage
from packer.layouts.lists import BadFile, Lists, Row
from packer.layouts.yolo.lines import kind_of
from packer.layouts.yolo.paths import folder_at, prefix_of
from packer.samples.records import Skipped
from packer.tables.images import name_hash
from packer.trees.shape import inside
from packer.trees.tree import Tree

_IMAGES, _LABELS = "images", "labels"
_OTHERS = ("classes.txt", "_classes.txt")  # texts beside the label files, of no image


@dataclass(frozen=True)
class Part:
    """Images of one split.

    Attributes:
        split: "" for none.
        path: of a folder, or of a list of images.
    """

    split: str
    path: str

    @property
    def is_list(self) -> bool:
        """Whether it is a list of images."""
        return self.path.lower().endswith(".txt")


@dataclass(frozen=True)
class Yolo(Lists):
    """YOLO's images and labels.

    Attributes:
        parts: where the images of each split lie.
        missing: of further splits, with the reason why they are not.
        keypoints: numbers that a line has behind its box.
    """

    parts: tuple[Part, ...] = ()
    missing: tuple[Skipped, ...] = ()
    keypoints: int = 0

    def rows(self, tree: Tree) -> Iterator[Row | Skipped]:
        """The images of each part; then the label files whose images are not there."""
        yield from self.missing
        folders: dict[str, str] = {}  # of images: that of their labels
        split_of: dict[int, str] = {}  # of each image of a list
        for part in self.parts:
            if not part.is_list:  # its labels may be there without images
                folders[part.path] = labels_of(tree, part.path)
            for image in _images(tree, part):
                if part.is_list:
                    digest = name_hash(image)
                    if (split := split_of.get(digest)) is not None:
                        if split != part.split:
                            reason = f"it is in {split}, too, and a sample is of one split"
                            yield Skipped(f"{part.path}: {image}", reason, ignored=True)
                        continue
                    split_of[digest] = part.split
                folder = os.path.dirname(image)
                if folder not in folders:
                    folders[folder] = labels_of(tree, folder)
                stem = os.path.splitext(os.path.basename(image))[0]
                label = inside(folders[folder], f"{stem}.txt")
                if tree.has(label):
                    yield Row(image, split=part.split, files={"txt": label}, note="")
                else:
                    yield Row(image, split=part.split)
        used = set(folders.values())
        further = {
            folder: _images_of(folder)
            for folder, level in tree.walk()
            if _LABELS in folder.split("/") and level.counts.get(".txt") and folder not in used
        }
        for folder, labels in [*folders.items(), *((b, a) for a, b in further.items())]:
            yield from _strays(tree, folder, labels)

    def members(self, note: str, files: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """The label file as it is, if its lines are sound."""
        try:
            kind_of(files["txt"], len(self.classes) or None, self.keypoints)
        except BadImage as error:
            raise BadFile("txt", str(error)) from None
        return files


def label_of(tree: Tree, image: str) -> str:
    """The path of an image's label file, which need not be there."""
    folder, name = os.path.split(image)
    return inside(labels_of(tree, folder), f"{os.path.splitext(name)[0]}.txt")


def labels_of(tree: Tree, folder: str) -> str:
    """The folder of the label files of the images in a folder."""
    parts = folder.split("/")
    at = next((n for n in reversed(range(len(parts))) if parts[n] == _IMAGES), None)
    if at is None:
        return folder
    top = "/".join([*parts[:at], _LABELS])
    return "/".join([top, *parts[at + 1 :]]) if folder_at(tree, top) else folder


def _images_of(labels: str) -> str:
    """The folder of the images of the label files in a folder."""
    head, _, tail = f"/{labels}/".rpartition(f"/{_LABELS}/")
    return f"{head}/{_IMAGES}/{tail}".strip("/")


def _images(tree: Tree, part: Part) -> Iterator[str]:
    if part.is_list:
        prefix = prefix_of(tree.lines(part.path), (os.path.dirname(part.path), ""), tree.has)
        yield from (prefix.apply(line) if prefix else line for line in tree.lines(part.path))
        return
    for folder, _ in tree.walk(part.path):
        yield from (inside(folder, name) for name in tree.images(folder))


def _strays(tree: Tree, folder: str, labels: str) -> Iterator[Skipped]:
    """The label files in a folder whose images are not in theirs."""
    if not tree.level(labels).counts.get(".txt"):
        return
    stems = {os.path.splitext(name)[0] for name in tree.images(folder)}
    for name in tree.names(labels):
        stem, ext = os.path.splitext(name)
        path = inside(labels, name)
        if ext.lower() != ".txt" or stem in stems or name.lower() in _OTHERS:
            continue
        if labels != folder or kind_at(tree, path):
            reason = "it is a label file, and there is no image of its name"
            yield Skipped(path, reason, damaged=True)


def kind_at(tree: Tree, path: str, keypoints: int = 0) -> str | None:
    """What the lines of a file are; None if they are not those of a label file."""
    try:
        return kind_of(tree.read(path, tree.measure(path)[0])[0], keypoints=keypoints)
    except BadImage:
        return None
