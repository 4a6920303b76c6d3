"""The samples of a scan as the audit sees them: their folders, names, classes and splits."""

import os
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from packer.errors import BadImage
from packer.layouts.audit.tokens import shared
from packer.layouts.folders.contents import member
from packer.samples.records import Reader, Source
from packer.samples.table import SampleTable
from packer.trees.names import splits_of
from packer.trees.outright import by_templates, literal

_MOST = 20_000  # samples that are looked at
_OF_EACH = 1_000  # of one folder


class Seen(NamedTuple):
    """One sample."""

    number: int  # in the table
    folders: tuple[str, ...]  # those that hold it, below `Outcome.top` and the one of its split
    stem: str
    ext: str
    label: int
    split: str


class Question(NamedTuple):
    """What the outcome could have lost, and each interpretation as the options of a command."""

    text: str
    readings: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a scan.

    Attributes:
        where: the source, for a person.
        root: the names of samples are relative to it, and it is `where` or in it.
        classes: class names in label order.
        kind: of the interpretation, a value of ``--as``.
    """

    where: Path
    root: Path
    kind: str
    files: Reader
    listing: SampleTable
    classes: Sequence[str]

    @classmethod
    def of(
        cls,
        where: Path,
        kind: str,
        source: Source,
        files: Reader,
        listing: SampleTable,
        classes: Sequence[str],
    ) -> "Outcome":
        """Return the outcome of a scan of a source, whose samples `files` reads."""
        tree = getattr(source, "tree", None)
        root = source.facts.root or (tree.root if tree else where)
        return cls(where, root, kind, files, listing, classes)

    @cached_property
    def prefix(self) -> str | None:
        """The path of `root` in the source, "" for the source itself; None if it is elsewhere."""
        path = os.path.relpath(self.root, self.where)
        return None if path.startswith(os.pardir) else "" if path == os.curdir else path

    def read(self, number: int) -> bytes | None:
        """Return the bytes of a sample's image; None if it has none that can be read."""
        try:
            image = self.files.read(self.listing[number]).image
        except BadImage:
            return None
        return image if isinstance(image, bytes) else None

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
            is_other = partial(self._is_beside, self._folder(begin))
            end = bisect_left(every, True, begin, key=is_other)
            found += every[begin : min(end, begin + _OF_EACH)]
            begin = end
        return found

    def _is_beside(self, folder: str, number: int) -> bool:
        return self._folder(number) != folder

    def _folder(self, number: int) -> str:
        return self.listing.name_of(number).rpartition("/")[0]

    @cached_property
    def _some(self) -> list[Seen]:
        """These samples, with all folders that hold them."""
        some = self.listing.take(self._numbers)
        labels, splits = some.labels.tolist(), some.splits.tolist()
        found = []
        for at, (label, split) in enumerate(zip(labels, splits, strict=True)):
            *folders, name = some.name_of(at).split("/")
            stem, _, ext = name.rpartition(".")
            found.append(Seen(self._numbers[at], tuple(folders), stem, ext, label, split))
        return found

    @cached_property
    def paths(self) -> frozenset[str]:
        """The folders that hold samples, relative to `root`."""
        return frozenset("/".join(one.folders) for one in self._some)

    @cached_property
    def top(self) -> tuple[str, ...]:
        """The folders that hold all samples."""
        return tuple(shared([one.folders for one in self._some]))

    @cached_property
    def _in_splits(self) -> list[Seen]:
        """Some samples, with their folders below that of their split."""
        up, splits = len(self.top), self._split_folders
        return [
            one._replace(folders=one.folders[up + (one.folders[up : up + 1] in splits) :])
            for one in self._some
        ]

    @cached_property
    def wrapper(self) -> tuple[str, ...]:
        """The folders in that of each split which hold all of its samples."""
        return tuple(shared([one.folders for one in self._in_splits]))

    @cached_property
    def seen(self) -> list[Seen]:
        """Some samples, at least the first ones of each folder."""
        up = len(self.wrapper)
        return [one._replace(folders=one.folders[up:]) for one in self._in_splits]

    @cached_property
    def _split_folders(self) -> Mapping[tuple[str, ...], str]:
        """The folders below the top that are splits -> the split of their samples."""
        up = len(self.top)
        found: dict[tuple[str, ...], set[str]] = defaultdict(set)
        for one in self._some:
            found[one.folders[up : up + 1]].add(one.split)
        each = {name: next(iter(splits)) for name, splits in found.items() if len(splits) == 1}
        is_division = len(each) == len(found) == len(set(each.values()))
        return {} if not is_division or () in each or "" in each.values() else each

    @cached_property
    def start(self) -> str:
        """The beginning of templates for the images; "" if all lie in the source."""
        parts = [literal(name) for name in (self.prefix or "", *self.top) if name]
        if splits := {name: split for (name,), split in self._split_folders.items()}:
            parts.append("{split}" if splits_of(sorted(splits)) == splits else "{folder}")
        return "".join(f"{part}/" for part in [*parts, *map(literal, self.wrapper)])

    @cached_property
    def starts(self) -> dict[str, str]:
        """The beginning of templates for the images of each split, without fields."""
        found = {}
        for folder, split in (self._split_folders or {(): ""}).items():
            names = (self.prefix or "", *self.top, *folder, *self.wrapper)
            found[split] = "".join(f"{literal(name)}/" for name in names if name)
        return found

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

    def example(self, one: Seen) -> str:
        """Return the path of a sample below the source."""
        return self.listing.name_of(one.number)

    def images_in(self, name: str) -> Iterator[tuple[str, str]]:
        """Yield the folder and the stem of some images below one of `names`."""
        for folders, samples in self.by_folder.items():
            if folders and folders[0] == name:
                yield from (("/".join(folders), one.stem) for one in samples)


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


def below(*names: str) -> str:
    """Return the template of a path by its literal names."""
    return "/".join(map(literal, names))
