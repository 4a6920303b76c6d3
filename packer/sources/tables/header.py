"""The header of CSV and TSV: the names of the columns, and the lines above them."""

import csv
import re
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from packer.errors import BadImage, UnusableInput
from packer.sources.tables.names import USUAL
from packer.sources.trees.shape import plain

MAX_RECORD = 16 << 20  # bytes; a longer one is not a line of a table
_OTHERS = (";", "\t", "|")  # than the usual delimiter
_EXCEL = re.compile(rb"sep=(.)", re.IGNORECASE)
_EMPTY = b" \t\r\n,;"


class Lines:
    """The lines of a text, of which those of the present record are counted and bounded."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.count = self.size = 0

    def __iter__(self) -> Iterator[str]:
        while data := self._file.readline(MAX_RECORD + 1 - self.size):
            self.count += 1
            self.size += len(data)
            if self.size > MAX_RECORD:
                raise BadImage(f"it has more than {MAX_RECORD} bytes")
            if b"\0" in data:
                raise BadImage("it holds a NUL byte")
            try:
                yield data.decode()
            except UnicodeDecodeError as error:
                raise BadImage("it is not UTF-8") from error


def read_header(
    path: Path, content: BinaryIO, delimiter: str, wanted: Collection[str] = ()
) -> tuple[list[str], int, dict[str, Any]]:
    """Return the names of the columns, the number of the next line, and how `csv` divides lines.

    The `delimiter` is the usual one of such a file; `wanted` are columns that it has to have. Above
    the names there may be comments, Excel's ``sep=;``, blank lines, and a title: one field above a
    row of names, one of which is usual.
    """

    def divided(line: bytes) -> list[str]:
        return line.decode("utf-8", "replace").split(_delimiter(line, delimiter))

    def is_usual(line: bytes) -> bool:
        return any(plain(name) in USUAL or name.strip() in wanted for name in divided(line))

    chosen, number = "", 1
    while True:
        start = content.tell()
        first = content.readline(MAX_RECORD)
        excel = _EXCEL.fullmatch(first.strip()) if number == 1 else None
        if excel:
            chosen = excel[1].decode("latin-1")
        elif not first or (
            (bare := first.strip(_EMPTY)) and (not bare.startswith(b"#") or is_usual(first))
        ):
            content.seek(start)
            names, lines, form = _names(
                path, content, chosen or _delimiter(first, delimiter), number
            )
            begin = content.tell()
            below = next(filter(lambda line: line.strip(_EMPTY), content), b"")
            content.seek(begin)
            is_title = sum(map(bool, names)) == 1 and plain("".join(names)) not in USUAL
            if not (is_title and len(divided(below)) > 1 and is_usual(below)):
                return names, number + lines, form
            number += lines - 1
        number += 1


def _names(
    path: Path, content: BinaryIO, delimiter: str, number: int
) -> tuple[list[str], int, dict[str, Any]]:
    """Return the fields of the next record, how many lines it has, and how it is divided."""
    start = content.tell()
    form: dict[str, Any] = {"delimiter": delimiter, "strict": True, "quoting": csv.QUOTE_MINIMAL}
    while True:
        content.seek(start)
        lines = Lines(content)
        try:
            names = next(csv.reader(iter(lines), **form), [])
            break
        except (BadImage, csv.Error) as error:
            if delimiter != "\t" or form["quoting"] == csv.QUOTE_NONE:
                reason = f"it is malformed: {error}" if isinstance(error, csv.Error) else error
                raise UnusableInput(
                    f"{path}: line {number} has no names of columns: {reason}."
                ) from error
            form["quoting"] = csv.QUOTE_NONE  # quotes are signs as others where tabs divide
    form["skipinitialspace"] = len(names) > 1 and all(name.startswith(" ") for name in names[1:])
    content.seek(start + lines.size)
    return names, lines.count, form


def _delimiter(line: bytes, usual: str) -> str:
    """Return the separator of the columns: `usual`, otherwise the one in the line."""
    others = [sign for sign in _OTHERS if sign.encode() in line]
    return others[0] if others and usual.encode() not in line else usual
