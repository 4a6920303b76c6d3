"""The folders, classes, splits and members that templates of images find, by passes over a tree.

Where each template ends with ``/{key}``, all files of a folder have the same fields: folders are
looked at then, and not their files.
"""

import os
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from packer.errors import UnusableInput
from packer.samples.records import Skipped
from packer.sources.scanners.arrays.one_each import is_array
from packer.sources.scanners.templates.chosen import MemberFiles, Templates
from packer.sources.scanners.templates.joined import Joined
from packer.sources.scanners.templates.lists import read_lists
from packer.sources.scanners.templates.template import KEY, PATH
from packer.sources.tables.images import HashIndex, name_hash
from packer.sources.tables.splits import NUMBERED
from packer.sources.trees.names import splits_of
from packer.sources.trees.shape import inside, is_within
from packer.sources.trees.sidecars import MAPS, group, members_named
from packer.sources.trees.tree import Level, Tree
from packer.sources.trees.walk import names_an_image
from reader.format.members import PICTURES

Fields = Mapping[str, str]


class Survey:
    """What templates find in a tree.

    Attributes:
        folders: the folders that hold files; those of images in ImageFolder's order.
        labels: the classes in paths, each with the first folder that has it.
        splits: the splits in paths and lists, as they are written.
        usual: each of these -> its usual name, if it has one.
        joined: the lists.
    """

    folders: Sequence[str] = ()

    def __init__(self, tree: Tree, templates: Templates) -> None:
        """Read the lists, and find members, classes and splits by passes over the folders."""
        self.tree, self.templates = tree, templates
        words = templates.words
        self.words = words_of(tree, templates.masks) if words is None else words
        self.has_arrays = any(map(is_array, templates.texts))
        self.kinds = frozenset({*PICTURES, "npy"} if self.has_arrays else PICTURES)
        self.members = tuple(map(MemberFiles, templates.members))
        self.labels: dict[str, str] = {}
        self.splits: dict[str, None] = {}
        self._taken = HashIndex(array("Q"))  # the files of members
        self.by_folder = by_folder = (
            all(one.is_leaf for one in templates.images)
            and len(templates.masks) == len(self.members)  # apart from the images
        )
        ranks: dict[str, Any] = {}
        filled: dict[str, list[str]] = {}  # classes -> their folders that hold images
        for folder, level in self._below():
            names = tree.readable_names(folder) or [] if self.members or not by_folder else []
            for path in (inside(folder, name) for name in (["x"] if by_folder else names)):
                if found := templates.match(path):
                    ranks[folder] = templates.images[found[0]].rank(folder)
                    if by_folder:
                        self._add_folder(folder, level, *found, filled)
                    break
            else:
                ranks[folder] = (), "", folder
            for files in self.members:
                for name in names:
                    files.add(inside(folder, name))
            if not by_folder and not self.members:
                self._add(self._candidates(folder, names))
        self.folders = sorted(ranks, key=ranks.__getitem__)
        if self.members:
            self._taken = HashIndex(array("Q", self._hashes_of_members()))
        if self.members and not by_folder:
            self._add(self.images())
        if by_folder:
            empty = [label for label in self.labels if label not in filled]
            of_filled = chain.from_iterable(filled.values()) if empty else ()
            held = {above for path in of_filled for above in _above(path)}
            for label in empty:  # of a folder of other classes, none is missed
                if self.labels[label] in held or describes(tree, self.labels[label]):
                    del self.labels[label]
        self.joined: Joined | None = None
        if templates.lists:
            rows = read_lists(tree, templates.lists)
            folders = dict.fromkeys(["", *(template.folder for template in templates.images)])
            self.joined = Joined(tree, rows, templates.names, list(folders))
            self.joined.bind(self.images, self.fields)
            self.splits |= dict.fromkeys(map(str, self.joined.values("split")))
        usual = splits_of(sorted(self.splits))
        is_clear = len(set(usual.values())) == len(usual)
        self.usual: Mapping[str, str] = usual if is_clear else {}
        if self.joined and self.splits.keys() - {""} == NUMBERED.keys():
            self.usual = NUMBERED

    def _below(self) -> Iterator[tuple[str, Level]]:
        """Yield each folder; members may be in folders elsewhere."""
        tops = {files.member.template.folder for files in self.members}
        for top in ("", *sorted(top for top in tops if top.startswith("../"))):
            yield from self.tree.walk(top)

    def _add_folder(
        self, folder: str, level: Level, number: int, fields: Fields, filled: dict[str, list[str]]
    ) -> None:
        if any(is_within(folder, other) for other in self.templates.masks):
            return
        label = fields.get("class", fields.get("label", ""))
        if level.images:
            filled.setdefault(label, []).append(folder)
        if label in filled or not (label == "" or self.templates.images[number].has_any_depth):
            self.labels.setdefault(label, folder)
        if level.files:
            self.splits[fields.get("split", "")] = None

    def _add(self, images: Iterable[tuple[str, Fields]]) -> None:
        for path, fields in images if self.templates.names & {"label", "class", "split"} else ():
            label = fields.get("class", fields.get("label", ""))
            self.labels.setdefault(label, os.path.dirname(path))
            self.splits[fields.get("split", "")] = None

    def fields(self, path: str) -> dict[str, str] | None:
        """Return the fields of a path; None if no template fits."""
        return (found := self.templates.match(path)) and found[1]

    def fields_in(self, folder: str, names: Iterable[str]) -> dict[str, Fields | None]:
        """Return the fields of files in a folder; only members and lists require their {key}."""
        if self.by_folder and not self.members and not self.templates.lists:
            return dict.fromkeys(names, self.fields(inside(folder, "x")))
        return {name: self.fields(inside(folder, name)) for name in names}

    def _candidates(self, folder: str, names: Sequence[str]) -> Iterator[tuple[str, Fields]]:
        """Yield the path and the fields of what may be an image in a folder."""
        for name in group(names, self.words, self.kinds).samples:
            path = inside(folder, name)
            fields = self.fields(path)
            if fields is not None and (names_an_image(name) or self.ignored(path) is None):
                yield path, fields

    def ignored(self, path: str) -> Skipped | None:
        """Return what to report of a file that is not meant as an image; an array is, if named."""
        found = self.templates.match(path) if self.has_arrays and is_array(path) else None
        is_named = found is not None and is_array(self.templates.texts[found[0]])
        return None if is_named else self.tree.ignored(path)

    def images(self) -> Iterator[tuple[str, Fields]]:
        """Yield the path and the fields of each image."""
        for folder in self.folders:
            names = self.tree.readable_names(folder) or []
            for path, fields in self._candidates(folder, names):
                if not self.is_taken(path):
                    yield path, fields

    def _hashes_of_members(self) -> Iterator[int]:
        for path, fields in self.images():
            for files in self.members:
                yield from (name_hash(file) for file in files.of(fields) if file != path)

    def is_taken(self, path: str) -> bool:
        """Return whether a file is a member."""
        return len(self._taken) > 0 and name_hash(path) in self._taken

    def members_of(self, path: str, fields: Fields) -> Iterator[tuple[MemberFiles, list[str]]]:
        """Yield each member with its files for an image; not a file that two images have."""
        for files in self.members:
            found = [file for file in files.of(fields) if file != path]
            yield files, [file for file in found if not self.is_shared(file, files)]

    def is_shared(self, path: str, files: MemberFiles) -> bool:
        """Return whether a file has the name of several images, and is meant for one."""
        is_for_one = not files.member.template.names.isdisjoint((KEY, PATH))
        return is_for_one and sum(1 for _ in self._taken.numbers(name_hash(path))) > 1


def _above(path: str) -> Iterator[str]:
    """Yield the folders that hold a folder."""
    while path:
        path = os.path.dirname(path)
        yield path


def words_of(
    tree: Tree, aside: Sequence[str] = (), chosen: frozenset[str] | None = None
) -> frozenset[str]:
    """Return the words of pictures that are members; see `sidecars.members_named`.

    Without those that are `chosen`, only the certain ones are returned where it would raise.
    """
    levels = (
        level.companions
        for folder, level in tree.walk()
        if not any(is_within(folder, other) for other in aside)
    )
    unpack = f"{tree.unpack} && " if tree.unpack else ""
    try:
        return members_named(levels, tree.root, chosen=chosen or frozenset(), unpack=unpack)
    except UnusableInput:
        if chosen is not None:
            raise
        return MAPS


def describes(tree: Tree, folder: str) -> bool:
    """Return whether a folder without images only describes others, and is no class."""
    if tree.shape.is_aside(folder):
        return True
    paths = (
        inside(path, name)
        for path, level in tree.walk(folder)
        for names in level.examples.values()
        for name in names
    )
    found = [tree.ignored(path) for path in paths]
    return bool(found) and all(one is not None and one.ignored for one in found)
