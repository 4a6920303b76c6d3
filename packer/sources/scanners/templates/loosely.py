"""Which lines of lists belong to an image where no name is the same: by part of it, or by order.

A line may name an image without what the names of all images begin or end with, and a number with
other padding, as in ``1`` or pandas' ``1.0`` for ``000001``. The lines of a list that names none
belong to the images in the order of their names, if there are as many.
"""

import os
import re
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any

from packer.errors import UnusableInput
from packer.sources.scanners.templates.lists import Rows
from packer.sources.scanners.templates.template import KEY, PATH
from packer.sources.tables.images import HashIndex, name_hash
from packer.sources.tables.name_tokens import affixes_of
from packer.sources.tables.texts import as_number
from packer.words import are, listed, many, option

Images = Callable[
    [], Iterable[tuple[str, Mapping[str, str]]]
]  # their paths, and the fields of these
_LOOKED_AT = 1000  # images, for what all names share
_LONG = re.compile(r"(?<!\d)\d{5,}$")
_ZEROS = re.compile(r"(?<![\d.])0+(?=\d)")


def as_numbers(fields: Mapping[str, Any]) -> dict[str, str]:
    """Return the values with their numbers in one form."""
    return {name: as_number(str(value)) for name, value in fields.items()}


def as_part(value: Any) -> str:
    """Return a value as it is compared with a part of a name: 4 is ``04``, and P4 is ``P04``."""
    return _ZEROS.sub("", as_number(str(value)))


class Forms:
    """The images by the forms of their names."""

    def __init__(self, images: Images) -> None:
        self._images = images
        self._found: dict[tuple[str, ...], HashIndex] = {}

    def numbers(self, values: Mapping[str, Any], shared: Sequence[str]) -> list[int]:
        """Return the numbers of the images that a line's {key} names, of those that fit it."""
        if tuple(shared) not in self._found:
            self._found[tuple(shared)] = self._indexed(shared)
        text = str(values[KEY])
        known, form = self._found[tuple(shared)], as_number(text)
        if shared and (found := list(known.numbers(_hash(as_part(text), values, shared)))):
            return found
        form = form if form.isdigit() else as_number(_stem(text))
        return list(known.numbers(_hash(form, values, shared)))

    @cached_property
    def _affixes(self) -> list[tuple[str, str]]:
        return affixes_of([_stem(path) for path, _ in islice(self._images(), _LOOKED_AT)])

    def _indexed(self, shared: Sequence[str]) -> HashIndex:
        hashes, numbers = array("Q"), array("q")
        for number, (path, fields) in enumerate(self._images()):
            of_key = {as_part(fields[KEY])} if shared else set()  # as {patient}_{key} divides names
            for form in {*self._forms(_stem(path)), *of_key}:
                hashes.append(_hash(form, fields, shared))
                numbers.append(number)
        return HashIndex(hashes, numbers)

    def _forms(self, stem: str) -> Iterable[str]:
        yield as_number(stem.rpartition(".")[2])
        if long := _LONG.search(stem):  # as those of COCO, whose names begin with their split
            yield as_number(long[0])
        for before, behind in self._affixes:
            if stem.startswith(before) and stem.endswith(behind):
                yield as_number(stem[len(before) : len(stem) - len(behind)])


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path.replace("\\", "/")))[0]


def _hash(form: str, fields: Mapping[str, Any], shared: Sequence[str]) -> int:
    return name_hash("\0".join((form, *(as_part(fields.get(name, "")) for name in shared))))


def is_in_order(rows: Rows, shared: Sequence[str]) -> bool:
    """Return whether lines that share fields with paths differ: each is of one image."""
    if PATH in rows.names:
        raise UnusableInput(
            f"{listed(rows.files, 3)}: {{{PATH}}} does not name images in lists. Write {{{KEY}}} "
            f"for their names, such as {{{KEY}:COLUMN}}."
        )
    if not shared:
        return True
    seen: dict[tuple[str, ...], Any] = {}
    every = (rows[row] for row in range(len(rows)))
    return any(seen.setdefault(_group(fields, shared), fields) != fields for fields in every)


def _group(fields: Mapping[str, Any], shared: Sequence[str]) -> tuple[str, ...]:
    return tuple(as_number(str(fields.get(name, ""))) for name in shared)


class InOrder:
    """A list whose lines belong to the images in the order of their names."""

    def __init__(self, rows: Rows, shared: Sequence[str]) -> None:
        self.rows, self._shared = rows, shared
        self.row_of = array("q")

    @property
    def remark(self) -> str:
        """How the lines are read, for a person."""
        return f"The lines of {listed(self.rows.files, 3)} belong to the images in order of names."

    def bind(self, images: Images) -> None:
        """Find the line of each image; raise where there are more or fewer."""
        found = defaultdict(list)
        count = 0
        for count, (path, fields) in enumerate(images(), 1):
            found[_group(fields, self._shared)].append((natural(path), count - 1))
        lines = defaultdict(list)
        for row in range(len(self.rows)):
            lines[_group(self.rows[row], self._shared)].append(row)
        self.row_of = array("q", [-1]) * count
        for group, members in found.items():
            own = lines[group]
            if len(own) != len(members):
                files = listed(self.rows.files, 3)
                names = ", ".join(f"{{{name}}}" for name in self.rows.names)
                of_group = f" with {', '.join(group)}" if group else ""
                raise UnusableInput(
                    option("labels"),
                    f" {files}: none of {names} names an image, and for "
                    f"{many(len(members), 'image')}{of_group} there {are(len(own))} "
                    f"{many(len(own), 'line')}. Add {{key}} to it, or a field of another template.",
                )
            for (_, number), row in zip(sorted(members), own, strict=True):
                self.row_of[number] = row


def natural(path: str) -> list[tuple[int, str]]:
    """Return what sorts paths as people do: 2 before 10."""
    parts = re.split(r"(\d+)", path)
    return [(int(part), "") if at % 2 else (0, part) for at, part in enumerate(parts)]
