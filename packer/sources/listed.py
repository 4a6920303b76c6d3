"""Images somewhere in a folder, and lists that tell their labels, splits and members.

YOLO, VOC and the publishers' official lists are such layouts: each is a `Lists` that gives a `Row`
for each image. Making keys, naming what is missing, and accounting for every other file of the
folder is written here, once.
"""

import json
import os
from array import array
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import xxhash

from packer.errors import BadImage, Damaged, Unreadable, UnusableInput
from packer.files.snapshot import CHANGED
from packer.keys import Hashes, hashes_of
from packer.sources.folder.files import ignored
from packer.sources.folder.shape import inside, lies_in
from packer.sources.folder.walk import not_entered
from packer.sources.labels import class_order
from packer.sources.records import Content, Skipped, SourceSample
from packer.sources.table.names import Keys, path_inside
from packer.sources.tree import Tree

UNLISTED = "no list names it"


def read_by(boxes: str) -> str:
    """The sentence that says what field reads the boxes, such as ``"json", format="xywh"``."""
    return f'Its boxes are read by fields=("image", reader.Boxes({boxes})).'


@dataclass(frozen=True)
class Row:
    """What the lists tell of one image.

    Attributes:
        image: its path, relative to the tree.
        label: the name of its class; None: it has none.
        split: the part of the dataset that it belongs to, "" for none.
        files: extension -> path of each file that belongs to it.
        note: what `Lists.members` needs beside these files to make the members; None: the files
            are the members, as they are, and are not read before they are packed.
    """

    image: str
    label: str | None = None
    split: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    note: str | None = None


@dataclass(frozen=True)
class Lists:
    """A layout's lists; it is sent to the packing processes, so it must pickle and stay small.

    Attributes:
        classes: class names in label order; empty: there are no labels.
        sources: the files that it is read from, relative to the tree.
        ignored: further files, or folders with a ``/`` behind them, that mean nothing here ->
            the reason.
        unlisted: why an image that no row names is ignored; "": it may be data, and is rejected.
        advice: how a Loader reads the boxes, a sentence for a person.
    """

    classes: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    ignored: Mapping[str, str] = field(default_factory=dict)
    unlisted: str = ""
    advice: str = field(default="", kw_only=True)

    def rows(self, tree: Tree) -> Iterator[Row | Skipped]:
        """A row for each image, in a fixed order, and what is skipped; it is asked for twice.

        Raises:
            UnusableInput: a list cannot be understood.
        """
        raise NotImplementedError

    def members(self, note: str, files: Mapping[str, bytes]) -> Mapping[str, bytes]:
        """The members of a sample: extension -> bytes, the same whenever it is asked.

        Args:
            note: the row's; it is the text of the member ``json`` if this is not overridden.
            files: extension -> bytes of the row's files; those that are not given back are no
                members.

        Raises:
            BadImage: they cannot be understood.
        """
        return {**files, "json": note.encode()}


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
    def advice(self) -> str:
        """How a Loader reads the boxes."""
        return self.lists.advice

    def scan(self) -> Iterator[SourceSample | Skipped]:
        """The image of each row, then what no row names."""
        keys = Keys(row.image for row in self._rows() if isinstance(row, Row))
        known = array("Q")
        number_of = {name: number for number, name in enumerate(self.classes)}
        for row in self._rows():
            paths = (row.name,) if isinstance(row, Skipped) else (row.image, *row.files.values())
            known.extend(hashes_of(map(os.fsencode, paths)).tolist())
            if isinstance(row, Skipped):
                known.append(xxhash.xxh3_64_intdigest(os.fsencode(row.name)))
                yield row
                continue
            try:
                yield self._sample(row, keys, number_of)
            except BadImage as error:
                skipped = Skipped.of(row.image, error)
                lacks = f"it belongs to {row.image!r}, which is rejected"
                yield skipped
                for path in row.files.values():
                    if self.tree.has(path):
                        yield replace(skipped, name=path, reason=lacks)
        yield from others(self.tree, np.sort(np.frombuffer(known, np.uint64)), self.lists)

    def member_files(self, sample: SourceSample) -> Sequence[str]:
        """The files from which the members come."""
        return list(_located(sample)[0].values())

    def read(self, sample: SourceSample) -> Content:
        """The image, and the members from their files and the row's note."""
        files, note = _located(sample)
        image, newest = self.tree.read(sample.name, sample.size)
        members, written = self._members(files, note, sample.size)
        if (len(image) + sum(map(len, members.values())), max(newest, written)) != (
            sample.size,
            sample.mtime_ns,
        ):
            raise Unreadable(CHANGED)
        return Content(image, members)

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
        size, newest = self.tree.measure(row.image)
        if not size:
            raise Damaged("it is empty")
        if row.note is None:
            names = tuple(row.files)
            for ext, path in row.files.items():
                more, written = self._measure(ext, path)
                size, newest = size + more, max(newest, written)
        else:
            members, written = self._members(row.files, row.note)
            names = tuple(members)
            size += sum(map(len, members.values()))
            newest = max(newest, written)
        return SourceSample(
            name=row.image,
            key=keys.of(row.image),
            label=-1 if row.label is None else number_of[row.label],
            size=size,
            mtime_ns=newest,
            members=names,
            split=row.split,
            locator=json.dumps([row.files, row.note]) if row.files or row.note is not None else "",
        )

    def _measure(self, ext: str, path: str) -> tuple[int, int]:
        try:
            return self.tree.measure(path)
        except BadImage as error:
            raise Damaged(f"its .{ext}, {path!r}: {error}") from error

    def _members(
        self, files: Mapping[str, str], note: str | None, most: int | None = None
    ) -> tuple[Mapping[str, bytes], int]:
        """A sample's members, and when the newest of their files was written (ns)."""
        found, newest = {}, 0
        for ext, path in files.items():
            size = self._measure(ext, path)[0] if most is None else most
            found[ext], written = self.tree.read(path, size)
            newest = max(newest, written)
        return (found if note is None else self.lists.members(note, found)), newest


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
            stray = Skipped(path, lists.unlisted or UNLISTED, bool(lists.unlisted))
            yield ignored(tree.root, path) or stray


def unnamed(
    tree: Tree, known: Hashes, passed: Mapping[str, str]
) -> Iterator[tuple[str, list[str]] | Skipped]:
    """The files of each folder that are not among those that are known.

    Args:
        tree: all there is.
        known: hashes of paths, sorted.
        passed: folders, with a ``/`` behind them, that are not looked into -> the reason; more is
            not heeded.

    Yields:
        A folder and paths, and what of folders is passed over.
    """
    folders = tuple(path for path in passed if path.endswith("/"))
    for folder, level in tree.walk():
        if found := next((path for path in folders if f"{folder}/".startswith(path)), None):
            if f"{folder}/" == found:
                yield Skipped(found, passed[found], ignored=True)
            continue
        for name, reason in level.skipped.items():
            yield not_entered(inside(folder, name), reason)
        paths = [inside(folder, name) for name in tree.names(folder)]
        hashes = hashes_of(map(os.fsencode, paths))
        named = np.zeros(len(paths), bool)
        if len(known):
            named = known[np.searchsorted(known, hashes).clip(max=len(known) - 1)] == hashes
        yield folder, [path for path, is_named in zip(paths, named, strict=True) if not is_named]


def records(
    tree: Tree, path: str, fields: int, separator: str | None = None
) -> Iterator[list[str] | Skipped]:
    """The lines of a list, each divided into so many fields; a line that has fewer is named.

    Args:
        fields: how many there are; the last one may hold the separator.
        separator: between the fields; None: white space.

    Raises:
        UnusableInput: the list cannot be read.
    """
    for number, line in enumerate(tree.lines(path), 1):
        found = line.split(separator, fields - 1)
        if len(found) == fields:
            yield [field.strip() for field in found]
        else:
            yield Skipped(f"{path}:{number}", f"it has {len(found)} fields, and {fields} should be")


def table_of(tree: Tree, path: str, separator: str | None = None) -> dict[str, str]:
    """The list of pairs at `path`: the first field of each line -> the rest of it.

    Raises:
        UnusableInput: the list cannot be read, or a line has one field only.
    """
    found = {}
    for record in records(tree, path, 2, separator):
        if isinstance(record, Skipped):
            raise UnusableInput(f"{tree.root / record.name}: {record.reason}.")
        found[record[0]] = record[1]
    return found


def box_note(
    numbers: Sequence[str],
    where: object,
    more: Mapping[str, object] | None = None,
    *,
    corners: bool = True,
) -> str:
    """The note of an image with one box, which becomes the member ``json`` with ``boxes``.

    Args:
        numbers: left, top, right and bottom in pixels, or left, top, width and height.
        where: they stand, for errors.
        more: further fields of the ``json``.
        corners: which of both.

    Raises:
        UnusableInput: they are not four numbers.
    """
    try:
        left, top, right, bottom = map(float, numbers)
        box = [left, top, right - left, bottom - top] if corners else [left, top, right, bottom]
        if min(box[2:]) < 0:
            raise ValueError
        box = [int(number) if number.is_integer() else number for number in box]
        return json.dumps({**(more or {}), "boxes": [box]}, separators=(",", ":"), allow_nan=False)
    except (ValueError, OverflowError) as error:
        raise UnusableInput(f"{where}: {' '.join(numbers)[:80]!r} is not a box.") from error


def aside(
    tree: Tree, folders: Collection[str], reason: str, is_meant: Callable[[str], bool]
) -> dict[str, str]:
    """The highest folders that hold images and none of `folders`, each with a ``/`` -> reason.

    Args:
        is_meant: whether a folder is known to be none of them; images in others may be data.
    """
    above = {path for folder in folders for path in _up(folder)}
    shape = tree.shape
    return {
        f"{path}/": reason
        for path in shape.images
        if path not in above
        and os.path.dirname(path) in above
        and shape.below(path)
        and is_meant(path)
        and not any(lies_in(path, folder) for folder in folders)
    }


def _up(path: str) -> Iterator[str]:
    """A folder and all that hold it, "" at last."""
    while path:
        yield path
        path = os.path.dirname(path)
    yield ""


def _located(sample: SourceSample) -> tuple[dict[str, str], str | None]:
    files, note = json.loads(sample.locator) if sample.locator else ({}, None)
    return files, note
