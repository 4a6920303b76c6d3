"""The samples of a scan as the audit sees them: their folders, names, classes and splits."""

import os
import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from packer.errors import BadImage
from packer.options.declared import SourceOptions
from packer.samples.records import Reader, Source
from packer.samples.table import SampleTable
from packer.sources.tables.texts import text_of
from packer.sources.trees.names import splits_of
from packer.sources.trees.outright import by_templates, literal, member
from packer.sources.trees.shape import IMAGES, may_be_masks, plain
from packer.sources.trees.tokens import shared
from packer.sources.trees.tree import Tree
from packer.words import listed

_MOST = 20_000  # samples that are looked at
_OF_EACH = 1_000  # of one folder
AS_READ: Sequence[str] = ()  # the options of the reading that was scanned
_TEXT = 1 << 26  # bytes of a list that are searched


class Seen(NamedTuple):
    """One sample."""

    number: int  # in the table
    name: str  # its path
    folders: tuple[str, ...]  # those that hold it, below `Outcome.top` and the one of its split
    stem: str
    ext: str
    label: int
    split: str


class Question(NamedTuple):
    """What the outcome could have lost, and each interpretation as the options of a command."""

    text: str
    readings: Mapping[str, Sequence[str]] = {}


@dataclass(frozen=True)
class Outcome:
    """The outcome of a scan.

    Attributes:
        where: the source, for a person.
        kind: of the interpretation, a value of ``--as``.
        files: reads the samples.
        classes: class names in label order.
        options: that chose it, with those that were found.
        is_divided: whether the splits are the caller's, by ``--split``.
    """

    where: Path
    kind: str
    source: Source
    files: Reader
    listing: SampleTable
    classes: Sequence[str]
    options: SourceOptions
    is_divided: bool = False

    @cached_property
    def _tree(self) -> Tree | None:
        """The tree to which names are relative."""
        tree = getattr(self.source, "tree", None)
        return tree if isinstance(tree, Tree) else None

    @cached_property
    def prefix(self) -> str | None:
        """The path in the source to which names are relative, "" for the source; None elsewhere."""
        root = self.source.facts.root or (self._tree.root if self._tree else self.where)
        path = os.path.relpath(root, self.where)
        return None if path.startswith(os.pardir) else "" if path == os.curdir else path

    def read(self, number: int) -> bytes | None:
        """Return the bytes of a sample's image; None if it has none that can be read."""
        try:
            image = self.files.read(self.listing[number]).image
        except BadImage:
            return None
        return image if isinstance(image, bytes) else None

    def row_of(self, name: str) -> str:
        """Return the list that names a sample, and the line if it is a text."""
        tree, (_, _, file) = self._tree, name.rpartition("/")
        for path in self.source.facts.lists if tree else ():
            assert tree is not None
            lines = (text_of(tree.begin(path, _TEXT)) or b"").decode("utf-8", "replace")
            for text in (name, file, file.rpartition(".")[0]):
                word = re.compile(rf"(?<![\w.]){re.escape(text)}(?!\w)")
                for number, line in enumerate(lines.split("\n"), 1):
                    if word.search(line):
                        return f"{path}:{number}"
        return listed(self.source.facts.lists)

    @cached_property
    def has_labels(self) -> bool:
        """Whether any sample has a label."""
        return bool((self.listing.labels >= 0).any())

    @cached_property
    def _numbers(self) -> list[int]:
        """The numbers of some samples.

        If there are many, the first ones of each folder: samples of one folder usually follow each
        other, so that few names tell where it ends.
        """
        found: list[int] = []
        begin, every = 0, range(len(self.listing))
        while begin < len(every) and len(found) < _MOST:
            first, begin = begin, self._end(begin)
            found += every[first : min(begin, first + _OF_EACH)]
        return found

    def _end(self, begin: int) -> int:
        def folder(number: int) -> str:
            return self.listing.name_of(number).rpartition("/")[0]

        own, step, count = folder(begin), 1, len(self.listing)
        while begin + step < count and folder(begin + step) == own:
            step *= 2
        near = begin + step // 2, min(begin + step, count)
        return bisect_left(range(count), True, *near, key=lambda number: folder(number) != own)

    @cached_property
    def samples(self) -> list[Seen]:
        """Some samples, at least the first ones of each folder, with all folders that hold them."""
        some = self.listing.take(self._numbers)
        labels, splits = some.labels.tolist(), some.splits.tolist()
        found = []
        for at, (label, split) in enumerate(zip(labels, splits, strict=True)):
            name, number = some.name_of(at), self._numbers[at]
            *folders, file = name.split("/")
            stem, _, ext = file.rpartition(".")
            found.append(Seen(number, name, tuple(folders), stem, ext, label, split))
        return found

    @cached_property
    def paths(self) -> frozenset[str]:
        """The folders that hold samples, as names have them."""
        return frozenset("/".join(one.folders) for one in self.samples)

    @cached_property
    def top(self) -> tuple[str, ...]:
        """The folders that hold all samples."""
        return tuple(shared([one.folders for one in self.samples]))

    def _below(self, one: Seen) -> tuple[str, ...]:
        """Return the folders below that of its split."""
        folders = one.folders[len(self.top) :]
        return folders[folders[:1] in self._split_folders :]

    @cached_property
    def wrapper(self) -> tuple[str, ...]:
        """The folders in that of each split which hold all of its samples."""
        return tuple(shared(list(map(self._below, self.samples))))

    @cached_property
    def seen(self) -> list[Seen]:
        """Some samples, at least the first ones of each folder."""
        up = len(self.wrapper)
        return [one._replace(folders=self._below(one)[up:]) for one in self.samples]

    @cached_property
    def _split_folders(self) -> Mapping[tuple[str, ...], str]:
        """The folders below the top that are splits -> the split of their samples."""
        up = len(self.top)
        found: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for one in self.samples:
            found[one.folders[up : up + 1]].add(one.split)
        each = {name: next(iter(splits)) for name, splits in found.items() if len(splits) == 1}
        is_division = len(each) == len(found) == len(set(each.values()))
        return {} if not is_division or () in each or "" in each.values() else each

    @cached_property
    def start(self) -> str:
        """The beginning of templates for the images; "" if all lie in the source."""
        splits = {name: split for (name,), split in self._split_folders.items()}
        is_usual = splits_of(sorted(splits)) == splits
        field = ("{split}/" if is_usual else "{folder}/") if splits else ""
        return f"{within(self.prefix or '', *self.top)}{field}{within(*self.wrapper)}"

    @cached_property
    def starts(self) -> dict[str, str]:
        """The beginning of templates for the images of each split, without fields."""
        above = (self.prefix or "", *self.top)
        return {
            split: within(*above, *folder, *self.wrapper)
            for folder, split in (self._split_folders or {(): ""}).items()
        }

    @cached_property
    def by_folder(self) -> dict[tuple[str, ...], list[Seen]]:
        """The samples that were looked at, by the folders that hold them."""
        found: dict[tuple[str, ...], list[Seen]] = defaultdict(list)
        for one in self.seen:
            found[one.folders].append(one)
        return found

    @cached_property
    def names(self) -> list[str]:
        """The sorted names of the uppermost folders that divide the samples."""
        return sorted({folders[0] for folders in self.by_folder if folders})

    @cached_property
    def label_depth(self) -> int:
        """How many of the folders name the class of a sample; 0 where they do not."""
        for depth in (1, 2, 3):
            if all(
                0 <= one.label < len(self.classes)
                and self.classes[one.label] == "/".join(one.folders[:depth])
                for one in self.seen
            ):
                return depth
        return 0

    def counts(self) -> NDArray[np.int64]:
        """Return how many samples each class has."""
        labels = self.listing.labels
        return np.bincount(labels[labels >= 0], minlength=len(self.classes))


def member_of(name: str, ext: str = "", *, is_optional: bool = False) -> str:
    """Return the name of a member from what pictures are called, and their extension."""
    found = (member(name) or "picture") + "?" * is_optional
    return f"{found}.{ext.lower()}" if ext else found


def as_parts(
    meaning: str, ways: Mapping[str, str], members: Mapping[str, str], *mains: str
) -> dict[str, Sequence[str]]:
    """Return the readings in which `mains` are images, each with all others as its members.

    `ways` are templates, and `members` names of members.
    """
    return {
        meaning.replace("{}", main): by_templates(
            [ways[main]], {members[one]: way for one, way in ways.items() if one != main}
        )
        for main in mains
    }


def within(*names: str) -> str:
    """Return the beginning of templates for what folders hold."""
    return "".join(f"{literal(name)}/" for name in names if name)


def rank(name: str) -> tuple[bool, bool]:
    """Sort what is called as images are first, and as masks last."""
    return plain(name) not in IMAGES, may_be_masks(name)
