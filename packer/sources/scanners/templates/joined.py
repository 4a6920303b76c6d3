"""The lines of lists that belong to each image: by its name, then by the fields that both have.

An image costs 8 bytes for each list that names images, and 8 for its path; a line as much.
"""

import os
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from packer.errors import BadImage, Damaged, UnusableInput
from packer.samples.records import Skipped
from packer.sources.scanners.templates.lists import ROWS, Rows
from packer.sources.scanners.templates.loosely import (
    Forms,
    Images,
    InOrder,
    as_numbers,
    is_in_order,
)
from packer.sources.scanners.templates.places import ROLES
from packer.sources.scanners.templates.template import KEY
from packer.sources.tables.images import NO_IMAGE, HashIndex, ImageIndex, name_hash
from packer.sources.tables.texts import as_number
from packer.sources.trees.shape import inside
from packer.sources.trees.tree import Tree
from packer.words import listed

_NAME = re.compile(r"[\d/\\]|\.[A-Za-z]+$")  # in what is no name of a column
_LOOSELY = "{} names images without a part that all names share, or as numbers."
Fields = Mapping[str, Any]
Match = Callable[[str], Mapping[str, str] | None]


@dataclass
class _Bound:
    """A list that names images, and the row of each."""

    rows: Rows
    shared: list[str]  # fields that paths have, too
    keys: "array[int]" = field(default_factory=lambda: array("Q"))
    row_of: "array[int]" = field(default_factory=lambda: array("q"))
    others: dict[int, int] = field(default_factory=dict)  # image -> another row of other values
    further: dict[int, list[int]] = field(
        default_factory=dict
    )  # image -> more rows, if it has many


class Joined:
    """The lists of a source, and which rows belong to an image."""

    def __init__(
        self, tree: Tree, groups: Sequence[Rows], known: Iterable[str], folders: Sequence[str]
    ) -> None:
        """`known` are the fields of images' paths, which may be relative to `folders`."""
        self._folders = folders
        self._remarks: list[str] = []
        self._tree = tree
        fields = set(known) - {KEY}
        fields_of_paths = frozenset(fields)
        self._bound = [
            _Bound(rows, sorted(fields.intersection(rows.names)))
            for rows in groups
            if KEY in rows.names
        ]
        fields.update(*(bound.rows.gives for bound in self._bound))
        self._further: list[tuple[Rows, list[str], HashIndex]] = []
        self._ordered: list[InOrder] = []
        left = [rows for rows in groups if KEY not in rows.names]
        while left:
            linked = [rows for rows in left if fields.intersection(rows.names)]
            rows = (linked or left)[0]
            left.remove(rows)
            shared = sorted(fields.intersection(rows.names))
            if own := fields_of_paths.intersection(shared):  # roles of other lists are no keys
                shared = [name for name in shared if name in own or name not in ROLES]
            if fields_of_paths.issuperset(shared) and is_in_order(rows, shared):
                self._ordered.append(InOrder(rows, shared))
            else:
                self._further.append((rows, shared, _indexed(rows, shared)))
            fields.update(rows.names)
        self.names = frozenset(fields)
        self._paths = HashIndex(array("Q"))
        self.skipped = [item for rows in groups for item in rows.skipped]
        self._groups = groups
        self.newest_ns = max(tree.measure(file)[1] for file in self.files)

    @property
    def remarks(self) -> tuple[str, ...]:
        """Sentences on how the lists are read."""
        of_rows = (remark for rows in self._groups for remark in rows.remarks)
        in_order = (ordered.remark for ordered in self._ordered)
        return tuple(dict.fromkeys((*of_rows, *self._remarks, *in_order)))

    @property
    def files(self) -> frozenset[str]:
        """The paths of all lists."""
        return frozenset(file for rows in self._groups for file in rows.files)

    def bind(self, images: Images, match: Match) -> None:
        """Find the rows of all images, each given by its path and the fields of that."""
        paths = array("Q")
        for path, fields in images():
            paths.append(name_hash(path))
            for bound in self._bound:
                bound.keys.append(_hash(fields, [KEY, *bound.shared]))
        self._paths = HashIndex(paths)
        self._forms = Forms(images)
        for ordered in self._ordered:
            ordered.bind(images)
        index = ImageIndex(self._tree)
        for bound in self._bound:
            bound.row_of = array("q", [-1]) * len(paths)
            self._bind(bound, index, match)

    def _bind(self, bound: _Bound, index: ImageIndex, match: Match) -> None:
        keyed, rows, row_of = HashIndex(bound.keys), bound.rows, bound.row_of
        bound.keys = array("Q")
        lost: list[Skipped] = []
        heads: dict[int, Skipped] = {}  # which may be the names of columns
        for row in range(len(rows)):
            values = rows[row]
            key = str(values.get(KEY, ""))
            try:
                image = self._image_of(values, bound.shared, keyed, index, match)
            except BadImage as error:
                item = Skipped(key, f"{rows.where(row)} names it, and {error}", damaged=True)
                if row in rows.starts and isinstance(error, Damaged) and not _NAME.search(key):
                    heads[row] = item
                else:
                    lost.append(item)
                continue
            if row_of[image] < 0:
                row_of[image] = row
            elif rows.are_many:
                bound.further.setdefault(image, []).append(row)
            elif rows[row_of[image]] | {KEY: ""} != values | {KEY: ""}:
                bound.others[image] = row
        if len(heads) + len(lost) < len(rows):
            for row in heads:
                rows.note_header(rows.where(row).rpartition(":")[0])
            heads = {}
        if rows.is_optional and len(rows) and len(lost) + len(heads) == len(rows):
            raise UnusableInput(f"No line of {listed(rows.files, 3)} names an image.")
        self.skipped += [*lost, *heads.values()]

    def _image_of(
        self, values: Fields, shared: list[str], keyed: HashIndex, index: ImageIndex, match: Match
    ) -> int:
        text, why = str(values[KEY]), NO_IMAGE
        found = list(keyed.numbers(_hash(values, [KEY, *shared])))
        if not found:
            path = os.path.normpath(text.replace("\\", "/")).lstrip("/")
            exact = (inside(folder, path) for folder in self._folders)
            paths = [each for each in exact if self._number(each) >= 0][:1]
            paths = paths or index.ending_with(path) or index.below_another(path)
            for each in paths:
                fields, number = match(each) or {}, self._number(each)
                other = [n for n in shared if fields.get(n) not in (None, str(values[n]))]
                if other:
                    own, given = fields[other[0]], values[other[0]]
                    why = f"the {other[0]} of its path is {own!r}, not {given!r}"
                elif number >= 0:
                    found.append(number)
            if len(found) > 1:
                raise BadImage(f"it may be {listed(paths, 2)}")
        if not found and (found := self._forms.numbers(values, shared)):
            files = [file for bound in self._bound for file in bound.rows.files]
            self._remarks.append(_LOOSELY.format(listed(files, 3)))
        if len(found) > 1:
            raise BadImage(f"{len(found)} images have that {{key}}")
        if not found:
            raise Damaged(why)
        return found[0]

    def _number(self, path: str) -> int:
        return next(self._paths.numbers(name_hash(path)), -1)

    def fields_of(self, path: str, fields: Mapping[str, str]) -> dict[str, Any]:
        """Return all fields of an image; raise BadImage if a list lacks it or contradicts."""
        found: dict[str, Any] = dict(fields)
        number = self._number(path)
        for bound in self._bound:
            rows, row = bound.rows, bound.row_of[number] if number >= 0 else -1
            if row < 0 and rows.is_optional:
                continue
            if row < 0:
                raise BadImage(f"no line of {listed(rows.files, 3)} names it")
            if number in bound.others:
                both = f"{rows.where(row)} and {rows.where(bound.others[number])}"
                raise BadImage(f"{both} name it with different values")
            own = rows[row]
            if rows.are_many:
                own = _of_many(rows, [row, *bound.further.get(number, ())])
                own[ROWS] = found.pop(ROWS, []) + own[ROWS]  # of several lists
            same = {name for name in bound.shared if name in found}  # which found the row
            _merge(found, {n: own[n] for n in own if n not in same}, rows.where(row))
        for ordered in self._ordered:
            rows, row = ordered.rows, ordered.row_of[number]
            _merge(found, rows[row], rows.where(row))
        for rows, shared, index in self._further:
            numbers = list(index.numbers(_hash(found, shared)))
            numbers = numbers or list(index.numbers(_hash(as_numbers(found), shared)))
            if not numbers and rows.is_optional:
                continue
            if not numbers:
                values = ", ".join(f"{name} {found.get(name)!r}" for name in shared)
                raise BadImage(f"{listed(rows.files, 3)} has no line with {values}")
            row = numbers[0]
            if any(rows[other] != rows[row] for other in numbers[1:]):
                both = f"{rows.where(row)} and {rows.where(numbers[1])}"
                raise BadImage(f"{both} belong to it, with different values")
            _merge(found, rows[row], rows.where(row))
        return found

    def values(self, name: str) -> Iterator[Any]:
        """Yield the values of a field in the lists that have it, in their order."""
        for bound in self._bound:
            if name in bound.rows.names:
                used = np.unique(np.frombuffer(bound.row_of, np.int64))
                these = (bound.rows[row] for row in used[used >= 0].tolist())
                yield from (fields[name] for fields in these if name in fields)
        for rows in (*(one[0] for one in self._further), *(one.rows for one in self._ordered)):
            if name in rows.names:
                every = (rows[row] for row in range(len(rows)))
                yield from (fields[name] for fields in every if name in fields)


def _of_many(rows: Rows, numbers: Sequence[int]) -> dict[str, Any]:
    """Return the fields of an image that has many rows: its split, and a list of the others."""
    each = [rows[number] for number in numbers]
    splits = {name: value for name, value in each[0].items() if name == "split"}
    own = [{n: v for n, v in one.items() if n not in (KEY, "split")} for one in each]
    return {**splits, ROWS: own}


def _indexed(rows: Rows, shared: Sequence[str]) -> HashIndex:
    """Return the rows by the hash of their values, and of these as numbers where they differ."""
    hashes, numbers = array("Q"), array("q")
    for row in range(len(rows)):
        for one in {_hash(rows[row], shared), _hash(as_numbers(rows[row]), shared)}:
            hashes.append(one)
            numbers.append(row)
    return HashIndex(hashes, numbers)


def _hash(fields: Fields, names: Sequence[str]) -> int:
    return name_hash("\0".join(str(fields.get(name, "")) for name in names))


def _merge(found: dict[str, Any], more: Fields, where: str) -> None:
    for name, value in more.items():
        own = found.get(name, value)
        if name != KEY and as_number(str(own)) != as_number(str(value)):
            raise BadImage(f"its {name} is {found[name]!r}, and {value!r} in {where}")
        if name != KEY and name not in found:
            found[name] = value
