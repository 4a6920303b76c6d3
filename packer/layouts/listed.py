"""Images somewhere in a folder, and lists that tell their labels, splits and members.

Making keys, naming what is missing, and reading what a `Row` names is written here, once.
"""

import os
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from packer.errors import BadImage, Damaged, UnusableInput
from packer.keys import Hashes, hashes_of
from packer.layouts.interpretation import Reading
from packer.layouts.lists import BadFile, Lists, Row
from packer.samples.labels import class_order
from packer.samples.records import Facts, Place, Reader, Skipped, SourceSample
from packer.tables.images import Keys, path_inside
from packer.trees.tree import Tree, unnamed


@dataclass(frozen=True)
class ListedSource:
    """The images that lists name.

    Attributes:
        tree: in which all of them lie.
        lists: what tells of them.
        classes: class names in label order.
    """

    tree: Tree
    lists: Lists
    classes: tuple[str, ...] = ()

    @classmethod
    def open(cls, tree: Tree, lists: Lists, classes: Sequence[str] | None = None) -> "ListedSource":
        """The source.

        Args:
            tree, lists: see the class.
            classes: class names in label order; None: the lists' own order.

        Raises:
            UnusableInput: `classes` lacks one of the lists'.
        """
        names = lists.classes
        if len(set(names)) < len(names):
            raise UnusableInput(f"{tree.root}: two classes have the same name.")
        return cls(tree, lists, class_order(tree.root, names, classes) if classes else names)

    @property
    def root(self) -> "os.PathLike[str]":
        """The folder in which all images lie."""
        return self.tree.root

    @property
    def facts(self) -> Facts:
        """How a Loader reads the boxes."""
        advice = (self.lists.advice,) if self.lists.advice else ()
        return Facts(remarks=advice, root=self.tree.root, boxes=self.lists.boxes)

    @property
    def files(self) -> Reader:
        """What reads the samples."""
        return self.tree.files

    def scan(self) -> Iterator[SourceSample | Skipped]:
        """The image of each row, then what no row names."""
        keys = Keys.among(row.image for row in self._rows() if isinstance(row, Row))
        known = array("Q")
        number_of = {name: number for number, name in enumerate(self.classes)}
        for row in self._rows():
            paths = (row.name,) if isinstance(row, Skipped) else (row.image, *row.files.values())
            known.extend(hashes_of(map(os.fsencode, paths)).tolist())
            if isinstance(row, Skipped):
                yield row
                continue
            try:
                yield self._sample(row, keys, number_of)
            except BadImage as error:
                skipped = Skipped(row.image, str(error), damaged=True)
                lacks = f"it belongs to {row.image!r}, which is rejected"
                yield skipped
                for path in row.files.values():
                    if self.tree.has(path):
                        yield replace(skipped, name=path, reason=lacks)
        yield from others(self.tree, np.sort(np.frombuffer(known, np.uint64)), self.lists)

    def _rows(self) -> Iterator[Row | Skipped]:
        """The rows, with paths that stay in the folder."""
        for row in self.lists.rows(self.tree):
            if isinstance(row, Row):
                try:
                    for path in (row.image, *row.files.values()):
                        path_inside(self.tree.root, path)
                except BadImage as error:
                    yield Skipped.of(row.image, error)
                    continue
            yield row

    def _sample(self, row: Row, keys: Keys, number_of: Mapping[str, int]) -> SourceSample:
        if row.label is not None and row.label not in number_of:
            raise BadImage(f"its class, {row.label!r}, is not in the list of classes")
        size, newest = self.tree.measure_image(row.image)
        places: dict[str, Place] = {ext: self.tree.place(path) for ext, path in row.files.items()}
        found = {}
        for ext, path in row.files.items():
            try:
                more, written = self.tree.measure(path)
                if row.note is not None:
                    found[ext], written = self.tree.read(path, more)
            except BadImage as error:
                raise Damaged(f"its .{ext}, {path!r}: {error}") from error
            size, newest = size + more, max(newest, written)
        if row.note is not None:
            try:
                members = self.lists.members(row.note, found)
            except BadFile as error:
                raise Damaged(f"{row.files[error.ext]!r}, {error}") from error
            size += sum(map(len, members.values())) - sum(map(len, found.values()))
            made = [row.files[ext] for ext in row.files.keys() - members.keys()]
            places = {
                ext: places[ext] if data is found.get(ext) else [data, *made]
                for ext, data in members.items()
            }
        return SourceSample(
            name=row.image,
            key=keys.of(row.image),
            label=-1 if row.label is None else number_of[row.label],
            size=size,
            mtime_ns=newest,
            members=tuple(places),
            split=row.split,
            places=self.tree.places(row.image, places.values()),
        )


def by_lists(tree: Tree, what: str, lists: Callable[[], Lists], kind: str = "table") -> Reading:
    """The reading of a tree by its lists, which are looked into when it is opened."""
    return Reading(kind, what, lambda classes: ListedSource.open(tree, lists(), classes))


def others(tree: Tree, known: Hashes, lists: Lists) -> Iterator[Skipped]:
    """Every file that lists do not name, with the reason why it is not packed.

    Args:
        tree: of all files.
        known: sorted hashes of the paths that they name.
        lists: what they are read from, and what they say of further files.
    """
    for found in unnamed(tree, known, lists.ignored):
        if isinstance(found, Skipped):
            yield found
            continue
        for path in found[1]:
            if path in lists.sources:
                continue
            if reason := lists.ignored.get(path, ""):
                yield Skipped(path, reason, ignored=True)
                continue
            stray = Skipped(path, lists.unlisted or "no list names it", bool(lists.unlisted))
            yield tree.ignored(path) or stray
