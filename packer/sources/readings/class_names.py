"""Finds the file that names the numbers of a source's classes, or the values of its masks.

``{"0": "ant", "1": "bee"}``, ``{"ant": 0}``, ``[{"id": 0, "name": "ant"}]``, a table or lines of a
number and a name, TensorFlow's ``.pbtxt``, or a list of names in a file that is called so.
"""

import csv
import json
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from packer.errors import BadImage
from packer.images.probe import PILLOW_ERRORS
from packer.samples.labels import MAX_CLASSES
from packer.samples.records import Reader
from packer.samples.table import SampleTable
from packer.sources.tables.texts import text_of
from packer.sources.trees.tree import Tree
from packer.sources.trees.walk import is_named_as_image
from packer.words import many
from reader.format.errors import FormatError
from reader.format.members import picture_format
from reader.format.pictures import opened

_FORMS = (".json", ".txt", ".csv", ".tsv", ".yaml", ".yml", ".names", ".pbtxt")
_CALLED = re.compile(r"class|categor|label|name|species|synset|words|idx|index|map", re.IGNORECASE)
_FILES, _BYTES, _LONGEST = 32, 1 << 20, 80
_MASKS, _SAMPLES, _PIXELS, _VOID = 4, 100, 1 << 26, 255
_DEEP = 2  # levels of objects
_ITEM = re.compile(r"\bitem\s*\{([^{}]*)\}")  # of a .pbtxt
_ITEMS_FIELD = re.compile(r"(\w+)\s*:\s*(?:(\d+)|\"([^\"]*)\"|'([^']*)')")

_Names = Mapping[int, str]


@dataclass(frozen=True)
class ClassNames:
    """The names of numbers, and the files that have them."""

    where: Path  # the source
    paths: tuple[str, ...]  # in it
    names: _Names

    def of(self, classes: Sequence[str]) -> tuple[str, ...]:
        """Return the names of classes that are numbers; of none, those of all numbers from 0."""
        if classes:
            return tuple(self.names[int(name)] for name in classes)
        return tuple(self.names.get(at, str(at)) for at in range(max(self.names) + 1))

    def numbers_of(self, classes: Sequence[str]) -> list[str]:
        """Return the numbers of classes by their names, as `of` has given them."""
        numbers = {name: str(number) for number, name in self.names.items()}
        return [numbers.get(name, name) for name in classes]

    @property
    def remark(self) -> str:
        return (
            f"{self.paths[0]} has the names of {many(len(self.names), 'class')}, which are numbers."
        )

    def note(self, listing: SampleTable, tree: Tree | None) -> None:
        """Report the files as read, so that they are no evidence of something else.

        Names of what is skipped are relative to `tree`.
        """
        reason = "dataset.json has its names of the classes"
        root = tree.root if tree else self.where
        own = {os.path.relpath(self.where / path, root) for path in self.paths}
        listing.skipped = [
            replace(item, reason=reason, ignored=True) if item.name in own else item
            for item in listing.skipped
        ]


def names_of_labels(
    tree: Tree | None, classes: Sequence[str], labels: Collection[int] = ()
) -> ClassNames | None:
    """Return the names of classes that are numbers; without names of classes, of `labels`."""
    numbers = {int(name) for name in classes if name.isdecimal()} if classes else {*labels} - {-1}
    if tree is None or len(numbers) < max(2, len(classes)):
        return None
    return _only(tree, lambda names: numbers <= names.keys(), numbers)


def names_of_masks(tree: Tree | None, files: Reader, listing: SampleTable) -> ClassNames | None:
    """Return the names of the values of masks, which begin with 0."""
    pictures = [ext for ext in sorted(listing.members) if picture_format(ext)]
    if tree is None or len(pictures) != 1 or not any(_candidates(tree)):
        return None
    values = set[int]()
    for mask in islice(_masks(files, listing, pictures[0]), _MASKS):
        if mask is None:
            return None
        values |= mask - {_VOID}
    least = range(max(values, default=0) + 1)
    if len(values) < 2:
        return None
    return _only(tree, lambda names: {*least} <= names.keys() == {*range(len(names))}, {*least})


def _only(tree: Tree, fits: Any, numbers: Collection[int]) -> ClassNames | None:
    """Return the names that fit, if all files that have such agree."""
    found = [
        (path, names)
        for path in islice(_candidates(tree), _FILES)
        for names in islice((names for names in _names_in(tree, path, numbers) if fits(names)), 1)
    ]
    if not found or any(names != found[0][1] for _, names in found):
        return None
    return ClassNames(tree.root, tuple(path for path, _ in found), found[0][1])


def _candidates(tree: Tree) -> Iterator[str]:
    level = tree.level()
    for folder in ("", *level.folders):
        for ext, names in tree.level(folder).examples.items():
            yield from (os.path.join(folder, name) for name in names if ext in _FORMS)


def _names_in(tree: Tree, path: str, numbers: Collection[int]) -> Iterator[_Names]:
    """Yield what a file may say of the names of numbers."""
    try:
        data = tree.begin(path, _BYTES + 1)
    except (BadImage, OSError):
        return
    text = text_of(data) if len(data) <= _BYTES else None
    content = text.decode("utf-8", "replace").strip() if text else ""
    is_called = bool(_CALLED.search(os.path.basename(path)))
    ext = os.path.splitext(path)[1].lower()
    if ext in (".json", ".yaml", ".yml"):
        value: Any = None
        with suppress(ValueError, RecursionError, yaml.YAMLError):
            value = json.loads(content) if ext == ".json" else yaml.safe_load(content)
        found = _in_value(value, _DEEP)
    elif ext == ".pbtxt":
        found = _in_objects([_item(one) for one in _ITEM.findall(content)])
    else:
        found = _in_lines([line.strip() for line in content.split("\n") if line.strip()])
    for one in found:
        if isinstance(one, Mapping):
            names = dict(one)
        elif is_called and (first := _first(numbers, len(one))) is not None:
            names = dict(enumerate(one, first))
        else:
            continue
        if _are_names(list(names.values())) and max(names) < MAX_CLASSES:
            yield names


def _first(numbers: Collection[int], count: int) -> int | None:
    """Return the number of the first name in a list; None if it is not clear."""
    return next((n for n in (0, 1) if {*numbers} == {*range(n, n + count)}), None)


def _are_names(names: Sequence[str]) -> bool:
    return (
        len(names) > 1
        and len(set(names)) == len(names)
        and all(0 < len(name) <= _LONGEST and not is_named_as_image(name) for name in names)
        and all(re.search(r"[^\W\d_]", name) for name in names)
    )


def _in_value(value: Any, deep: int) -> Iterator[_Names | Sequence[str]]:
    """Yield maps of numbers and names, either way, and lists of names."""
    if isinstance(value, list):
        if value and all(isinstance(one, str) for one in value):
            yield value
        yield from _in_objects(value)
    elif isinstance(value, dict) and value:
        pairs = [(key, one) for key, one in value.items() if not isinstance(one, dict | list)]
        for each in (pairs, [(one, key) for key, one in pairs]):
            numbers = [_number(number) for number, _ in each]
            if each and None not in numbers and all(isinstance(name, str) for _, name in each):
                yield {int(n): name.strip() for n, (_, name) in zip(numbers, each, strict=True)}
        for inner in value.values() if deep else ():
            yield from _in_value(inner, deep - 1)


def _in_objects(objects: Sequence[Any]) -> Iterator[_Names]:
    """Yield the names of objects that have a number and a name, as COCO's categories."""
    fields = [one if isinstance(one, dict) else {} for one in objects]
    for name in ("display_name", "name"):
        pairs = [(_number(one.get("id")), one.get(name)) for one in fields]
        if pairs and all(n is not None and isinstance(text, str) for n, text in pairs):
            names = {number: str(text).strip() for number, text in pairs}
            if len(names) == len(pairs):
                yield names


def _item(text: str) -> dict[str, str]:
    fields = _ITEMS_FIELD.findall(text)
    return {field: number or one or other for field, number, one, other in fields}


def _in_lines(lines: Sequence[str]) -> Iterator[_Names | Sequence[str]]:
    """Yield the lines as a table, as pairs of a number and a name, and as names."""
    for sign in ",\t;":
        rows = [[cell.strip() for cell in row] for row in csv.reader(lines, delimiter=sign)]
        yield from _in_pairs(rows)
    for pattern in (r"(\S+?)\s*[:=\s]\s*(.+)", r"(.+?)\s*[:=\s]\s*(\S+)"):
        matches = [re.fullmatch(pattern, line) for line in lines]
        yield from _in_pairs([list(one.groups()) if one else [] for one in matches])
    yield lines
    yield lines[1:]  # below a name of the column


def _in_pairs(rows: Sequence[Sequence[str]]) -> Iterator[_Names]:
    if not rows or {*map(len, rows)} != {2}:
        return
    for number, name in ((0, 1), (1, 0)):
        for body in (rows, rows[1:]):
            numbers = [_number(row[number]) for row in body]
            if body and None not in numbers and len(set(numbers)) == len(numbers):
                yield {int(n): row[name] for n, row in zip(numbers, body, strict=True)}
                break


def _number(value: Any) -> Any:
    is_text = isinstance(value, str) and value.isdecimal() and len(value) < 9
    return int(value) if is_text or type(value) is int else None


def _masks(files: Reader, listing: SampleTable, ext: str) -> Iterator[set[int] | None]:
    """Yield the values of masks; None for one that is in colour."""
    for sample in islice(listing, _SAMPLES):
        if ext not in sample.members:
            continue
        try:
            data = files.read(sample).members[ext]
            with opened(data) as picture:
                if picture.width * picture.height <= _PIXELS:
                    is_grey = picture.mode in ("L", "P", "I", "I;16")
                    yield {*np.unique(np.asarray(picture)).tolist()} if is_grey else None
        except (BadImage, FormatError, *PILLOW_ERRORS):
            continue  # packing names what is wrong with it
