"""Where the images lie that a table names: by their paths, or by names without folder or extension.

What the first rows say decides for all of them. Names are looked up in a list of the folder's
images that is made once, of 12 bytes an image; nothing is tried out on the disk.
"""

import os
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from packer.errors import BadImage, Damaged
from packer.tables.names import name_hash, path_inside
from packer.trees.meaning import splits_of
from packer.trees.shape import inside
from packer.trees.tree import Tree
from packer.trees.walk import is_named_as_image, names_an_image


class Images:
    """The images of a folder, found by the ends of their paths."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._last: tuple[str, list[str]] = ("", [])

    def __reduce__(self) -> tuple[type["Images"], tuple[Tree]]:
        """What goes to a packing process: nothing of what was listed."""
        return Images, (self.tree,)

    @cached_property
    def splits(self) -> Mapping[str, str]:
        """The split of each folder that lies in one, by its path."""
        found: dict[str, str] = {}
        for path, level in self.tree.walk():
            own = found.get(path, "")
            named = {} if own else splits_of(self.tree.shape.with_images(path))
            for name in level.folders:
                if split := own or named.get(name, ""):
                    found[inside(path, name)] = split
        return found

    def split_of(self, path: str) -> str:
        """The split of the folder that an image lies in, "" for none."""
        return self.splits.get(os.path.dirname(path), "")

    def ending_with(self, value: str) -> list[str]:
        """The images whose paths end with `value`, or would with their extension behind it."""
        if self._last[0] == value:
            return self._last[1]  # rows of one image follow each other
        name = value.rpartition("/")[2]
        whole = is_named_as_image(name)
        found = list(self._named(os.path.splitext(name)[0] if whole else name))
        if whole or name != value:
            found = [path for path in found if _ends(path, value, whole)]
        self._last = value, found
        return found

    def below_another(self, value: str) -> list[str]:
        """The images whose whole paths `value` ends with: those of a folder that lies elsewhere."""
        stem = os.path.splitext(value.rpartition("/")[2])[0]
        return [path for path in self._named(stem) if value.endswith(f"/{path}")]

    def _named(self, stem: str) -> Iterator[str]:
        hashes, kinds, known = self._listed
        value = name_hash(stem)
        at = bisect_left(hashes, value)
        while at < len(hashes) and hashes[at] == value:
            folder, ext = known[kinds[at]]
            yield inside(folder, stem + ext)
            at += 1

    @cached_property
    def _listed(self) -> tuple["array[int]", "array[int]", list[tuple[str, str]]]:
        """The hash of each image's stem, sorted, and its folder and extension."""
        hashes, kinds = array("Q"), array("I")
        known: dict[tuple[str, str], int] = {}
        for folder, level in self.tree.walk():
            for name in self.tree.names(folder) if level.images else ():
                if names_an_image(name):
                    stem, ext = os.path.splitext(name)
                    hashes.append(name_hash(stem))
                    kinds.append(known.setdefault((folder, ext), len(known)))
        order = np.argsort(np.array(hashes, np.uint64), kind="stable")
        ordered = (np.array(each)[order].tobytes() for each in (hashes, kinds))
        return array("Q", next(ordered)), array("I", next(ordered)), list(known)


@dataclass(frozen=True)
class Places:
    """Where a table's images lie.

    Attributes:
        images: of the folder.
        folder: which the paths in the table are relative to, below that folder; None: they are
            looked up in `images`.
        split: only images of that split are meant, where there are such; "" for any.
        moved: whether the folders that paths begin with are others than here.
    """

    images: Images
    folder: str | None = ""
    split: str = ""
    moved: bool = False

    def name(self, value: str) -> str:
        """The path of the image that `value` names.

        Raises:
            BadImage: there is none, or several may be it.
        """
        root = self.images.tree.root
        if self.folder is not None:
            if "\\" in value and not self.images.tree.has(os.path.join(self.folder, value)):
                value = value.replace("\\", "/")
            return path_inside(root, os.path.join(self.folder, value))
        found = self.candidates(value)
        if len(found) == 1:
            return found[0]
        if not found:
            raise Damaged("no image of that name was found")
        raise BadImage(f"it may be {found[0]} or {found[1]}")

    def candidates(self, value: str) -> list[str]:
        """The images that `value` may name, where they are looked up."""
        if not value.isalnum():
            value = os.path.normpath(value.strip().replace("\\", "/"))
        images = self.images
        found = images.below_another(value) if self.moved else images.ending_with(value)
        if self.split and len(found) > 1:
            found = [path for path in found if images.split_of(path) == self.split] or found
        return found


@dataclass(frozen=True)
class Looked:
    """How a column's first values were found to name images.

    Attributes:
        places: where they lie, None if nowhere.
        share: of the values that name an image.
        doubt: two images that one value may name.
        moved: a value that would name an image if its folders were cut off.
    """

    places: Places | None = None
    share: float = 0.0
    doubt: tuple[str, ...] = ()
    moved: str = ""


def look_up(
    images: Images,
    values: Sequence[str],
    folders: Sequence[str],
    split: str = "",
    *,
    root_is_said: bool = False,
    as_paths: bool = False,
) -> Looked:
    """Where the images of these values lie.

    Args:
        images: those there are.
        values: the first of a column.
        folders: that the values may be relative to.
        split: that the table is of, "" for any.
        root_is_said: whether a person has said where the images are.
        as_paths: whether they can be nothing else.
    """
    for folder in folders:
        places = Places(images, folder)
        hits = sum(_is_there(places, value) for value in values)
        if hits:
            return Looked(places, hits / len(values))
    for moved in () if as_paths else (False, True):
        places = Places(images, None, split, moved)
        each = [(value, places.candidates(value)) for value in values]
        hits = sum(bool(found) for _, found in each)
        if not hits:
            continue
        if moved and not root_is_said:
            return Looked(moved=next(value for value, found in each if found))
        doubt = next((tuple(found[:2]) for _, found in each if len(found) > 1), ())
        return Looked(places, hits / len(values), doubt)
    return Looked()


def _is_there(places: Places, value: str) -> bool:
    try:
        return places.images.tree.has(places.name(value))
    except (BadImage, ValueError):
        return False


def _ends(path: str, value: str, whole: bool) -> bool:
    known = path if whole else os.path.splitext(path)[0]
    return known == value or known.endswith(f"/{value}")
