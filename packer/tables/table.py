"""What a table is, and those of text: CSV, TSV and JSONL, read a record at a time.

A record that cannot be understood is refused with the line on which it begins, and reading goes on
with the line after: a quote that is never closed costs its own line and no other.
"""

import csv
import json
import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO, Protocol

from packer.errors import BadImage, UnusableInput
from packer.files.snapshot import Watched
from packer.files.text import PLAIN, Encoding, encoding_of, open_text
from packer.samples.records import Skipped
from packer.tables.names import USUAL
from packer.trees.shape import plain
from packer.trees.walk import is_named_as_image

_EXCEL = re.compile(rb"sep=(.)", re.IGNORECASE)
MAX_RECORD = 16 << 20  # bytes; a longer one is not a line of a table


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
                lines = _Lines(file)
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

    delimiter: str = ","
    spaced: bool = False  # whether there is a space behind each delimiter
    names: tuple[str, ...] = ()  # of all columns as they come, "" for those without one

    @classmethod
    def open(cls, file: Watched, delimiter: str) -> "Delimited":
        """Read the names of the columns, below a title or comments."""
        encoding = encoding_of(file)
        with open_text(file, encoding) as content:
            begin, line, names, delimiter = _header(file, content, delimiter)
        spaced = len(names) > 1 and all(name.startswith(" ") for name in names[1:])
        names = [name.strip() for name in names]
        if rows := [name for name in names if is_named_as_image(name)]:
            raise UnusableInput(
                f"{file.path}: its first line names no columns but {rows[0]!r}. Write a line of "
                "names above it, such as image,xmin,ymin,xmax,ymax,label."
            )
        columns = tuple(filter(None, names))
        if twice := [name for name in dict.fromkeys(columns) if columns.count(name) > 1]:
            raise UnusableInput(
                f"{file.path}: the name of a column comes twice, {twice[0]!r}: rename one of the "
                f"two in its first line, {', '.join(columns)}."
            )
        return cls(file, columns, begin, line, encoding, delimiter, spaced, tuple(names))

    @property
    def skipped(self) -> tuple[Skipped, ...]:
        """The columns without a name."""
        unnamed = (number for number, name in enumerate(self.names, 1) if not name)
        each = (f"{self.file.path.name}: column {number}" for number in unnamed)
        return tuple(Skipped(name, "it has no name", ignored=True) for name in each)

    def parse(self, lines: Iterator[str]) -> dict[str, Any]:
        """The fields of the next row."""
        row = _row(lines, self.delimiter, self.spaced)
        if row and len(row) != len(self.names):
            raise BadImage(f"it has {len(row)} fields, and the first line {len(self.names)}")
        return {name: value for name, value in zip(self.names, row, strict=False) if name}


def _header(file: Watched, content: BinaryIO, usual: str) -> tuple[int, int, list[str], str]:
    """Return where the rows begin, in which line, the names of the columns, and the delimiter.

    Above the names there may be comments, Excel's ``sep=;``, blank lines, and a title: one field
    above a row of names, one of which is usual.
    """
    line, chosen = 1, ""
    while True:
        start = content.tell()
        first = content.readline(MAX_RECORD)
        bare = first.strip(b" \t\r\n,;")
        excel = _EXCEL.fullmatch(first.strip()) if line == 1 else None
        if excel:
            chosen = excel[1].decode("latin-1")
        elif first and (not bare or (bare.startswith(b"#") and not _usual(first, usual))):
            pass
        else:
            delimiter = chosen or _delimiter(first, usual)
            names, begin, lines = _names(file, content, start, delimiter, line)
            if sum(map(bool, names)) != 1 or plain(names[0]) in USUAL:
                return begin, line + lines, names, delimiter
            below = next(filter(lambda text: text.strip(b" \t\r\n,;"), content), b"")
            if len(_delimited(below, usual)) < 2 or not _usual(below, usual):
                return begin, line + lines, names, delimiter
            content.seek(begin)
            line += lines - 1
        line += 1


def _delimited(line: bytes, usual: str) -> list[str]:
    return line.decode("utf-8", "replace").split(_delimiter(line, usual))


def _usual(line: bytes, usual: str) -> bool:
    """Return whether a field of a line is a usual name of a column."""
    return any(plain(field) in USUAL for field in _delimited(line, usual))


def _names(
    file: Watched, content: BinaryIO, start: int, delimiter: str, line: int
) -> tuple[list[str], int, int]:
    content.seek(start)
    lines = _Lines(content)
    try:
        names = _row(lines, delimiter)
    except BadImage as error:
        raise UnusableInput(f"{file.path}: line {line} names no columns: {error}.") from error
    content.seek(start + lines.size)
    return names, start + lines.size, lines.count


def _delimiter(line: bytes, usual: str) -> str:
    """Return what divides the columns: `usual`, else the line's semicolon or tab."""
    others = [delimiter for delimiter in (";", "\t", "|") if delimiter.encode() in line]
    return others[0] if others and usual.encode() not in line else usual


def _row(lines: Iterator[str], delimiter: str, spaced: bool = False) -> list[str]:
    csv.field_size_limit(MAX_RECORD)
    rows = csv.reader(lines, delimiter=delimiter, skipinitialspace=spaced, strict=True)
    try:
        return next(rows, [])
    except csv.Error as error:
        raise BadImage(f"it is malformed: {error}") from error


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


class _Lines(Iterator[str]):
    """The lines of one record, counted; a bound on them all."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.count = self.size = 0

    def __next__(self) -> str:
        data = self._file.readline(MAX_RECORD + 1 - self.size)
        if not data:
            raise StopIteration
        self.count += 1
        self.size += len(data)
        if self.size > MAX_RECORD:
            raise BadImage(f"it has more than {MAX_RECORD} bytes")
        if b"\0" in data:
            raise BadImage("it holds a NUL byte")
        try:
            return data.decode()
        except UnicodeDecodeError as error:
            raise BadImage("it is not UTF-8") from error


def _skip_line(file: BinaryIO) -> int:
    size, part = 0, b""  # a line may be longer than can be held
    while not part.endswith(b"\n") and (part := file.readline(MAX_RECORD)):
        size += len(part)
    return size
