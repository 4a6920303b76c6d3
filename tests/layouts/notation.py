"""Rows of the table as text: a line for a file, or for a group of files.

::

    == ImageNet-R: by command
    from https://github.com/hendrycks/imagenet-r | imagenet-r
    <n01440764|n01443537>/<art|cartoon>_<0..9>.jpg -> $1; @train
    words.txt: <1..2> <tench|goldfish>¶

A row begins with its name and outcome, and says who documents it. Behind ``|`` is what is packed
(all paths are below it, but those that begin with ``/``), and behind another one what options are
given. A path with alternatives is every path that they make, the first one slowest; ``$1`` is what
stands for the first of them. ``a.tar!b.jpg`` lies in an archive; with ``!/`` the sample is called
``a/b.jpg``. A line ``* b.jpg`` is a sample that is no file. A line that begins with four blanks
goes on with the one before.

Behind ``->`` is the truth about an image: the names that its class may have (``cat or Cat``),
``&`` one of several classes, ``@`` the split, ``~`` what its members hold, ``+`` a file that is a
member, and is there for that. Behind ``:`` is what a file holds, ``¶`` for the end of each line. In
both, alternatives take turns: over the paths if these are several, over lines otherwise. ``a*3`` is
``a`` thrice. A path with ``{image}`` is said for each image of a street, one with ``{pet}`` for
each pet; `scenes` has their fields and loops. What begins with ``=`` is made: by one of
`making.MAKERS`, or by a codec.

A row of `packed` may change another one: ``? of classification: Food-101`` names it, ``- PATH``
takes a file of it away, and the other lines add or replace files.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import NamedTuple

from layouts.making import MAKERS, tar, zipped
from layouts.row import Layout, Truth
from layouts.scenes import fields_of, filled

_GROUP = re.compile(r"<(\d+\.\.\d+|[^<>]*\|[^<>]*)>")
_ESCAPED = re.compile(r"\\(?:([tr\\])|u([0-9a-f]{4})|x([0-9a-f]{2})(?:\{(\d+)\})?)")
_ESCAPES = {"t": "\t", "r": "\r", "\\": "\\"}
_ARCHIVES = (".tar", ".zip", ".gz", ".tgz")
_Files = dict[str, str | bytes]


class Lines(NamedTuple):
    """A row as it is written: its head, its fields, and its lines of files."""

    name: str
    outcome: str
    fields: Mapping[str, str]
    files: tuple[str, ...]


def read(file: Path) -> Iterator[Lines]:
    """Yield the rows of a file."""
    for text in re.split(r"^== ", file.read_text("utf-8"), flags=re.MULTILINE)[1:]:
        head, *lines = text.replace("\n    ", "").splitlines()
        name, _, outcome = head.rpartition(": ")
        fields = {}
        if lines and lines[0].startswith("from "):
            told = lines.pop(0).removeprefix("from ").split(" | ")
            fields = dict(zip(("from", "src", "options"), told, strict=False))
        while lines and lines[0].startswith("? "):
            field, _, value = lines.pop(0).removeprefix("? ").partition(" ")
            fields[field] = value
        yield Lines(name, outcome, fields, tuple(lines))


def layout(row: Lines) -> Layout:
    """Return the layout that a row says."""
    files: _Files = {}
    truths: dict[str, Truth] = {}
    src = row.fields.get("src", "")
    below = src and src + ("!" if src.endswith(_ARCHIVES) else "/")
    for path, sign, said in each(row.files):
        if path.startswith("* "):
            truths[path.removeprefix("* ")] = _truth(said)
            continue
        top = "" if path.startswith("/") else below
        path = path.removeprefix("/")
        files[top + path] = made(said) if sign == ":" else ""
        if sign == "->":
            fact = _truth(said)
            truths[called(path)] = fact
            files.update((top + member, "") for member in fact.files)
    options = tuple(row.fields.get("options", "").split())
    return Layout(row.name, row.fields["from"], packed(files), truths, src, options)


def each(lines: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield each path, ``->`` or ``:`` or nothing, and what is said behind that."""
    for line in lines:
        found = re.match(r"(.+?) ->(?: |$)", line) or re.match(r"(.+?):(?: |$)", line)
        named, said = (found[1], line[found.end() :]) if found else (line, "")
        sign = "" if not found else "->" if "->" in found[0] else ":"
        for fields in fields_of(named):
            has_loops = fields or "«" in said or said.startswith("{coco(")
            for path, text in _each(filled(named, fields), said, is_one=sign == ":"):
                yield path, sign, filled(text, fields) if has_loops else text


def _each(named: str, said: str, *, is_one: bool) -> Iterator[tuple[str, str]]:
    """Yield each path, and what is said of it."""
    found = list(paths(named))
    if is_one and len(found) == 1:
        lines = re.findall(r"[^¶]*¶|[^¶]+", said)
        yield found[0][0], "".join(text for line in lines for text in turns(line))
    else:
        for (path, parts), text in zip(found, turns(said, len(found)), strict=True):
            yield path, _referring(text, parts)


def paths(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each path, and what stands in it for each of its groups of alternatives."""
    pieces = _GROUP.split(text)
    for parts in product(*map(_alternatives, pieces[1::2])):
        whole = "".join(a + b for a, b in zip(pieces[::2], (*parts, ""), strict=True))
        yield unescaped(_referring(whole, parts)), list(parts)


def turns(text: str, count: int = 0) -> list[str]:
    """Return `text` with each of its alternatives in turn."""
    pieces = _GROUP.split(text)
    columns = [_alternatives(inner) for inner in pieces[1::2]]
    count = count or max(map(len, columns), default=1)
    rows = [[column[at % len(column)] for column in columns] for at in range(count)]
    return ["".join(a + b for a, b in zip(pieces[::2], (*row, ""), strict=True)) for row in rows]


def _alternatives(inner: str) -> list[str]:
    if found := re.fullmatch(r"(\d+)\.\.(\d+)", inner):
        return [f"{n:0{len(found[1])}}" for n in range(int(found[1]), int(found[2]) + 1)]
    repeated = (re.fullmatch(r"(.*?)(?:\*(\d+))?", one) for one in inner.split("|"))
    return [one[1] for one in repeated if one for _ in range(int(one[2] or 1))]


def _referring(text: str, parts: Sequence[str]) -> str:
    return re.sub(r"\$(\d)", lambda found: parts[int(found[1]) - 1], text)


def unescaped(text: str) -> str:
    """Return `text` with what its escapes stand for."""

    def meant(found: re.Match[str]) -> str:
        plain, wide, byte, times = found.groups()
        return _ESCAPES[plain] if plain else chr(int(wide or byte, 16)) * int(times or 1)

    return _ESCAPED.sub(meant, text)


def made(said: str) -> str | bytes:
    """Return what a file holds of which this is said."""
    text = unescaped(said.replace("¶", "\n"))
    if not said.startswith("="):
        return text
    maker, _, argument = text[1:].partition(" ")
    return MAKERS[maker](argument) if maker in MAKERS else argument.encode(maker)


def _truth(said: str) -> Truth:
    told: dict[str, list[str]] = {sign: [] for sign in "&@~+"}
    names: frozenset[str] = frozenset()
    for one in map(unescaped, filter(None, said.split("; "))):
        if one[0] in told:
            told[one[0]].append(one[1:])
        else:
            names = frozenset(one.removeprefix("=").split(" or "))
    split = "".join(told["@"])
    return Truth(names, frozenset(told["&"]), split, tuple(told["~"]), tuple(told["+"]))


def called(path: str) -> str:
    """Return how a sample is called that lies at `path`."""
    return path.replace(".tar!/", "/").replace("!/", "/").rpartition("!")[2]


def packed(files: Mapping[str, str | bytes]) -> _Files:
    """Return `files` with those in archives as these archives."""
    found: _Files = {}
    archives: dict[str, _Files] = {}
    for path, content in files.items():
        archive, inside, member = path.partition("!")
        if inside:
            archives.setdefault(archive, {})[member.removeprefix("/")] = content
            found.setdefault(archive, b"")
        else:
            found[path] = content
    for archive, members in archives.items():
        within = packed({name: members[name] for name in sorted(members)})
        is_zipped = archive.endswith(("gz", "tgz"))
        if archive.endswith(".zip"):
            found[archive] = zipped(within)
        else:
            found[archive] = tar(within, "gz" if is_zipped else "")
    return found
