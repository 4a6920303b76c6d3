"""What a table is, and the one reader of text as records: CSV, TSV, JSON lines, lines of any form.

A record that cannot be understood is refused with the line on which it begins, and reading goes on
with the line after: a quote that is never closed costs its own line and no other.
"""

import csv
import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Protocol

from packer.errors import BadImage, UnusableInput
from packer.files.snapshot import Watched
from packer.files.text import PLAIN, Encoding, encoding_of, open_text
from packer.samples.records import Skipped
from packer.tables.header import MAX_RECORD, Lines, read_header
from packer.trees.walk import is_named_as_image

DELIMITERS = {".csv": ",", ".tsv": "\t"}  # what divides the columns of a file of that name
JSON_LINES = (".jsonl", ".ndjson")
TEXTS = (*DELIMITERS, *JSON_LINES)
PARQUET = ".parquet"

csv.field_size_limit(MAX_RECORD)


@dataclass(frozen=True)
class Record:
    """One record; Parquet's have a place and a block."""

    where: str  # the file and the line or row, for a person
    fields: Mapping[str, Any]
    place: tuple[int, ...] = ()  # the file, the row group, the row in it and the row in the file
    block: int = -1  # see `Sample`


class Table(Protocol):
    """A table of records."""

    @property
    def files(self) -> tuple[Watched, ...]:
        """What it is read from."""

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""

    @property
    def compound(self) -> Mapping[str, str]:
        """The columns not of single texts or numbers, and what they hold: no labels."""
        return {}

    @property
    def class_names(self) -> Mapping[str, tuple[str, ...]]:
        """The columns that the table declares to hold labels, with the classes in label order."""
        return {}

    @property
    def fault(self) -> str:
        """Why its rows cannot be read, where they name images; "" if they can."""
        return ""

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """What of the whole table means nothing, such as a column without a name."""
        return ()

    def records(self, columns: Sequence[str] | None = None) -> Iterator[Record | Skipped]:
        """Yield every record in a fixed order; with `columns`, others may be missing."""


@dataclass(frozen=True)
class LineTable(Table):
    """A table of text."""

    file: Watched
    columns: tuple[str, ...] = ()
    begin: int = 0  # where the first record begins
    first_line: int = 1  # the number of its line
    encoding: Encoding = PLAIN

    @abstractmethod
    def parse(self, lines: Iterator[str]) -> Iterator[Any]:
        """Yield the records of lines, None for a blank one; raise BadImage."""

    @property
    def files(self) -> tuple[Watched, ...]:
        """What the table is read from."""
        return (self.file,)

    def numbered(self) -> Iterator[tuple[int, Any]]:
        """Yield the number of each record's first line, and the record, or why there is none."""
        number, start = self.first_line, self.begin
        with open_text(self.file, self.encoding) as file:
            file.seek(max(start, file.tell()))
            start = file.tell()
            lines = Lines(file)
            records = self.parse(iter(lines))
            while True:
                lines.count = lines.size = 0
                try:
                    found = next(records, None)
                except (BadImage, csv.Error) as error:
                    is_csv = isinstance(error, csv.Error)
                    yield number, BadImage(f"it is malformed: {error}") if is_csv else error
                    file.seek(start)
                    start += _skip_line(file)
                    number += 1
                    records = self.parse(iter(lines))
                    continue
                if not lines.count:
                    return
                if found is not None:
                    yield number, found
                number, start = number + lines.count, start + lines.size

    def records(self, columns: Sequence[str] | None = None) -> Iterator[Record | Skipped]:
        """Yield every record in order, with all of its columns."""
        name = self.file.path.name
        for number, found in self.numbered():
            if isinstance(found, dict):
                yield Record(f"{name}:{number}", found)
            else:
                reason = str(found) if isinstance(found, BadImage) else "it is not a JSON object"
                yield Skipped(f"{name}:{number}", reason)


@dataclass(frozen=True)
class Delimited(LineTable):
    """CSV (RFC 4180), TSV or the like with a line of column names; values are text.

    A column without a name, as pandas writes its index, is none.
    """

    form: Mapping[str, Any] = field(default_factory=dict)  # how columns are divided, for `csv`
    names: tuple[str, ...] = ()  # of all columns as they come, "" for those without one

    @classmethod
    def open(
        cls, file: Watched, delimiter: str = ",", wanted: frozenset[str] = frozenset()
    ) -> "Delimited":
        """Read the names of the columns, below a title or comments.

        The `delimiter` is the usual one of such a file; `wanted` are columns that it has to have.
        """
        encoding = encoding_of(file)
        with open_text(file, encoding) as content:
            found, line, form = read_header(file.path, content, delimiter, wanted)
            begin = content.tell()
        names = [name.strip() for name in found]
        if rows := [name for name in names if is_named_as_image(name)]:
            raise UnusableInput(
                f"{file.path}: its first line names no columns but {rows[0]!r}. Write a line of "
                "names above it, such as image,xmin,ymin,xmax,ymax,label."
            )
        columns = tuple(dict.fromkeys(filter(None, names)))
        return cls(file, columns, begin, line, encoding, form, tuple(names))

    @property
    def fault(self) -> str:
        """A name that two columns have."""
        names = list(filter(None, self.names))
        twice = next((name for name in self.columns if names.count(name) > 1), "")
        return twice and (
            f"{self.file.path}: the name of a column comes twice, {twice!r}: rename one of the two "
            f"in its first line, {', '.join(names)}."
        )

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """The columns without a name."""
        unnamed = (number for number, name in enumerate(self.names, 1) if not name)
        each = (f"{self.file.path.name}: column {number}" for number in unnamed)
        return tuple(Skipped(name, "it has no name", ignored=True) for name in each)

    def parse(self, lines: Iterator[str]) -> Iterator[dict[str, Any] | None]:
        """Yield the fields of each row."""
        width, has_all = len(self.names), all(self.names)
        for row in csv.reader(lines, **self.form):
            if row and len(row) != width:
                raise BadImage(f"it has {len(row)} fields, and the first line {width}")
            found = dict(zip(self.names, row, strict=False))
            if not has_all:
                found.pop("", None)
            yield found if row else None


@dataclass(frozen=True)
class JsonLines(LineTable):
    """A JSON value on each line, of which objects are records."""

    nested: frozenset[str] = frozenset()  # the columns that hold nothing but lists and objects

    @classmethod
    def open(cls, file: Watched) -> "JsonLines":
        """Gather the names of all members."""
        encoding = encoding_of(file)
        names: dict[str, bool] = {}  # whether all values so far are lists and objects
        for _, fields in cls(file, encoding=encoding).numbered():
            for name, value in fields.items() if isinstance(fields, dict) else ():
                is_nested = isinstance(value, list | dict)
                names[name] = is_nested and names.get(name, True)
        nested = frozenset(name for name, is_nested in names.items() if is_nested)
        return cls(file, tuple(names), encoding=encoding, nested=nested)

    @property
    def compound(self) -> Mapping[str, str]:
        """The columns that hold nothing but lists and objects."""
        return dict.fromkeys(self.nested, "lists or objects")

    def parse(self, lines: Iterator[str]) -> Iterator[Any]:
        """Yield the value of each line."""
        for line in lines:
            try:
                found = json.loads(line.strip() or "{}")
            except RecursionError as error:
                raise BadImage("it is nested too deeply") from error
            except ValueError as error:
                raise BadImage(f"it is not JSON: {error}") from error
            yield None if found == {} else found


def _skip_line(file: BinaryIO) -> int:
    size, part = 0, b""  # a line may be longer than can be held
    while not part.endswith(b"\n") and (part := file.readline(MAX_RECORD)):
        size += len(part)
    return size
