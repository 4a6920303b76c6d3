"""The images that lists name, as a source: keys, members, splits, and the files that are left."""

import os
from array import array
from collections.abc import Callable, Iterator, Sequence, Set
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import wraps

import numpy as np

from packer.errors import BadImage, Damaged, UnusableInput
from packer.keys import Hashes
from packer.samples.labels import class_order
from packer.samples.records import Facts, Reader, Sample, Skipped
from packer.sources.interpretation import Candidate, Interpretation
from packer.sources.scanners.rows.lists import Held, Lists, Parsed, Row
from packer.sources.tables.classes import Labels
from packer.sources.tables.images import Keys, name_hash, path_inside
from packer.sources.trees.sample import SampleParts
from packer.sources.trees.tree import Tree, unnamed
from packer.sources.trees.walk import names_an_image

Recognise = Callable[[Candidate], Interpretation | None]


def published(what: str, *needs: str) -> Callable[[Callable[[Tree], Lists]], Recognise]:
    """Make a recogniser of the function that gives a tree's lists; see `by_lists`."""
    return lambda lists: wraps(lists)(lambda candidate: by_lists(candidate, what, needs, lists))


def by_lists(
    candidate: Candidate,
    what: str,
    needs: Sequence[str],
    lists: Callable[[Tree], Lists],
    kind: str = "table",
) -> Interpretation | None:
    """Interpret a tree by its lists, which are read when it is opened; None if it lacks one.

    It needs files, folders with images (``images/*``) and folders with folders (``images/*/``), or
    one of several with `` | `` between them; files are added to the sources of `lists`.
    """
    tree = candidate.tree
    if not tree or not all(any(_has(tree, one) for one in path.split(" | ")) for path in needs):
        return None
    files = tuple(path for path in needs if "*" not in path and "|" not in path)

    def open_lists(classes: Sequence[str] | None) -> RowSource:
        found = lists(tree)
        return RowSource.open(tree, replace(found, sources=(*files, *found.sources)), classes)

    return Interpretation(kind, what, open_lists)


def _has(tree: Tree, path: str) -> bool:
    folder, is_folder, of_folders = path.partition("/*")
    if not is_folder:
        return tree.has(path)
    level = tree.level(folder)
    return bool(level.folders if of_folders else level.images)


@dataclass(frozen=True)
class RowSource:
    """The images that lists name, all of them in one tree."""

    tree: Tree
    lists: Lists
    labels: Labels

    @classmethod
    def open(cls, tree: Tree, lists: Lists, classes: Sequence[str] | None = None) -> "RowSource":
        """Open the source; without `classes`, its class names are in the lists' own order."""
        if lists.labels is not None:
            return cls(tree, lists, lists.labels)
        names = tuple(lists.classes)
        if len(set(names)) < len(names):
            raise UnusableInput(f"{tree.root}: two classes have the same name.")
        order = class_order(tree.root, names, classes) if classes else names
        return cls(tree, lists, Labels(order, named=True))

    @property
    def classes(self) -> tuple[str, ...]:
        """Class names in label order."""
        return self.labels.classes

    @property
    def facts(self) -> Facts:
        """Those of the lists."""
        root = None if self.tree.unpack else self.tree.root
        return replace(self.lists.facts, root=self.lists.facts.root or root)

    @property
    def files(self) -> Reader:
        """The reader of the samples."""
        return self.tree.files

    def scan(self) -> Iterator[Sample | Skipped]:
        """Yield the image of each row, then what no row names."""
        lists, splits, named = self.lists, set[str](), array("Q")
        names = (row.image for row in self._rows() if isinstance(row, Row))
        keys = lists.keys() if lists.keys else Keys.among(names)
        for row in self._rows():
            if isinstance(row, Skipped):
                named.append(name_hash(row.name))
                yield row
                continue
            files: list[str] = []
            try:
                whole = row.complete(row) if row.complete else row
                files = [one for one in whole.members.values() if isinstance(one, str)]
                sample = self._sample(whole, files, keys)
                splits.add(sample.split)
                yield sample
            except BadImage as error:
                yield row.rejected(error)
                lacks = f"it belongs to {row.image!r}, which is rejected"
                for path in filter(self.tree.has, dict.fromkeys(files)):
                    yield Skipped(path, lacks, damaged=True)
            if not lists.known:
                named.extend(map(name_hash, (row.image, *files)))
        if lists.is_whole:
            known = lists.known() if lists.known else np.sort(np.frombuffer(named, np.uint64))
            yield from self._others(known, splits)

    def _rows(self) -> Iterator[Row | Skipped]:
        """Return the rows whose images are in the folder; with keys, they are known to be."""
        return iter(self.lists.rows()) if self.lists.keys else self._inside()

    def _inside(self) -> Iterator[Row | Skipped]:
        for row in self.lists.rows():
            if isinstance(row, Row):
                try:
                    path_inside(self.tree.root, row.image)
                except BadImage as error:
                    yield Skipped.of(row.image, error)
                    continue
            yield row

    def _sample(self, row: Row, files: Sequence[str], keys: Keys) -> Sample:
        label = -1 if row.label is None else self._number(row.label)
        if not self.lists.keys:
            for path in files:
                path_inside(self.tree.root, path)
        parts = SampleParts(self.tree, row.image, row.held)
        for ext, member in row.members.items():
            if isinstance(member, Held):
                parts.add_place(ext, *member)
            elif isinstance(member, bytes):
                parts.add_place(ext, *Held.made(member))
            elif isinstance(member, Parsed):
                self._parse(parts, ext, member)
            else:
                with _naming(ext, member):
                    parts.add(ext, member)
        sample = parts.sample(keys.of(row.image, row.where), label, row.split, block=row.block)
        return self.lists.joined(sample) if self.lists.joined else sample

    def _number(self, label: str) -> int:
        try:
            return self.labels.number_of(label)
        except KeyError:
            raise BadImage(f"its class, {label!r}, is not in the list of classes") from None

    def _parse(self, parts: SampleParts, ext: str, path: str) -> None:
        """Add what is made of a file, or the file, if nothing is."""
        with _naming(os.path.splitext(path)[1][1:], path):
            data, mtime_ns = self.tree.read(path, self.tree.measure(path)[0])
        try:
            made = self.lists.parse(data)
        except BadImage as error:
            raise Damaged(f"{path!r}, {error}") from error
        if made is None:
            parts.add(ext, path)
        else:
            parts.add_place(ext, *Held.made(made, mtime_ns, [path]))

    def _others(self, known: Hashes, splits: Set[str]) -> Iterator[Sample | Skipped]:
        """Yield every file that no row names, with the reason why it is not packed."""
        tree, lists = self.tree, self.lists
        for found in unnamed(tree, known, lists.ignored):
            if isinstance(found, Skipped):
                yield found
                continue
            folder, paths = found
            images = [path for path in paths if names_an_image(os.path.basename(path))]
            # Of a folder that no list speaks of, nobody has said that its images are left out.
            is_of_lists = len(images) < tree.level(folder).images
            is_left = is_of_lists and bool(lists.leftover_reason)
            if lists.unnamed:
                yield from lists.unnamed(folder, images, splits)
                paths = sorted(set(paths).difference(images))
            for path in paths:
                if path in lists.sources:
                    continue
                if reason := lists.ignored.get(path, ""):
                    yield Skipped(path, reason, ignored=True)
                    continue
                reason = lists.leftover_reason or lists.not_listed
                yield tree.ignored(path) or Skipped(path, reason, ignored=is_left)


@contextmanager
def _naming(ext: str, path: str) -> Iterator[None]:
    """Name the file of an image that cannot be read."""
    try:
        yield
    except BadImage as error:
        raise Damaged(f"its .{ext}, {path!r}: {error}") from error
