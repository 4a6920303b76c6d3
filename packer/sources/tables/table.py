"""Tables, and the one reader of text as records: CSV, TSV, JSON lines, lines of any form.

A record that cannot be understood is refused with the line on which it begins, and reading goes on
with the line after: a quote that is never closed costs its own line and no other.
"""

import csv
import json
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, NamedTuple, TypeVar

from packer.errors import BadImage, UnusableInput
from packer.files.snapshot import Watched
from packer.files.text import PLAIN, Encoding, encoding_of, open_text
from packer.samples.records import Skipped
from packer.sources.tables.header import MAX_RECORD, Lines, read_header
from packer.sources.trees.walk import is_named_as_image

csv.field_size_limit(MAX_RECORD)
Found = TypeVar("Found")


class Record(NamedTuple):
    """One record; Parquet's have a place and a block."""

    where: str  # the file and the line or row, for a person
    fields: Mapping[str, Any]
    place: tuple[int, ...] = ()  # the file, the row group, the row in it and the row in the file
    block: int = -1  # see `Sample`


@dataclass(frozen=True)
class Table(ABC):
    """A table of records."""

    files: tuple[Watched, ...]  # what it is read from
    columns: tuple[str, ...] = ()
    # The columns not of single texts or numbers, and what they hold: no labels.
    compound: Mapping[str, str] = field(default_factory=dict)
    # The columns that the table declares to hold labels, with the classes in label order.
    class_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fault: str = ""  # why its rows cannot be read, where they name images; "" if they can
    skipped: tuple[Skipped, ...] = ()  # what means nothing, such as a column without a name

    @abstractmethod
    def records(self, columns: Sequence[str] | None = None) -> Iterator[Record | Skipped]:
        """Yield every record in a fixed order; with `columns`, others may be missing."""

    def through(
        self, look: Callable[[Iterator[Record | Skipped]], Iterable[Found]]
    ) -> Iterable[Found | Skipped]:
        """Yield what `look` makes of all records; it must pickle."""
        return look(self.records())

    def array_columns(self) -> dict[str, str]:
        """Return the columns of lists of numbers, all of one length, each with numpy's type."""
        return {}


@dataclass(frozen=True)
class LineTable(Table):
    """A table of text, in one file."""

    begin: int = 0  # where the first record begins
    first_line: int = 1  # the number of its line
    encoding: Encoding = PLAIN

    @abstractmethod
    def parse(self, lines: Iterator[str]) -> Iterator[Any]:
        """Yield the records of lines, None for a blank one; raise BadImage."""

    def numbered(self) -> Iterator[tuple[int, Any]]:
        """Yield the number of each record's first line, and the record, or why there is none."""
        number, start = self.first_line, self.begin
        with open_text(self.files[0], self.encoding) as file:
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
        name = self.files[0].path.name
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
                f"{file.path}: its first line has data ({rows[0]!r}) instead of names of "
                "columns. Add a line of names above it, such as "
                "image,xmin,ymin,xmax,ymax,label."
            )
        named = list(filter(None, names))
        twice = next((name for name in named if named.count(name) > 1), "")
        fault = twice and (
            f"{file.path}: two columns have the name {twice!r}. Rename one of them in the "
            f"first line, {', '.join(named)}."
        )
        unnamed = (f"{file.path.name}: column {n}" for n, name in enumerate(names, 1) if not name)
        return cls(
            (file,),
            tuple(dict.fromkeys(named)),
            fault=fault,
            skipped=tuple(Skipped(column, "it has no name", ignored=True) for column in unnamed),
            begin=begin,
            first_line=line,
            encoding=encoding,
            form=form,
            names=tuple(names),
        )

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

    @classmethod
    def open(cls, file: Watched) -> "JsonLines":
        """Gather the names of all members."""
        encoding = encoding_of(file)
        names: dict[str, bool] = {}  # whether all values so far are lists and objects
        for _, fields in cls((file,), encoding=encoding).numbered():
            for name, value in fields.items() if isinstance(fields, dict) else ():
                is_nested = isinstance(value, list | dict)
                names[name] = is_nested and names.get(name, True)
        nested = (name for name, is_nested in names.items() if is_nested)
        compound = dict.fromkeys(nested, "lists or objects")
        return cls((file,), tuple(names), compound, encoding=encoding)

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
