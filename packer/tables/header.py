"""The lines of CSV and TSV: the names of the columns, what lies above them, and rows."""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

from packer.errors import BadImage, UnusableInput
from packer.tables.names import USUAL
from packer.trees.shape import plain

MAX_RECORD = 16 << 20  # bytes; a longer one is not a line of a table
_EXCEL = re.compile(rb"sep=(.)", re.IGNORECASE)
_EMPTY = b" \t\r\n,;"


class RecordLines(Iterator[str]):
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


@dataclass(frozen=True)
class Form:
    """How a table of text divides its columns."""

    delimiter: str = ","
    is_spaced: bool = False  # whether there is a space behind each delimiter
    is_quoted: bool = True  # whether fields may stand in quotes


CSV = Form()


@dataclass(frozen=True)
class Header:
    """The names of the columns, and where the rows below them begin."""

    names: list[str]  # as they come, with spaces
    begin: int
    line: int
    form: Form


def read_header(path: Path, content: BinaryIO, usual: str) -> Header:
    """Read the names of the columns; the delimiter is `usual`, or what the line has in its place.

    Above the names there may be comments, Excel's ``sep=;``, blank lines, and a title: one field
    above a row of names, one of which is usual.
    """
    line, chosen = 1, ""
    while True:
        start = content.tell()
        first = content.readline(MAX_RECORD)
        bare = first.strip(_EMPTY)
        excel = _EXCEL.fullmatch(first.strip()) if line == 1 else None
        if excel:
            chosen = excel[1].decode("latin-1")
        elif not first or (bare and (not bare.startswith(b"#") or _usual(first, usual))):
            content.seek(start)
            header = _names(path, content, chosen or _delimiter(first, usual), line)
            if sum(map(bool, header.names)) != 1 or plain("".join(header.names)) in USUAL:
                return header
            below = next(filter(lambda text: text.strip(_EMPTY), content), b"")
            if len(_divided(below, usual)) < 2 or not _usual(below, usual):
                return header
            content.seek(header.begin)
            line = header.line - 1
        line += 1


def fields_of(lines: Iterator[str], form: Form) -> list[str]:
    """Return the fields of the next row, none for a blank line; raise BadImage."""
    csv.field_size_limit(MAX_RECORD)
    quoting: Any = csv.QUOTE_MINIMAL if form.is_quoted else csv.QUOTE_NONE
    how: Any = {"skipinitialspace": form.is_spaced, "quoting": quoting, "strict": True}
    try:
        return next(csv.reader(lines, delimiter=form.delimiter, **how), [])
    except csv.Error as error:
        raise BadImage(f"it is malformed: {error}") from error


def _names(path: Path, content: BinaryIO, delimiter: str, line: int) -> Header:
    start, form = content.tell(), Form(delimiter)
    while True:
        content.seek(start)
        lines = RecordLines(content)
        try:
            names = fields_of(lines, form)
            break
        except BadImage as error:
            if delimiter != "\t" or not form.is_quoted:
                raise UnusableInput(f"{path}: line {line} names no columns: {error}.") from error
            form = replace(form, is_quoted=False)  # quotes are signs as others where tabs divide
    if len(names) > 1 and all(name.startswith(" ") for name in names[1:]):
        form = replace(form, is_spaced=True)
    content.seek(begin := start + lines.size)
    return Header(names, begin, line + lines.count, form)


def _divided(line: bytes, usual: str) -> list[str]:
    return line.decode("utf-8", "replace").split(_delimiter(line, usual))


def _usual(line: bytes, usual: str) -> bool:
    """Return whether a field of a line is a usual name of a column."""
    return any(plain(field) in USUAL for field in _divided(line, usual))


def _delimiter(line: bytes, usual: str) -> str:
    """Return what divides the columns: `usual`, else what the line has in its place."""
    others = [delimiter for delimiter in (";", "\t", "|") if delimiter.encode() in line]
    return others[0] if others and usual.encode() not in line else usual
