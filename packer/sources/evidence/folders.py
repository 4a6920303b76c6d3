"""Tables that name the folders of images: patients, videos, products."""

import json
import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from itertools import islice
from typing import Any

from packer.errors import UnusableInput
from packer.sources.scanners.templates.lines import ListTemplate
from packer.sources.scanners.templates.lists import read_lists
from packer.sources.scanners.templates.proposed import proposed
from packer.sources.tables.texts import FOLDERS, LINE, Evidence, Text, as_number, folder_of
from packer.sources.trees.tree import Tree
from packer.words import many, shortened

_NEARLY = 0.9  # of the folders
SPLIT = re.compile(r"training|train|validation|valid|crossval|val|testing|test", re.IGNORECASE)
_SPLITS = re.compile(rf"\d|{SPLIT.pattern}|dev", re.IGNORECASE)
_LOOKED_FOR = 12  # folders: a text that has no two of their names is passed over


class Folders:
    """The folders that hold images, by the levels of their paths."""

    def __init__(self, images: Mapping[str, int]) -> None:
        self._images = images
        self.remarks: list[str] = []  # on texts that have other names of the classes

    @cached_property
    def _levels(self) -> Sequence[Mapping[str, int]]:
        """The images below each name of a level, the numbers of names in one form."""
        found: list[dict[str, int]] = []
        for path, count in self._images.items():
            for at, name in enumerate(filter(None, path.split("/"))):
                found += [{}] * (at == len(found))
                name = as_number(name)
                found[at][name] = found[at].get(name, 0) + count
        return found

    @cached_property
    def _named_in_full(self) -> Sequence[Evidence]:
        """What names all folders of a level, made once for all texts."""
        return [
            Evidence((), sum(counts.values()), stems=frozenset(counts), kind=FOLDERS, level=level)
            for level, counts in enumerate(self._levels)
        ]

    def named_as(self, texts: Iterable[Text]) -> Iterator[Evidence]:
        """Yield records and rows of numbers in files that are named as folders of images are."""
        alike: dict[tuple[str, str], list[str]] = defaultdict(list)
        for text in texts:
            folder, name = os.path.split(text.paths[0])
            stem, ext = os.path.splitext(name)
            is_record = text.has_numbers or text.text.lstrip()[:1] in (b"<", b"{", b"[")
            if not text.paths[1:] and is_record and any(stem in level for level in self._levels):
                alike[folder, ext].append(text.paths[0])
        for (folder, ext), paths in alike.items():
            if len(paths) > 1:
                names = f"{len(paths)} files {ext} in {folder}"
                reason = f"has records, and {names} are named as folders of images"
                yield Evidence(tuple(paths), len(paths), reason=reason)

    def listed(self, text: Text, classes: int) -> Evidence | None:
        """Return a list of the paths of folders, if they are more than the classes of images."""
        lines = text.text.decode("utf-8", "replace").split("\n")
        paths = [line.strip().strip("/") for line in lines if line.strip()]
        known = sum("/" in path and path in self._images for path in paths)
        if known < max(2, len(paths)) or known <= classes or text.paths[1:]:
            return None
        reason = f"lists {known:,} folders of images, and these have {many(classes, 'class')}"
        return Evidence(text.paths, known, lines=tuple(paths[:2]), reason=reason, kind=FOLDERS)

    def divided_by(self, texts: Iterable[Text]) -> Iterator[Evidence]:
        """Yield lists beside each other of which each names other folders: those of splits."""
        alike: dict[tuple[str, ...], list[tuple[Text, list[str]]]] = defaultdict(list)
        for text in texts:
            folder, name = os.path.split(text.paths[0])
            lines = text.text.decode("utf-8", "replace").split("\n")
            firsts = [
                folder_of(re.split(r"[\s,;|]", line.strip())[0]) for line in lines if line.strip()
            ]
            if text.share == 1 and not text.paths[1:] and firsts:
                stem, ext = os.path.splitext(name)
                alike[folder, ext, _SPLITS.sub("", stem)].append((text, firsts))
        for some in alike.values() if len(self._images) > 1 else ():
            for level, counts in enumerate(self._levels):
                named = [(text, {*firsts} & counts.keys(), firsts) for text, firsts in some]
                named = [(t, own, f) for t, own, f in named if own and len(own) >= len(f) - 1]
                every = [name for _, own, _ in named for name in own]
                if len(named) < 2 or not len(set(every)) == len(every) >= _NEARLY * len(counts):
                    continue
                for text, own, _ in named:
                    reason = f"names {len(own):,} of the {len(counts):,} folders, and others do not"
                    count, stems = sum(map(counts.__getitem__, own)), frozenset(own)
                    yield Evidence(
                        text.paths, count, stems=stems, reason=reason, kind=FOLDERS, level=level
                    )

    def named_by(self, text: Text, tree: Tree) -> Evidence | None:
        """Return a text as a table that has more to say of folders than their class."""
        if text.share < 1 or text.paths[1:] or text.is_binary:
            return None
        content = text.text.decode("utf-8", "replace")
        for one, counts in zip(self._named_in_full, self._levels, strict=True):
            few = list(islice(counts, _LOOKED_FOR))
            if len(few) < 2 or sum(name in content for name in few) < 2:
                continue
            form = proposed(text.paths[0], content, one.has) or ""
            is_read = form and "{value1" not in form
            named, columns = _columns(tree, form) if is_read else _records(content, counts)
            named, values = list(map(folder_of, named)), list(columns)
            known = [name for name in named if name in counts]
            own = [counts.get(name, 0) for name in named]
            if not known or _count_more(named, counts):
                continue
            is_more = form.partition(": ")[2].startswith("{key} {split=")
            is_more |= len({*zip(named, *values, strict=True)}) > len({*named})
            varied = 2 * is_more or sum(_varies(column, own) for column in values)
            is_of_split = SPLIT.search(os.path.basename(text.paths[0]))  # not one of classes
            varied += varied == 1 and bool(is_of_split) and all(map(str.isdecimal, known))
            if varied == 1 and len(known) == len(named) == len(counts):
                word = next(c for c in values if _varies(c, own))[0]
                self.remarks.append(
                    f"{text.paths[0]} is not read: it has another name for each folder, such "
                    f"as {word} for {named[0]}."
                )
            if len(set(known)) > 1 and varied >= 2:
                shown = islice(filter(str.strip, content.split("\n")), 2)
                lines = tuple(shortened(line.strip(), LINE) for line in shown)
                reason = f"names {len(set(known)):,} of the {len(counts):,} folders of images"
                return replace(one, paths=text.paths, lines=lines, reason=reason)
        return None


def _count_more(named: Sequence[str], folders: Collection[str]) -> bool:
    """Return whether these are the numbers of rows, of which few may be folders, too."""
    numbers = [int(name) for name in named if name.isdecimal()]
    is_run = numbers == list(range(numbers[0], numbers[0] + len(named))) if numbers else False
    return is_run and len(named) != len(folders)


def _records(content: str, folders: Collection[str]) -> tuple[list[str], Iterator[list[str]]]:
    """Return the folders that most records of a text name, and the rests of these records."""
    lines = [line.strip() for line in content.split("\n") if line.strip()]
    value: Any = None
    for text in (content, f"[{','.join(lines)}]"):  # JSON, JSON lines
        with suppress(ValueError, RecursionError):
            value = value or json.loads(text)
    ways = [[[*re.split(r"[\s,;|]+", line, maxsplit=1), ""][:2] for line in lines]]
    if isinstance(value, dict):
        ways = [list(map(list, value.items()))]
    elif isinstance(value, list) and value and all(isinstance(one, dict) for one in value):
        ways = [[[one.get(name), {**one, name: None}] for one in value] for name in value[0]]
    for records in ways:
        known = [(n, json.dumps(rest)) for n, rest in records if folder_of(str(n)) in folders]
        if 2 * len(known) > len(records):
            return [str(name) for name, _ in known], iter([[rest for _, rest in known]])
    return [], iter(())


def _columns(tree: Tree, form: str) -> tuple[list[str], Iterator[list[str]]]:
    """Return the names in a table, and its other columns."""
    try:
        (rows,) = read_lists(tree, [ListTemplate.of(form)])
    except (UnusableInput, ValueError):
        return [], iter(())
    every = [rows[row] for row in range(len(rows))]
    others = [name for name in rows.names if name != "key"]
    columns = ([str(row.get(name, "")) for row in every] for name in others)
    return [str(row.get("key", "")) for row in every], columns


def _varies(values: Sequence[str], counts: Sequence[int]) -> int:
    """Return 2 if values are attributes, and 1 for another word for each, as classes have one.

    Numbers of images, and numbers that count, are neither.
    """
    if values == list(map(str, counts)) or len(set(values)) < 2:
        return 0
    if len(set(values)) < len(values):
        return 2
    numbers = sorted(int(value) for value in values if value.isdigit())
    if len(numbers) < len(values):
        return 1 + all(value.replace(".", "", 1).lstrip("-").isdigit() for value in values)
    return 2 * (numbers != list(range(numbers[0], numbers[0] + len(numbers))))
