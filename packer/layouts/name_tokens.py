"""Hashes of the words of texts and of the stems of images, many at a time.

A word is compared by the stem of its last path component, without regard to case; numbers also
without leading zeros. Texts and names are hashed in chunks of `CHUNK` bytes by prefix sums.
"""

import html
import io
import re
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple
from urllib.parse import unquote_to_bytes

import numpy as np
from numpy.typing import NDArray

from packer.files.text import decoded
from packer.trees.walk import IMAGE_EXTENSIONS

CHUNK = 1 << 20  # bytes that are hashed at a time

Hashes = NDArray[np.uint64]
Ends = NDArray[np.int64]

# How a word names an image: with the extension of an image; by a stem that is hardly anything else;
# by one that may be any number or word.
STRONG, SPECIFIC, BARE = range(3)
_SPECIFIC = 5  # characters

_FACTOR = 0x9E3779B97F4A7C15  # odd: it has an inverse
_NUMBER = np.uint64(0xD1B54A32D192ED03)  # distinguishes the hash of a number from that of a text
_TAIL = np.uint64(0x8CB92BA72F3D8DD7)  # and that of the last word of a name with blanks
_PATH = np.uint64(0xA3B195354A39B70D)  # and that of a stem with its folder
_CONTROL = bytes(range(33))
_SEPARATORS = (  # a name may hold blanks, commas or brackets, so that texts are divided three times
    b"\t\n\v\f\r\0,;|\"'<>=()[]{}#:?&*!`" + _CONTROL,
    b'\t\n\v\f\r\0,;|"<>',
    b'\t\n\v\f\r\0"',
)
_LEAST_TEXT = 0.95  # share of the bytes that are no control characters
_ARCHIVED = 1 << 24  # bytes of a spreadsheet


def _powers(base: int) -> Hashes:
    factors = np.full(CHUNK + 1, base, np.uint64)
    factors[0] = 1
    return np.cumprod(factors, dtype=np.uint64)


def _flags(characters: bytes) -> NDArray[np.bool_]:
    found = np.zeros(256, bool)
    found[list(characters)] = True
    return found


_VALUES = np.random.default_rng(7).integers(1, 1 << 63, 256, np.uint64)
_VALUES[list(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ")] = _VALUES[list(b"abcdefghijklmnopqrstuvwxyz")]
_VALUES[ord("\\")] = _VALUES[ord("/")]
_POWERS, _INVERSES = _powers(_FACTOR), _powers(pow(_FACTOR, -1, 1 << 64))


class _Hashed:
    """At most `CHUNK` bytes, of which any span is hashed at once."""

    def __init__(self, data: bytes) -> None:
        self.bytes = np.frombuffer(data, np.uint8)
        self._sums = np.zeros(len(data) + 1, np.uint64)
        np.cumsum(_VALUES[self.bytes] * _POWERS[: len(data)], out=self._sums[1:])

    def spans(self, starts: Ends, ends: Ends) -> Hashes:
        """Return the hash of each span."""
        found: Hashes = (self._sums[ends] - self._sums[starts]) * _INVERSES[starts]
        return found

    def positions(self, characters: bytes) -> Ends:
        """Return where these characters are."""
        if len(characters) < 3:
            return np.flatnonzero(np.logical_or.reduce([self.bytes == one for one in characters]))
        return np.flatnonzero(_flags(characters)[self.bytes])

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


_IS_DIGIT = _flags(b"0123456789")
_DIGITS_MOST = 24  # of a number that ends a stem


class Words(NamedTuple):
    """Words of a text that may name images: where they lie, and what they are compared by."""

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

    def take(self, chosen: NDArray[np.bool_]) -> "Words":
        """Return some of them."""
        columns: tuple[Any, ...] = self
        return Words(*map(itemgetter(chosen), columns))


def words_of(text: bytes, *, are_plain: bool) -> Words:
    """Return the words of at most `CHUNK` bytes; `are_plain`: no image has a name with blanks."""
    hashed = _Hashed(text[:CHUNK])
    ranks = range(1 if are_plain else len(_SEPARATORS))
    parts = [part for rank in ranks for part in _words(hashed, rank)]
    return Words(*map(np.concatenate, zip(*parts, strict=True)))


def _words(hashed: _Hashed, rank: int) -> Iterator[Words]:
    inner = np.zeros(len(hashed.bytes) + 2, bool)
    inner[1:-1] = ~_flags(_SEPARATORS[rank])[hashed.bytes]
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
    strong = has_dot & np.isin(extension, _EXTENSIONS)
    paths = hashed.spans(above, np.where(strong, stems, ends)) ^ _PATH
    digits = np.zeros(len(hashed.bytes) + 1, np.int64)
    np.cumsum(_IS_DIGIT[hashed.bytes], out=digits[1:])

    def made(
        chosen: NDArray[np.bool_], kinds: NDArray[np.int8], until: Ends, keys: Hashes, rank: int
    ) -> Words:
        ranks = np.full(len(starts), rank, np.int8)
        return Words(starts, until, keys, paths, kinds, ranks).take(chosen)

    kinds = np.full(len(starts), STRONG, np.int8)
    keys = hashed.spans(bases, stems)
    yield made(strong, kinds, ends, keys, rank)
    yield made(strong, kinds, ends, keys ^ _TAIL, rank + len(_SEPARATORS))
    has_folder = ~strong & (above < bases)
    kinds = np.full(len(starts), SPECIFIC, np.int8)
    yield made(has_folder, kinds, ends, paths, rank)
    for until in (ends, stems):
        length, count = until - bases, digits[until] - digits[bases]
        is_number = (count == length) & (length > 0)
        padded = is_number & (hashed.bytes[np.minimum(bases, len(hashed.bytes) - 1)] == ord("0"))
        specific = (length >= _SPECIFIC) & (((count > 0) & ~is_number) | padded)
        chosen = ~strong & (length > 0) & (specific if until is stems else True)
        kinds = np.where(specific, SPECIFIC, BARE).astype(np.int8)
        yield made(chosen, kinds, until, hashed.spans(bases, until), rank)
        if until is ends:
            kinds = np.full(len(starts), BARE, np.int8)
            yield made(chosen & is_number, kinds, until, hashed.numbers(bases, until), rank)


@dataclass(frozen=True)
class ImageNames:
    """Some images, by what words are compared with.

    Attributes:
        keys: of stems, of these with their folders, of the numbers and of the words that end them.
        are_plain: no name holds a blank, or another character between words.
    """

    keys: Hashes
    stems: Hashes
    are_plain: bool


def image_names(text: bytes, lengths: NDArray[np.int64]) -> ImageNames:
    """Return what names are compared by, which follow each other in at most `CHUNK` bytes."""
    hashed = _Hashed(text)
    ends = np.cumsum(lengths)
    starts = ends - lengths
    slashes = hashed.positions(b"/")
    bases = np.maximum(hashed.before(slashes, starts, ends) + 1, starts)
    above = np.maximum(hashed.before(slashes, starts, bases - 1) + 1, starts)
    dots = hashed.before(hashed.positions(b"."), bases, ends)
    stems = np.where(dots > bases, dots, ends)
    of_stems = hashed.spans(bases, stems)
    keys = [of_stems, hashed.spans(above, stems) ^ _PATH]
    digits = _trailing_digits(hashed.bytes, bases, stems)
    is_number = (digits > 0) & ((digits == stems - bases) | (digits >= _SPECIFIC))
    keys.append(hashed.numbers((stems - digits)[is_number], stems[is_number]))
    if not (are_plain := not _flags(_SEPARATORS[0])[hashed.bytes].any()):
        tails = hashed.before(hashed.positions(_SEPARATORS[0]), bases, stems) + 1
        has_tail = (tails > 0) & (tails < stems)
        keys.append(hashed.spans(tails, stems)[has_tail] ^ _TAIL)
    return ImageNames(np.concatenate(keys), of_stems, are_plain)


def _trailing_digits(content: NDArray[np.uint8], starts: Ends, ends: Ends) -> Ends:
    """Return how many digits end each span, up to a limit."""
    counts = np.zeros(len(ends), np.int64)
    run = np.ones(len(ends), bool)
    for back in range(1, _DIGITS_MOST + 1):
        at = ends - back
        run &= (at >= starts) & _IS_DIGIT[content[np.maximum(at, 0)]]
        if not run.any():
            break
        counts += run
    return counts


def stem_hashes(stems: Sequence[bytes]) -> Hashes:
    """Return what the stems of images are compared by."""
    text = b"".join(stems)[:CHUNK]
    ends = np.cumsum(np.fromiter(map(len, stems), np.int64, len(stems)))
    ends = ends[ends <= len(text)]
    return _Hashed(text).spans(np.r_[0, ends[:-1]], ends) if len(ends) else np.empty(0, np.uint64)


_EXTENSIONS = stem_hashes([ext.encode() for ext in IMAGE_EXTENSIONS])


def text_of(data: bytes) -> bytes | None:
    """Return the text of a file as UTF-8, with escapes resolved; None if it is none."""
    if data.startswith(b"PK\3\4"):
        return _spreadsheet(data)
    head = decoded(data[:4096], is_cut=True).encode("latin-1", "replace")
    signs = np.frombuffer(head, np.uint8)
    if np.count_nonzero((signs >= 32) | ((signs >= 9) & (signs <= 13))) < _LEAST_TEXT * len(head):
        return None
    data = decoded(data, is_cut=True).encode("utf-8", "replace")
    data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if b"\\u" in data:
        data = re.sub(rb"\\u([0-9a-fA-F]{4})", _character, data)
    data = data.replace(b"\\/", b"/")
    if b"&" in data:
        data = html.unescape(data.decode("utf-8", "replace")).encode("utf-8", "replace")
    return unquote_to_bytes(data) if re.search(rb"%[2-9A-Fa-f][0-9A-Fa-f]", data) else data


def _character(match: "re.Match[bytes]") -> bytes:
    return chr(int(match[1], 16)).encode("utf-8", "replace")


def _spreadsheet(data: bytes) -> bytes | None:
    """Return the texts of a spreadsheet, each on a line."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            names = [item for item in archive.infolist() if item.filename.endswith(".xml")]
            parts = []
            for item in names:
                with archive.open(item) as file:
                    parts.append(file.read(CHUNK))
    except (OSError, zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError):
        return None
    text = b"\n".join(re.findall(rb">([^<>]+)<", b"".join(parts)[:_ARCHIVED]))
    return html.unescape(text.decode("utf-8", "replace")).encode() or None
