"""Names of images as words, numbers and what is between them (pure)."""

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from packer.sources.trees.outright import literal

_TOKEN = re.compile(r"[^\W\d_]+|\d+|[\W_]+")
_SCALED = re.compile(rf"x\d+$|[^\W\d_]+?(?=x\d+$)|{_TOKEN.pattern}")  # x4, of half the size
_DATE = (  # and times of day
    r"(?:19|20)\d\d([-_. ])[01]\d\1[0-3]\d(?!\d)|(?<!\d)[0-2]\d([-_.])[0-5]\d\2[0-5]\d(?!\d)"
)
_WORD = re.compile(rf"(?:[^\W_]*?(?:{_DATE}))+[^\W_]*|[^\W_]+|[\W_]+")
_ZEROS = re.compile(r"0*(?=\d)|")
_NUMBER = re.compile(r"0*(\d+)")


class Affix(NamedTuple):
    """What all names of several begin and end with, at the edges of words and numbers."""

    before: str
    zeros: str  # behind it, of the numbers that differ
    after: str

    @classmethod
    def of(cls, stems: Sequence[str]) -> "Affix":
        """Find it; one name has none."""
        each = [tokens(stem, _SCALED) for stem in stems]
        shortest = min(map(len, each), default=0)
        if len(each) < 2 or not shortest:
            return cls("", "", "")
        before = shared(each)[: shortest - 1]
        after = shared([one[::-1] for one in each])[: max(0, shortest - len(before) - 1)]
        zeros = shared([_ZEROS.findall(one[len(before)])[0] for one in each])
        return cls("".join(before), "".join(zeros), "".join(after[::-1]))

    def strip(self, stem: str) -> str:
        """Return a name without it."""
        return stem[len(self.before + self.zeros) : len(stem) - len(self.after)]

    def put(self, key: str) -> str:
        """Return the template of the names, with `key` for what differs."""
        return f"{literal(self.before + self.zeros)}{key}{literal(self.after)}"


def shared(each: Sequence[Sequence[str]]) -> list[str]:
    """Return what all sequences begin with."""
    alike = takewhile(lambda some: len(set(some)) == 1, zip(*each, strict=False))
    return [first for first, *_ in alike]


def words(stem: str) -> list[str]:
    """Return its words and, between them, signs; a date is one word."""
    return [match[0] for match in _WORD.finditer(stem)]


def tokens(stem: str, pattern: re.Pattern[str] = _TOKEN) -> list[str]:
    """Return its runs of letters, of digits, and of signs."""
    return pattern.findall(stem)


def unpadded(text: str) -> str:
    """Return a text with its numbers without zeros before them."""
    return _NUMBER.sub(r"\1", text)
