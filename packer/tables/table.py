"""What a table is, and those of text: CSV, TSV and JSONL, read a record at a time.

A record that cannot be understood is refused with the line on which it begins, and reading goes on
with the line after: a quote that is never closed costs its own line and no other.
"""

import json
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol

from packer.errors import BadImage, UnusableInput
from packer.files.snapshot import Watched
from packer.files.text import PLAIN, Encoding, encoding_of, open_text
from packer.samples.records import Skipped
from packer.tables.header import CSV, MAX_RECORD, Form, RecordLines, fields_of, read_header
from packer.trees.walk import is_named_as_image


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
    def parse(self, lines: Iterator[str]) -> dict[str, Any]:
        """Return the record that begins with the next of `lines`, {} for a blank line."""

    @property
    def files(self) -> tuple[Watched, ...]:
        """What the table is read from."""
        return (self.file,)

    def records(self, columns: Sequence[str] | None = None) -> Iterator[Record | Skipped]:
        """Yield every record in order, with all of its columns."""
        line, start = self.first_line, self.begin
        with open_text(self.file, self.encoding) as file:
            file.seek(start)
            while True:
                where = f"{self.file.path.name}:{line}"
                lines = RecordLines(file)
                try:
                    fields = self.parse(lines)
                except BadImage as error:
                    yield Skipped(where, str(error))
                    file.seek(start)
                    start += _skip_line(file)
                    line += 1
                    continue
                if not lines.count:
                    return
                if fields:
                    yield Record(where, fields)
                line, start = line + lines.count, start + lines.size


@dataclass(frozen=True)
class Delimited(LineTable):
    """CSV (RFC 4180) or TSV with a line of column names; values are text.

    A column without a name, as pandas writes its index, is none.
    """

    form: Form = CSV
    names: tuple[str, ...] = ()  # of all columns as they come, "" for those without one

    @classmethod
    def open(cls, file: Watched, delimiter: str) -> "Delimited":
        """Read the names of the columns, below a title or comments."""
        encoding = encoding_of(file)
        with open_text(file, encoding) as content:
            header = read_header(file.path, content, delimiter)
        names = [name.strip() for name in header.names]
        if rows := [name for name in names if is_named_as_image(name)]:
            raise UnusableInput(
                f"{file.path}: its first line names no columns but {rows[0]!r}. Write a line of "
                "names above it, such as image,xmin,ymin,xmax,ymax,label."
            )
        columns = tuple(dict.fromkeys(filter(None, names)))
        return cls(file, columns, header.begin, header.line, encoding, header.form, tuple(names))

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

    def parse(self, lines: Iterator[str]) -> dict[str, Any]:
        """The fields of the next row."""
        row = fields_of(lines, self.form)
        if row and len(row) != len(self.names):
            raise BadImage(f"it has {len(row)} fields, and the first line {len(self.names)}")
        return {name: value for name, value in zip(self.names, row, strict=False) if name}


@dataclass(frozen=True)
class JsonLines(LineTable):
    """A JSON object on each line."""

    nested: frozenset[str] = frozenset()  # the columns that hold nothing but lists and objects

    @classmethod
    def open(cls, file: Watched) -> "JsonLines":
        """Gather the names of all members."""
        encoding = encoding_of(file)
        with open_text(file, encoding) as content:
            begin = content.tell()
        names: dict[str, bool] = {}  # whether all values so far are lists and objects
        for item in cls(file, begin=begin, encoding=encoding).records():
            for name, value in item.fields.items() if isinstance(item, Record) else ():
                is_nested = isinstance(value, list | dict)
                names[name] = is_nested and names.get(name, True)
        nested = frozenset(name for name, is_nested in names.items() if is_nested)
        return cls(file, tuple(names), begin, encoding=encoding, nested=nested)

    @property
    def compound(self) -> Mapping[str, str]:
        """The columns that hold nothing but lists and objects."""
        return dict.fromkeys(self.nested, "lists or objects")

    def parse(self, lines: Iterator[str]) -> dict[str, Any]:
        """The object on the next line."""
        text = next(lines, "").strip()
        try:
            fields = json.loads(text or "{}")
        except RecursionError as error:
            raise BadImage("it is nested too deeply") from error
        except ValueError as error:
            raise BadImage(f"it is not JSON: {error}") from error
        if not isinstance(fields, dict):
            raise BadImage("it is not a JSON object")
        return fields


def _skip_line(file: BinaryIO) -> int:
    size, part = 0, b""  # a line may be longer than can be held
    while not part.endswith(b"\n") and (part := file.readline(MAX_RECORD)):
        size += len(part)
    return size
