"""Texts that have the names of the classes whose numbers the members of images hold."""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress

from packer.errors import BadImage
from packer.samples.table import SampleTable
from packer.sources.tables.name_tokens import CHUNK
from packer.sources.tables.texts import Evidence, Text, text_of
from packer.sources.trees.tree import Tree

_FEW = 20  # members that are looked at
_HEAD = 4096  # bytes of each
_ROW = re.compile(rb"^[ \t]*(\d+)(?:[ \t]+\d*\.\d+){4,}[ \t]*$", re.MULTILINE)  # of an object
_NAMES = re.compile(r"(?:[^\W\d][\w /-]{,39}\n)+")


class ClassNumbers:
    """The numbers of classes that the text members of some images begin their rows with."""

    def __init__(self, tree: Tree, listing: SampleTable) -> None:
        self._highest = max(_numbers(tree, listing), default=-1)

    def named_by(self, text: Text) -> Evidence | None:
        """Return a text as evidence if it has a name for each number, a line each."""
        names = _names_in(text.text)
        if self._highest < 1 or text.paths[1:] or not self._highest < len(names):
            return None
        reason = "has a name for each number of a class in the members .txt of the images"
        return Evidence(text.paths, len(names), lines=tuple(names[:2]), reason=reason)


def names_of(classes: Sequence[str], tree: Tree, texts: Sequence[str]) -> str:
    """Return which of the texts has a name for each of the classes, which are numbers."""
    if not classes or not all(map(str.isdecimal, classes)):
        return ""
    count = 1 + max(map(int, classes))
    found = ((path, text_of(tree.begin(path, CHUNK))) for path in texts)
    return next((path for path, text in found if text and len(_names_in(text)) == count), "")


def _names_in(text: bytes) -> list[str]:
    """Return the names of a text that has one a line and each once; none of any other text."""
    lines = text.decode("utf-8", "replace").strip() + "\n"
    names = lines.splitlines()
    return names if _NAMES.fullmatch(lines) and len(set(names)) == len(names) else []


def _numbers(tree: Tree, listing: SampleTable) -> Iterator[int]:
    for number in range(min(_FEW, len(listing)) if listing.members.get("txt") else 0):
        with suppress(BadImage, OSError):
            path = f"{os.path.splitext(listing.name_of(number))[0]}.txt"
            yield from map(int, _ROW.findall(tree.begin(path, _HEAD)))
