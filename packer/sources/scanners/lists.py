"""Images somewhere in a folder, and lists that give their labels, splits and members.

A layout gives `Lists` with a `Row` for each image. Making keys, naming what is missing, and reading
what a `Row` names is written here, once.
"""

import os
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import wraps

import numpy as np

from packer.errors import BadImage, Damaged, UnusableInput
from packer.keys import Hashes
from packer.samples.labels import Encodings, class_order
from packer.samples.records import Facts, Reader, Sample, Skipped
from packer.sources.interpretation import Candidate, Interpretation
from packer.sources.tables.images import Keys, name_hash, path_inside
from packer.sources.trees.sample import SampleParts
from packer.sources.trees.tree import Tree, unnamed
from packer.sources.trees.walk import names_an_image


@dataclass(frozen=True)
class Row:
    """One image of the lists; paths are relative to the tree.

    Attributes:
        label: the name of its class.
        members: extension -> path of each file that is a member, or what the lists make.
        source: path of a file that `Lists.parse` reads, "" for none.
        where: a list names it, for errors; "": at the image.
        complete: adds what is costly to find; raises BadImage.
    """

    image: str
    label: str | None = None
    split: str = ""
    members: Mapping[str, str | bytes] = field(default_factory=dict)
    source: str = ""
    where: str = ""
    complete: Callable[["Row"], "Row"] = lambda row: row


Rows = Callable[[], Iterator[Row | Skipped]]


@dataclass(frozen=True)
class Lists:
    """The lists of one layout.

    Attributes:
        rows: gives a row for each image, and what is skipped, in a fixed order; called twice.
        classes: class names in label order; empty: there are no labels.
        sources: the files that it is read from, relative to the tree.
        ignored: further files, or folders with a ``/`` behind them, that mean nothing here ->
            the reason.
        parse: makes a member of the bytes of a row's source, in its place where it is one, and
            otherwise the ``json``; None: nothing; raises BadImage.
        leftover_reason: why an image that no row names is ignored; "": it is rejected.
        boxes: how the members hold boxes.
        advice: how a Loader reads what `boxes` does not describe, a sentence.
        mtime_ns: when the newest of `sources` was written; 0: a change of them is not noticed.
        is_whole: all files of the tree belong to it, and those that no row names are named.
    """

    rows: Rows
    classes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    ignored: Mapping[str, str] = field(default_factory=dict)
    parse: Callable[[bytes], bytes | None] = lambda _: None
    leftover_reason: str = ""
    boxes: Encodings = field(default_factory=dict)
    advice: str = ""
    mtime_ns: int = 0
    is_whole: bool = True


Recognise = Callable[[Candidate], Interpretation | None]


def published(what: str, *needs: str) -> Callable[[Callable[[Tree], Lists]], Recognise]:
    """Make a recogniser of the function that gives a tree's lists; see `by_lists`."""

    def recogniser(lists: Callable[[Tree], Lists]) -> Recognise:
        @wraps(lists)
        def recognise(candidate: Candidate) -> Interpretation | None:
            return by_lists(candidate, what, needs, lists)

        return recognise

    return recogniser


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

    def open_lists(classes: Sequence[str] | None) -> ListedSource:
        found = lists(tree)
        found = replace(found, sources=(*files, *found.sources))
        return ListedSource.open(tree, found, classes)

    return Interpretation(kind, what, open_lists)


def _has(tree: Tree, path: str) -> bool:
    folder, is_folder, of_folders = path.partition("/*")
    if not is_folder:
        return tree.has(path)
    level = tree.level(folder)
    return bool(level.folders if of_folders else level.images)


@dataclass(frozen=True)
class ListedSource:
    """The images that lists name, all of them in one tree."""

    tree: Tree
    lists: Lists
    classes: tuple[str, ...] = ()

    @classmethod
    def open(cls, tree: Tree, lists: Lists, classes: Sequence[str] | None = None) -> "ListedSource":
        """Open the source; without `classes`, its class names are in the lists' own order."""
        names = lists.classes
        if len(set(names)) < len(names):
            raise UnusableInput(f"{tree.root}: two classes have the same name.")
        return cls(tree, lists, class_order(tree.root, names, classes) if classes else names)

    @property
    def facts(self) -> Facts:
        """How a Loader reads the boxes."""
        lists, root = self.lists, None if self.tree.unpack else self.tree.root
        remarks = (lists.advice,) if lists.advice else ()
        return Facts(remarks=remarks, root=root, boxes=lists.boxes)

    @property
    def files(self) -> Reader:
        """The reader of the samples."""
        return self.tree.files

    def scan(self) -> Iterator[Sample | Skipped]:
        """Yield the image of each row, then what no row names."""
        keys = Keys.among(row.image for row in self._rows() if isinstance(row, Row))
        known = array("Q")
        number_of = {name: number for number, name in enumerate(self.classes)}
        for row in self._rows():
            if isinstance(row, Skipped):
                known.append(name_hash(row.name))
                yield row
                continue
            known.append(name_hash(row.image))
            files: list[str] = []
            try:
                row = row.complete(row)
                paths = [one for one in row.members.values() if isinstance(one, str)]
                files = list(dict.fromkeys(filter(None, (row.source, *paths))))
                yield self._sample(row, files, keys, number_of)
            except BadImage as error:
                yield replace(Skipped.of(row.where or row.image, error), damaged=True)
                lacks = f"it belongs to {row.image!r}, which is rejected"
                for path in filter(self.tree.has, files):
                    yield Skipped(path, lacks, damaged=True)
            known.extend(map(name_hash, files))
        lists, hashes = self.lists, np.sort(np.frombuffer(known, np.uint64))
        if lists.is_whole:
            yield from others(
                self.tree, hashes, lists.sources, lists.ignored, lists.leftover_reason
            )

    def _rows(self) -> Iterator[Row | Skipped]:
        """Yield the rows whose images are in the folder."""
        for row in self.lists.rows():
            if isinstance(row, Row):
                try:
                    path_inside(self.tree.root, row.image)
                except BadImage as error:
                    yield Skipped.of(row.image, error)
                    continue
            yield row

    def _sample(
        self, row: Row, files: Sequence[str], keys: Keys, number_of: Mapping[str, int]
    ) -> Sample:
        if row.label is not None and row.label not in number_of:
            raise BadImage(f"its class, {row.label!r}, is not in the list of classes")
        for path in files:
            path_inside(self.tree.root, path)
        parts = SampleParts(self.tree, row.image)
        own = self._parse(row, parts) if row.source else ""
        for ext, member in row.members.items():
            if ext == own:
                continue
            if isinstance(member, bytes):
                parts.add_made(ext, member, self.lists.mtime_ns)
                continue
            with _naming(ext, member):
                parts.add(ext, member)
        label = -1 if row.label is None else number_of[row.label]
        return parts.sample(keys.of(row.image), label, row.split)

    def _parse(self, row: Row, parts: SampleParts) -> str:
        """Add what is made of a row's source; return its extension, "" for nothing."""
        path = row.source
        with _naming(os.path.splitext(path)[1][1:], path):
            data, mtime_ns = self.tree.read(path, self.tree.measure(path)[0])
        try:
            made = self.lists.parse(data)
        except BadImage as error:
            raise Damaged(f"{path!r}, {error}") from error
        if made is None:
            return ""
        ext = next((ext for ext, member in row.members.items() if member == path), "json")
        parts.add_made(ext, made, mtime_ns, [path])
        return ext


@contextmanager
def _naming(ext: str, path: str) -> Iterator[None]:
    """Name the file of an image that cannot be read."""
    try:
        yield
    except BadImage as error:
        raise Damaged(f"its .{ext}, {path!r}: {error}") from error


def others(
    tree: Tree,
    known: Hashes,
    sources: Sequence[str],
    ignored: Mapping[str, str],
    leftover_reason: str = "",
) -> Iterator[Skipped]:
    """Yield every file of a tree that lists do not name, with the reason why it is not packed.

    `known` are the sorted hashes of the paths that they name; the others are those of `Lists`.
    """
    for found in unnamed(tree, known, ignored):
        if isinstance(found, Skipped):
            yield found
            continue
        folder, paths = found
        # Of a folder that no list speaks of, nobody has said that its images are to be left out.
        is_of_lists = sum(map(names_an_image, paths)) < tree.level(folder).images
        for path in paths:
            if path in sources:
                continue
            if reason := ignored.get(path, ""):
                yield Skipped(path, reason, ignored=True)
                continue
            stray = Skipped(
                path, leftover_reason or "it is in no list", is_of_lists and bool(leftover_reason)
            )
            yield tree.ignored(path) or stray
