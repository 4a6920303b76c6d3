"""Hashes of the words of texts and of the stems of images, many at a time.

A word is compared by the stem of its last path component, without regard to case; numbers also
without leading zeros. Texts and names are hashed in chunks of `CHUNK` bytes by prefix sums.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from packer.sources.trees.walk import IMAGE_EXTENSIONS

CHUNK = 1 << 20  # bytes that are hashed at a time

Hashes = NDArray[np.uint64]
Ends = NDArray[np.int64]

# How a word names an image: with the extension of an image; by a stem that is hardly anything else;
# by one that may be any number or word.
STRONG, SPECIFIC, BARE = range(3)
SPECIFIC_LENGTH = 5  # characters

_FACTOR = 0x9E3779B97F4A7C15  # odd: it has an inverse
_NUMBER = np.uint64(0xD1B54A32D192ED03)  # distinguishes the hash of a number from that of a text
OF_TAIL = np.uint64(0x8CB92BA72F3D8DD7)  # and that of the last word of a name with blanks
OF_PATH = np.uint64(0xA3B195354A39B70D)  # and that of a stem with its folder
_AFFIX = re.compile(r"[^a-zA-Z0-9]+|(?<=[a-zA-Z])(?=\d)")  # up to which one may be cut off
_SIGNS = re.compile(r"[^a-zA-Z0-9]+")
_FEW = 64  # longest affix, characters
_CONTROL = bytes(range(33))
SEPARATORS = (  # a name may hold blanks, commas or brackets, so that texts are divided three times
    b"\t\n\v\f\r\0,;|\"'<>=()[]{}#:?&*!`" + _CONTROL,
    b'\t\n\v\f\r\0,;|"<>',
    b'\t\n\v\f\r\0"',
)


@cache
def _powers(base: int, count: int) -> Hashes:
    factors = np.full(count, base, np.uint64)
    factors[0] = 1
    return np.cumprod(factors, dtype=np.uint64)


@cache
def _values() -> Hashes:
    """Return a number for each byte, the same for both cases and both slashes."""
    values = np.random.default_rng(7).integers(1, 1 << 63, 256, np.uint64)
    values[list(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")] = values[list(b"abcdefghijklmnopqrstuvwxyz")]
    values[ord("\\")] = values[ord("/")]
    return values


def flags(characters: bytes) -> NDArray[np.bool_]:
    found = np.zeros(256, bool)
    found[list(characters)] = True
    return found


class Hashed:
    """At most `CHUNK` bytes, of which any span is hashed at once."""

    def __init__(self, data: bytes) -> None:
        self.bytes = np.frombuffer(data, np.uint8)
        self._sums = np.zeros(len(data) + 1, np.uint64)
        count = (1 << (len(data) - 1).bit_length()) + 1  # so that few tables are kept
        self._inverses = _powers(pow(_FACTOR, -1, 1 << 64), count)
        values = _values()[self.bytes] * _powers(_FACTOR, count)[: len(data)]
        np.cumsum(values, out=self._sums[1:])

    def spans(self, starts: Ends, ends: Ends) -> Hashes:
        """Return the hash of each span."""
        found: Hashes = (self._sums[ends] - self._sums[starts]) * self._inverses[starts]
        return found

    def positions(self, characters: bytes) -> Ends:
        """Return where these characters are."""
        if len(characters) < 3:
            return np.flatnonzero(np.logical_or.reduce([self.bytes == one for one in characters]))
        return np.flatnonzero(flags(characters)[self.bytes])

    def hold(self, text: bytes, starts: Ends) -> NDArray[np.bool_]:
        """Return whether the text stands at each of these places."""
        last = len(self.bytes) - 1
        found = [self.bytes[np.minimum(starts + n, last)] == byte for n, byte in enumerate(text)]
        return np.logical_and.reduce([np.ones(len(starts), bool), *found])

    def before(self, positions: Ends, starts: Ends, ends: Ends) -> Ends:
        """Return the last of the positions in each span, -1 where there is none."""
        if not len(positions):
            return np.full(len(ends), -1)
        found = positions[np.searchsorted(positions, ends) - 1]
        return np.where((found >= starts) & (found < ends), found, -1)

    def numbers(self, starts: Ends, ends: Ends) -> Hashes:
        """Return the hash of each span of digits, without leading zeros."""
        at = np.flatnonzero(self.bytes != ord("0"))
        if not len(at):
            return self.spans(ends - 1, ends) ^ _NUMBER
        rows = np.searchsorted(at, starts)
        first = np.where(rows < len(at), at[np.minimum(rows, len(at) - 1)], ends - 1)
        return self.spans(np.minimum(first, ends - 1), ends) ^ _NUMBER


IS_DIGIT = flags(b"0123456789")
_ZERO = Hashed(b"0").spans(np.zeros(1, np.int64), np.ones(1, np.int64))


class Words(NamedTuple):
    """Words of a text that may name images: their positions, and their forms for comparison."""

    starts: Ends
    ends: Ends
    keys: Hashes
    paths: Hashes  # the key of the last two path components
    kinds: NDArray[np.int8]
    ranks: NDArray[np.int8]  # the lowest is right where several end at one place

    def among(self, known: Hashes) -> "Words":
        """Return those whose keys are in `known`, one for each place."""
        found = self.take(np.isin(self.keys, known))
        order = np.lexsort((found.ranks, found.ends))
        first = np.diff(found.ends[order], prepend=-1) > 0
        chosen = np.zeros(len(order), bool)
        chosen[order[first]] = True
        return found.take(chosen)

    def take(self, chosen: NDArray[Any]) -> "Words":
        """Return those that are chosen, by flags or by numbers."""
        columns: tuple[Any, ...] = self
        return Words(*map(itemgetter(chosen), columns))


def keys_of(text: bytes, *, are_plain: bool) -> Hashes:
    """Return the keys of the words of a text, sorted; a word that comes again is hashed once."""
    if are_plain:
        text = b"\n".join(set(text[:CHUNK].translate(_AS_BLANKS).split()))
    return np.unique(words_of(text, are_plain=are_plain).keys)


def words_of(text: bytes, *, are_plain: bool) -> Words:
    """Return the words of at most `CHUNK` bytes; `are_plain`: no image has a name with blanks."""
    hashed = Hashed(text[:CHUNK])
    ranks = range(1 if are_plain else len(SEPARATORS))
    parts = [part for rank in ranks for part in _words(hashed, rank)]
    return Words(*map(np.concatenate, zip(*parts, strict=True)))


def _words(hashed: Hashed, rank: int) -> Iterator[Words]:
    inner = np.zeros(len(hashed.bytes) + 2, bool)
    inner[1:-1] = ~flags(SEPARATORS[rank])[hashed.bytes]
    starts, ends = np.flatnonzero(np.diff(inner)).reshape(-1, 2).T
    for _ in range(3):  # the end of a sentence
        ends = ends - ((hashed.bytes[ends - 1] == ord(".")) & (ends - starts > 1))
    slashes = hashed.positions(b"/\\")
    bases = np.maximum(hashed.before(slashes, starts, ends - 1) + 1, starts)
    above = np.maximum(hashed.before(slashes, starts, bases - 1) + 1, starts)
    dots = hashed.before(hashed.positions(b"."), bases, ends)
    has_dot = dots > bases
    stems = np.where(has_dot, dots, ends)
    extension = hashed.spans(np.minimum(stems + 1, ends), ends)
    strong = has_dot & np.isin(extension, _extensions())
    paths = hashed.spans(above, np.where(strong, stems, ends)) ^ OF_PATH
    digits = np.zeros(len(hashed.bytes) + 1, np.int64)
    np.cumsum(IS_DIGIT[hashed.bytes], out=digits[1:])

    def made(
        chosen: NDArray[np.bool_], kinds: NDArray[np.int8], until: Ends, keys: Hashes, rank: int
    ) -> Words:
        ranks = np.full(len(starts), rank, np.int8)
        return Words(starts, until, keys, paths, kinds, ranks).take(chosen)

    kinds = np.full(len(starts), STRONG, np.int8)
    keys = hashed.spans(bases, stems)
    yield made(strong, kinds, ends, keys, rank)
    yield made(strong, kinds, ends, keys ^ OF_TAIL, rank + len(SEPARATORS))
    has_folder = ~strong & (above < bases)
    kinds = np.full(len(starts), SPECIFIC, np.int8)
    yield made(has_folder, kinds, ends, paths, rank)
    for until in (ends, stems):
        length, count = until - bases, digits[until] - digits[bases]
        is_number = (count == length) & (length > 0)
        padded = is_number & (hashed.bytes[np.minimum(bases, len(hashed.bytes) - 1)] == ord("0"))
        specific = (length >= SPECIFIC_LENGTH) & (((count > 0) & ~is_number) | padded)
        chosen = ~strong & (length > 0) & (specific if until is stems else True)
        kinds = np.where(specific, SPECIFIC, BARE).astype(np.int8)
        yield made(chosen, kinds, until, hashed.spans(bases, until), rank)
        is_whole = ~has_dot | (extension == _ZERO)  # pandas writes 1 as 1.0
        kinds = np.full(len(starts), BARE, np.int8)
        whole = ~strong & is_number & is_whole
        yield made(whole, kinds, ends, hashed.numbers(bases, until), rank)


def affixes_of(stems: Sequence[str]) -> list[tuple[str, str]]:
    """Return the prefixes and suffixes without which stems may be named: those that most share."""
    before, behind = _shared(stems), _shared([stem[::-1] for stem in stems])[::-1][-_FEW:]
    starts = ["", *(before[: match.end()] for match in _AFFIX.finditer(before[:_FEW]))]
    ends = ["", *(behind[match.start() :] for match in _SIGNS.finditer(behind))]
    return [(start, end) for end in ends for start in starts]


def _shared(stems: Sequence[str]) -> str:
    """Return the beginning that most of several texts share: a few may differ."""
    ordered, few = sorted(stems), len(stems) // 4
    first, last = ordered[few], ordered[-1 - few]
    same = [a == b for a, b in zip(first, last, strict=False)]
    return first[: [*same, False].index(False)] if len(stems) > 1 else ""


def stem_hashes(stems: Sequence[bytes]) -> Hashes:
    """Return what the stems of images are compared by."""
    text = b"".join(stems)[:CHUNK]
    ends = np.cumsum(np.fromiter(map(len, stems), np.int64, len(stems)))
    ends = ends[ends <= len(text)]
    return Hashed(text).spans(np.r_[0, ends[:-1]], ends) if len(ends) else np.empty(0, np.uint64)


_AS_BLANKS = bytes(32 if byte in SEPARATORS[0] else byte for byte in range(256))


@cache
def _extensions() -> Hashes:
    return stem_hashes([ext.encode() for ext in IMAGE_EXTENSIONS])
