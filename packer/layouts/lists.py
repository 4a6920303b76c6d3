"""Images somewhere in a folder, and lists that give their labels, splits and members.

A layout gives `Lists` with a `Row` for each image. Making keys, naming what is missing, and reading
what a `Row` names is written here, once.
"""

import os
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from packer.errors import BadImage, Damaged, UnusableInput
from packer.keys import Hashes, hashes_of
from packer.layouts.interpretation import Candidate, Interpretation
from packer.samples.labels import Encodings, Objects, class_order, in_json
from packer.samples.records import Facts, Reader, Sample, Skipped
from packer.tables.images import Keys, path_inside
from packer.trees.sample import SampleParts
from packer.trees.tree import Tree, unnamed
from packer.trees.walk import names_an_image

ONE_BOX = in_json("xywh", labels=False)  # of `box_note`


@dataclass(frozen=True)
class Row:
    """One image of the lists; paths are relative to the tree.

    Attributes:
        label: the name of its class.
        files: extension -> path of each file that belongs to it.
        note: what `Lists.members` needs beside these files to make the members; None: the files
            are the members, as they are, and are not read before they are packed.
    """

    image: str
    label: str | None = None
    split: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    note: str | None = None


class BadFile(Damaged):
    """One of a row's files, that of the extension `ext`, cannot be understood."""

    def __init__(self, ext: str, reason: str) -> None:
        self.ext = ext
        super().__init__(reason)


def _with_note(note: str, files: Mapping[str, bytes]) -> Mapping[str, bytes]:
    return {**files, "json": note.encode()}


@dataclass(frozen=True)
class Lists:
    """The lists of one layout.

    Attributes:
        rows: gives a row for each image, and what is skipped, in a fixed order; called twice.
        classes: class names in label order; empty: there are no labels.
        sources: the files that it is read from, relative to the tree.
        ignored: further files, or folders with a ``/`` behind them, that mean nothing here ->
            the reason.
        members: gives a sample's members by extension, from a row's note and the bytes of its
            files; raises BadFile, or BadImage for the note. As it is: the note is the ``json``.
        unlisted: why an image that no row names is ignored; "": it may be data, and is rejected.
        boxes: how the members hold boxes.
        advice: how a Loader reads what `boxes` does not describe, a sentence.
    """

    rows: Callable[[Tree], Iterator[Row | Skipped]]
    classes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    ignored: Mapping[str, str] = field(default_factory=dict)
    members: Callable[[str, Mapping[str, bytes]], Mapping[str, bytes]] = _with_note
    unlisted: str = ""
    boxes: Encodings = field(default_factory=dict)
    advice: str = ""


def by_lists(
    candidate: Candidate,
    what: str,
    needs: Sequence[str],
    lists: Callable[[Tree], Lists],
    kind: str = "table",
) -> Interpretation | None:
    """Interpret a tree by its lists, which are read when it is opened; None if it lacks one.

    It needs files, folders with images (``images/*``) and folders with folders (``images/*/``); the
    files are added to the sources of `lists`.
    """
    tree = candidate.tree
    if not tree or not all(_has(tree, path) for path in needs):
        return None
    files = tuple(path for path in needs if "*" not in path)

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


def records(
    tree: Tree, path: str, fields: int, separator: str | None = None
) -> Iterator[list[str] | Skipped]:
    """Yield the lines of a list, each divided into so many fields, and those that have fewer.

    The last field may hold the separator; None is white space.
    """
    for number, line in enumerate(tree.lines(path), 1):
        found = line.split(separator, fields - 1)
        if len(found) == fields:
            yield [field.strip() for field in found]
        else:
            reason = f"it has {len(found)} fields, and {fields} should be"
            yield Skipped(f"{path}:{number}", reason, damaged=True)


def rows_of(
    tree: Tree,
    path: str,
    fields: int,
    row: Callable[..., Row | Skipped],
    separator: str | None = None,
) -> Iterator[Row | Skipped]:
    """Yield what `row` makes of the fields of each line of a list."""
    for record in records(tree, path, fields, separator):
        yield record if isinstance(record, Skipped) else row(*record)


def table_of(tree: Tree, path: str, separator: str | None = None) -> dict[str, str]:
    """Return the rest of each line of a list by its first field; nothing if there is no list."""
    found = {}
    for record in records(tree, path, 2, separator) if tree.has(path) else ():
        if isinstance(record, Skipped):
            raise UnusableInput(f"{tree.root / record.name}: {record.reason}.")
        found[record[0]] = record[1]
    return found


def box_note(
    numbers: Sequence[str],
    where: object,
    more: Mapping[str, object] | None = None,
    *,
    format: str = "xyxy",
) -> str:
    """Return the note of an image with one box: the ``json`` of `ONE_BOX` and the fields `more`."""
    try:
        (box,) = Objects([list(map(float, numbers))], format).as_xywh().boxes or ()
        box = [int(number) if number.is_integer() else number for number in box]
        return Objects([box], image=more or {}).json().decode()
    except (ValueError, BadImage) as error:
        raise UnusableInput(f"{where}: {' '.join(numbers)[:80]!r} is not a box.") from error


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
        advice = (self.lists.advice,) if self.lists.advice else ()
        return Facts(remarks=advice, root=self.tree.root, boxes=self.lists.boxes)

    @property
    def files(self) -> Reader:
        """What reads the samples."""
        return self.tree.files

    def scan(self) -> Iterator[Sample | Skipped]:
        """Yield the image of each row, then what no row names."""
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
        lists, hashes = self.lists, np.sort(np.frombuffer(known, np.uint64))
        yield from others(self.tree, hashes, lists.sources, lists.ignored, lists.unlisted)

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

    def _sample(self, row: Row, keys: Keys, number_of: Mapping[str, int]) -> Sample:
        if row.label is not None and row.label not in number_of:
            raise BadImage(f"its class, {row.label!r}, is not in the list of classes")
        parts = SampleParts(self.tree, row.image)
        found = {}
        for ext, path in row.files.items():
            place = self.tree.place(path)
            try:
                size, mtime_ns = self.tree.measure(path)
                if row.note is not None:
                    found[ext], mtime_ns = self.tree.read(path, size)
            except BadImage as error:
                raise Damaged(f"its .{ext}, {path!r}: {error}") from error
            if row.note is None:
                parts.add_place(ext, place, size, mtime_ns)
            parts.newest = max(parts.newest, mtime_ns)
        if row.note is not None:
            try:
                members = self.lists.members(row.note, found)
            except BadFile as error:
                raise Damaged(f"{row.files[error.ext]!r}, {error}") from error
            made = [row.files[ext] for ext in row.files.keys() - members.keys()]
            for ext, data in members.items():
                if data is found.get(ext):
                    parts.add_place(ext, self.tree.place(row.files[ext]), len(data), 0)
                else:
                    parts.add_made(ext, data, 0, made)
        label = -1 if row.label is None else number_of[row.label]
        return parts.sample(keys.of(row.image), label, row.split)


def others(
    tree: Tree,
    known: Hashes,
    sources: Sequence[str],
    ignored: Mapping[str, str],
    unlisted: str = "",
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
            stray = Skipped(path, unlisted or "no list names it", is_of_lists and bool(unlisted))
            yield tree.ignored(path) or stray
