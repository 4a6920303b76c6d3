"""Tables whose columns name each image together: ``P04_002.png`` is slice 2 of patient 4.

The values of a row are looked for in the paths of a few images. What stands between them makes a
template, which is then held against all images and rows.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from itertools import islice, pairwise, product
from typing import Any, NamedTuple

from packer.errors import UnusableInput
from packer.samples.table import SampleTable
from packer.sources.scanners.templates.loosely import as_part, natural
from packer.sources.scanners.templates.records import records_in
from packer.sources.scanners.templates.template import KEY, Template
from packer.sources.tables.texts import COMPOSED, LINE, Composed, Evidence, Text, as_number
from packer.sources.trees.outright import literal
from packer.words import many, shortened

_IMAGES = 2000  # that a template is held against
_TRIED = 3  # images in whose paths the values of rows are looked for
_ROWS = 2000  # whose values are looked for
_COLUMNS = 24
_WAYS = 64  # to find the values of a row in a path
_LONGEST = 40  # characters of a value
_LEAST = 4  # images, if not all are named
_SHARE = 0.9  # of the rows that name an image, if not all images are named
_NEARLY = 0.8  # of the values in a column that stand in paths, and of those there
_FIELDS = {"\1": "{split}", "\2": "{label}"}  # of folders, with the signs for them in paths

_Record = Mapping[str, Any]


class _Fit(NamedTuple):
    """A composition, with the row of each image that it names, and the places of its columns."""

    rows: tuple[tuple[int, int], ...]
    composed: Composed
    places: tuple[int, ...]


class Compositions:
    """The images of a source, whose names columns of a table may compose."""

    def __init__(self, listing: SampleTable, below: str, base: Sequence[str]) -> None:
        """`below` is the folder of the images' names in the source, `base` options of folders."""
        given = [pair for pair in zip(base[::2], base[1::2], strict=True) if pair[0] != "--ignore"]
        self._listing, self._below = listing, below
        self._way = given[0][1] if len(given) == 1 and given[0][0] == "--images" else ""

    def named_by(self, text: Text) -> Evidence | None:
        """Return a table whose columns name images together as evidence; None for any other."""
        if text.paths[1:] or text.is_binary or not self._way:
            return None
        content = text.text.decode("utf-8", "replace")
        content = content if text.share == 1 else content.rpartition("\n")[0]
        records = records_in(text.paths[0], content)[1] or []
        if not all(isinstance(one, dict) for one in records) or not (fits := self._fits(records)):
            return None
        every = len(self._listing)
        count = round(len(fits[0].rows) * every / min(every, _IMAGES))
        lines = islice(filter(str.strip, content.split("\n")), 2)
        *others, last = fits[0].composed.columns
        reason = f"names {count:,} of the {many(every, 'image')} by {', '.join(others)} and {last}"
        return Evidence(
            text.paths,
            count,
            lines=tuple(shortened(line, LINE) for line in lines),
            reason=f"{reason} together",
            kind=COMPOSED,
            composed=tuple(one.composed for one in fits),
        )

    def contradict(self, text: Text) -> bool:
        """Return whether a text has values for the images in another order than their names."""
        content = records_in(text.paths[0], text.text.decode("utf-8", "replace"))[1] or []
        paths = [self._path(number) for number in range(len(self._listing))]
        if len(paths) != len(content):
            folder = os.path.normpath(os.path.join(self._below, os.path.dirname(text.paths[0])))
            paths = [path for path in paths if path.startswith(f"{folder}/")]
        are_records = all(isinstance(one, dict) for one in content)
        records = content if are_records else [{"": one} for one in content]
        return 0 < len(paths) == len(content) and _is_against(sorted(paths, key=natural), records)

    def _fits(self, records: Sequence[_Record]) -> list[_Fit]:
        """Return the compositions that name most images by the fewest columns, the best first.

        Those of other rows than the first are choices: ``tile_{x}_{y}`` and ``tile_{y}_{x}``.
        """
        columns = [name for name in dict.fromkeys(records[0] if records else ()) if name]
        columns = [name for name in columns if _may_name([one.get(name) for one in records])]
        paths = [self._path(number) for number in _some(len(self._listing), _IMAGES)]
        for kept in dict.fromkeys((tuple(_FIELDS), tuple(_FIELDS)[:1])):
            marked = [self._marked(path, kept) for path in paths]
            found = list(_tried(paths, marked, records, columns[:_COLUMNS]))
            if found:
                found.sort(key=lambda fit: (-len(fit.rows), len(fit.places), -fit.composed.hints))
                first = found[0]
                alike = [
                    fit
                    for fit in found
                    if len(fit.rows) == len(first.rows)
                    and len(fit.places) == len(first.places)
                    and fit.composed.hints == first.composed.hints
                ]
                alike.sort(key=lambda fit: fit.places)
                alike = list({fit.rows: fit for fit in alike[::-1]}.values())[::-1]
                # Of the begin and the end of something, neither is a name.
                return alike if len({frozenset(fit.places) for fit in alike}) == 1 else []
        return []

    def _path(self, number: int) -> str:
        return os.path.normpath(os.path.join(self._below, self._listing.name_of(number)))

    def _marked(self, path: str, kept: Sequence[str]) -> str:
        """Return a path without its extension, with signs for the folders that are `kept`."""
        parts = os.path.splitext(path)[0].split("/")
        for at, field in enumerate(self._way.split("/")[: len(parts) - 1]):
            parts[at] = next((sign for sign in kept if _FIELDS[sign] == field), parts[at])
        return "/".join(parts)


def _is_against(paths: Sequence[str], records: Sequence[_Record]) -> bool:
    """Return whether a column has what stands in paths at one place, but not at that of its row."""
    parts = [re.findall(r"\d+|[^\W\d_]+", os.path.splitext(path)[0]) for path in paths]
    least = min(map(len, parts))
    places = [*range(least), *range(-least, 0)]
    own = [[as_part(each[at]) for each in parts] for at in places]
    for name in dict.fromkeys(name for record in records[:1] for name in record):
        values = [as_part(record.get(name, "")) for record in records]
        # A prefix of all values is no part of its own in a path: P4 in P04_2.
        texts = [re.findall(r"\d+|[^\W\d_]+", value) for value in values]
        for column in ([*each] for each in zip(*texts, strict=False)):
            if len({*column}) > 1 and any(_differ(column, each) for each in own):
                return True
    return False


def _differ(column: Sequence[str], parts: Sequence[str]) -> bool:
    """Return whether these are the same values in another order, and no numbers one further."""
    both = {*column} & {*parts}
    if len(both) < max(2, _NEARLY * max(len({*column}), len({*parts}))) or column == parts:
        return False
    steps = {
        int(a) - int(b) if a.isdecimal() and b.isdecimal() else None
        for a, b in zip(column, parts, strict=True)
    }
    return len(steps) > 1 or None in steps


def _some(count: int, most: int) -> range:
    return range(0, count, -(-count // most) or 1)


def _may_name(values: Sequence[Any]) -> bool:
    texts = {str(value) for value in values if isinstance(value, str | int)}
    return len(texts) > 1 and all(0 < len(text) <= _LONGEST for text in texts)


def _tried(
    paths: Sequence[str],
    marked: Sequence[str],
    records: Sequence[_Record],
    columns: Sequence[str],
) -> Iterator[_Fit]:
    """Yield the compositions of the paths of some images that fit most images or rows."""
    seen: set[Composed] = set()
    for number in _some(len(paths), _TRIED):
        for record in records[:_ROWS]:
            for one in islice(_ways(marked[number], record, columns), _WAYS):
                if one not in seen and (rows := _rows(one, paths, records)):
                    yield _Fit(rows, one, tuple(map(columns.index, one.columns)))
                seen.add(one)


def _ways(path: str, record: _Record, columns: Sequence[str]) -> Iterator[Composed]:
    """Yield each way to find the values of two or more columns in a path."""
    places: list[list[tuple[int, int, str] | None]] = []
    for name in columns:
        spans = _pattern(as_number(str(record.get(name)))).finditer(path)
        found = [(*match.span(), name) for match in spans]
        places += [[None, *found]] if found else []
    for some in product(*places):
        chosen = sorted(place for place in some if place)
        if len(chosen) < 2 or any(a[1] > b[0] for a, b in pairwise(chosen)):
            continue
        ends, starts = [end for _, end, _ in chosen], [start for start, _, _ in chosen]
        texts = (path[a:b] for a, b in zip([0, *ends], [*starts, len(path)], strict=True))
        yield Composed(tuple(map(_written, texts)), tuple(name for *_, name in chosen))


def _written(text: str) -> str:
    """Return a text of a path as a template has it."""
    text = literal(text)
    for sign, field in _FIELDS.items():
        text = text.replace(sign, field)
    return text


@cache
def _pattern(value: str) -> re.Pattern[str]:
    """Return the pattern of a value as a part of a name, in which numbers may have more zeros."""
    text = re.sub(r"(?<!\d)0*(\d+)", r"0*\1", re.escape(value))
    before, behind = (
        r"\d" if sign.isdigit() else r"[^\W\d_]" if sign.isalpha() else "/"
        for sign in (value[:1], value[-1:])
    )
    return re.compile(f"(?<!{before}){text}(?!{behind})" if value else "(?!)")


def _rows(
    one: Composed, paths: Sequence[str], records: Sequence[_Record]
) -> tuple[tuple[int, int], ...]:
    """Return the images that a composition names, with the row of each; none if it does not fit."""
    *others, last = one.columns
    fields = {name: f"c{number}" for number, name in enumerate(others)} | {last: KEY}
    try:
        template = Template.of(one.template(fields), "")
    except UnusableInput:
        return ()
    rows: dict[tuple[str, ...], int] = {}
    for number, record in enumerate(records):
        rows.setdefault(tuple(as_part(record.get(name)) for name in one.columns), number)
    found: dict[int, int] = {}  # row -> image
    for number, path in enumerate(paths):
        values = template.match(path) or {}
        row = rows.get(tuple(as_part(values.get(fields[name], "")) for name in one.columns))
        if row in found:
            return ()  # of several images
        found |= {} if row is None else {row: number}
    is_most = len(found) >= max(_LEAST, _SHARE * len(rows))
    is_enough = len(found) == len(paths) > 1 or is_most
    return tuple((number, row) for row, number in found.items()) if is_enough else ()
