"""The colours of the classes in masks, from lists or from files such as ``class_dict.csv``."""

import csv
import re
from collections.abc import Sequence
from dataclasses import dataclass

MOST = 256  # classes: a pixel's number is a byte
MOST_BYTES = 1 << 16  # of a file

_RGB = r"(\d+)[\s,;]+(\d+)[\s,;]+(\d+)"
_COLOUR_FIRST = re.compile(rf"{_RGB}(?:[\s,;:]+(?!\d+[\s,;])(.+?))?")
_NAME_FIRST = re.compile(rf"(.+?)[\s,;:]+{_RGB}[\s,;:]*")
_CHANNELS = ("r", "red"), ("g", "green"), ("b", "blue")


@dataclass(frozen=True)
class MaskColors:
    """The colours of masks; a colour's position is the number of its class."""

    colors: tuple[tuple[int, ...], ...]  # red, green and blue, 0 to 255 each
    names: tuple[str, ...] = ()  # of the classes, likewise; none: unknown

    def __post_init__(self) -> None:
        object.__setattr__(self, "colors", tuple(map(tuple, self.colors)))
        object.__setattr__(self, "names", tuple(self.names))
        for color in self.colors:
            if len(color) != 3 or not all(type(v) is int and 0 <= v <= 255 for v in color):
                raise ValueError(f"{color} is not a colour of red, green and blue from 0 to 255")
        if not 0 < len(self.colors) <= MOST:
            raise ValueError(f"there are {len(self.colors)} colours, not 1 to {MOST}")
        if twice := next((c for c in self.colors if self.colors.count(c) > 1), None):
            which = [number for number, color in enumerate(self.colors) if color == twice]
            names = " and ".join(repr(self.names[at]) if self.names else str(at) for at in which)
            raise ValueError(f"the colour {twice} is that of several classes: {names}")
        if self.names and len(self.names) != len(self.colors):
            raise ValueError(f"there are {len(self.names)} names for {len(self.colors)} colours")
        if not all(type(name) is str for name in self.names):
            raise ValueError("a name of a class is not a text")

    @classmethod
    def parse(cls, data: bytes) -> "MaskColors":
        """Return the colours in a file: lines of a name and a colour, in either order.

        It may have a header with the columns r, g and b. It raises ValueError.
        """
        if len(data) > MOST_BYTES:
            raise ValueError(f"it has more than {MOST_BYTES} bytes")
        lines = [line.strip() for line in data.decode("utf-8-sig").splitlines()]
        lines = [line for line in lines if line and not line.startswith("#")]
        table = _table(lines[0], lines[1:]) if lines else None
        rows = list(map(_row, lines)) if table is None else table
        names = tuple(name for name, _ in rows)
        return cls(tuple(color for _, color in rows), names if all(names) else ())


Row = tuple[str, tuple[int, ...]]  # the name of a class, "" if it has none, and its colour


def _row(line: str) -> Row:
    last, first = _COLOUR_FIRST.fullmatch(line), _NAME_FIRST.fullmatch(line)
    if last and not (first and last[4]):
        return last[4] or "", tuple(map(int, last.group(1, 2, 3)))
    if first and not last:
        return first[1], tuple(map(int, first.group(2, 3, 4)))
    advice = "with several numbers, a first line such as name,r,g,b is required"
    raise ValueError(f"the line {line[:80]!r} is not a name and a colour; {advice}")


def _table(header: str, lines: Sequence[str]) -> list[Row] | None:
    """Return the rows below a header; None if it is none."""
    delimiter = next((one for one in ",;\t" if one in header), " ")
    try:
        head, *body = csv.reader([header, *lines], delimiter=delimiter, skipinitialspace=True)
    except csv.Error as error:
        raise ValueError(str(error)) from error
    names = [name.strip().lower() for name in head]
    found = [[at for at, name in enumerate(names) if name in channel] for channel in _CHANNELS]
    if [len(each) for each in found] != [1, 1, 1]:
        return None
    rgb = [at for [at] in found]
    if odd := next((row for row in body if len(row) != len(head)), None):
        raise ValueError(f"the line {delimiter.join(odd)[:80]!r} has not {len(head)} values")
    columns = [[row[at].strip() for row in body] for at in range(len(head))]
    if not all(cell.isdecimal() for at in rgb for cell in columns[at]):
        raise ValueError("a value of r, g or b is not a whole number")
    others = [column for at, column in enumerate(columns) if at not in rgb]
    texts = [column for column in others if not all(map(str.isdecimal, column))]
    named = texts[0] if texts else [""] * len(body)
    colors = zip(*([*map(int, columns[at])] for at in rgb), strict=True)
    rows = list(zip(named, colors, strict=True))
    for numbers in ([*map(int, column)] for column in others if column not in texts):
        if sorted(numbers) != list(range(len(rows))):
            raise ValueError("its column of numbers does not count the classes from 0")
        rows = [rows[numbers.index(at)] for at in range(len(rows))]
    return rows
