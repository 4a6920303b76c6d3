"""The rows of lists, in their order; kept as text, some 50 bytes a line, whatever they hold."""

import json
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import Any

from packer.errors import UnusableInput
from packer.samples.records import Skipped
from packer.sources.scanners.templates.lines import Line, ListTemplate, read_lines
from packer.sources.scanners.templates.template import KEY
from packer.sources.trees.tree import Tree

ROWS = "rows"  # the field of an image with the lines of it


@dataclass
class Rows:
    """The lines of all lists that have the same fields."""

    names: tuple[str, ...]
    is_optional: bool = False  # they may name some of the images only
    are_many: bool = False  # an image may have several
    files: list[str] = field(default_factory=list)
    text: bytearray = field(default_factory=bytearray)
    ends: "array[int]" = field(default_factory=lambda: array("Q"))
    lines: "array[int]" = field(default_factory=lambda: array("I"))  # their numbers in the file
    starts: list[int] = field(default_factory=list)  # the first row of each file
    skipped: list[Skipped] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def gives(self) -> frozenset[str]:
        """The fields of an image that has some of them."""
        names = frozenset(self.names)
        return names & {"split"} | {ROWS} if self.are_many else names - {KEY}

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, row: int) -> dict[str, Any]:
        begin = self.ends[row - 1] if row else 0
        values = json.loads(self.text[begin : self.ends[row]])
        pairs = zip(self.names, values, strict=True)
        return {name: value for name, value in pairs if value is not None}

    def where(self, row: int) -> str:
        """Return the file and the line of a row, for a person."""
        return f"{self.files[bisect_right(self.starts, row) - 1]}:{self.lines[row]}"

    def add(self, tree: Tree, template: ListTemplate) -> None:
        """Read what a template describes."""
        for path, fields in template.files(tree):
            self.files.append(path)
            self.starts.append(len(self))
            for line, found in self._without_header(path, template, tree):
                if isinstance(found, str):
                    self.skipped.append(Skipped(f"{path}:{line}", found, damaged=True))
                    continue
                found = template.divided(found)
                values = [{**fields, **found}.get(name) for name in self.names]
                self.text += json.dumps(values, separators=(",", ":")).encode()
                self.ends.append(len(self.text))
                self.lines.append(line)
            if len(self) == self.starts[-1]:
                raise UnusableInput(
                    f"{tree.root / path} has no line of the form {template.text!r}."
                )

    def _without_header(self, path: str, template: ListTemplate, tree: Tree) -> Iterator[Line]:
        """Yield the lines, but for a first one that has the names of columns."""
        lines = read_lines(tree, path, template, self.remarks)
        few = list(islice(lines, 3))
        while few and not template.has_columns and _is_header(*few[:2]):
            self.note_header(path)
            few = few[1:]
        yield from chain(few, lines)

    def note_header(self, path: str) -> None:
        """Note that the first line of a file has the names of its columns."""
        self.remarks.append(f"The first line of {path} is read as a header.")


def _is_header(line: Line, next_line: Line = (0, "")) -> bool:
    """Return whether a line is a count or has no fields, or words where the next has numbers."""
    (number, first), (_, second) = line, next_line
    if isinstance(first, str):
        return number <= 2 and (number <= 1 or not isinstance(second, str))
    if isinstance(second, str):
        return False
    pairs = [(first[name], second[name]) for name in first if isinstance(first[name], str)]
    return any(
        not any(map(str.isdigit, word)) and isinstance(number, str) and number.isdecimal()
        for word, number in pairs
    )


def read_lists(tree: Tree, templates: Sequence[ListTemplate]) -> list[Rows]:
    """Return the rows of all lists; those of the same fields follow each other."""
    groups: dict[object, Rows] = {}
    for template in templates:
        kind = template.names, template.is_optional, template.are_many
        groups.setdefault(kind, Rows(*kind)).add(tree, template)
    return sorted(groups.values(), key=lambda rows: KEY not in rows.names)
