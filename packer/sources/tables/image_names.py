"""What images are named by, and what is known of each: words of texts are compared with it."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from packer.samples.table import SampleTable
from packer.sources.tables.name_tokens import (
    IS_DIGIT,
    OF_PATH,
    OF_TAIL,
    SEPARATORS,
    SPECIFIC_LENGTH,
    Ends,
    Hashed,
    Hashes,
    Words,
    affixes_of,
    flags,
)

AT_A_TIME = 1 << 17  # bytes of names of images: their hashes stay in a cache
_COUNTER = 8  # digits before a "-" and the name that an image has in Parquet
_NONE = np.uint64(0)  # in place of the hash of a form that an image lacks
_DIGITS_MOST = 24  # of a number that ends a stem
_LOOKED_AT = 1000  # images, for what all names share
_CUTS = 9  # affixes

Affixes = tuple[bytes, bytes]  # what stems begin and end with


@dataclass(frozen=True)
class ImageNames:
    """Some images, by what words are compared with.

    Attributes:
        keys: of all forms, of stems with their folders, and of the words that end stems.
        forms: of each image: the stem, it without an affix that all share, and their numbers.
        paths: those of each image with its folder.
        are_plain: no name holds a blank, or another character between words.
        folders: how many are in each.
    """

    keys: Hashes
    forms: Sequence[Hashes]
    paths: Hashes
    are_plain: bool
    folders: Mapping[str, int]


def image_names(
    text: bytes, lengths: NDArray[np.int64], affixes: Sequence[Affixes] = ()
) -> ImageNames:
    """Return what names are compared by, which follow each other in at most `CHUNK` bytes."""
    hashed = Hashed(text)
    ends = np.cumsum(lengths)
    starts = ends - lengths
    slashes = hashed.positions(b"/")
    bases = np.maximum(hashed.before(slashes, starts, ends) + 1, starts)
    above = np.maximum(hashed.before(slashes, starts, bases - 1) + 1, starts)
    points = hashed.positions(b".")
    dots = hashed.before(points, bases, ends)
    stems = np.where(dots > bases, dots, ends)
    of_stems = hashed.spans(bases, stems)
    of_paths = hashed.spans(above, stems) ^ OF_PATH
    digits = _trailing_digits(hashed.bytes, bases, stems)
    is_number = (digits > 0) & ((digits == stems - bases) | (digits >= SPECIFIC_LENGTH))
    of_numbers = np.full(len(stems), _NONE)
    of_numbers[is_number] = hashed.numbers((stems - digits)[is_number], stems[is_number])
    forms = [of_stems, of_numbers]
    for before, behind in affixes:
        start, end = bases + len(before), stems - len(behind)
        has_both = (start < end) & hashed.hold(before, bases)
        start, end = np.where(has_both, start, bases), np.where(has_both, end, stems)
        has_both &= hashed.hold(behind, end)
        count = _trailing_digits(hashed.bytes, start, end) if behind else digits
        is_number = has_both & (count >= end - start)
        form = np.where(has_both, hashed.spans(start, end), _NONE)
        form[is_number] = hashed.numbers(start[is_number], end[is_number])
        forms.append(form)
    inner = hashed.before(points, bases, stems)
    forms.append(np.where(inner > bases, hashed.spans(np.minimum(inner + 1, stems), stems), _NONE))
    counted = (bases + _COUNTER < stems) & hashed.hold(b"-", bases + _COUNTER)
    for n in range(_COUNTER if counted.any() else 0):
        counted &= IS_DIGIT[hashed.bytes[np.minimum(bases + n, len(text) - 1)]]
    forms.append(
        np.where(counted, hashed.spans(np.minimum(bases + _COUNTER + 1, stems), stems), _NONE)
    )
    keys = [of_paths, *(form[form != _NONE] for form in forms)]
    if not (are_plain := not flags(SEPARATORS[0])[hashed.bytes].any()):
        tails = hashed.before(hashed.positions(SEPARATORS[0]), bases, stems) + 1
        has_tail = (tails > 0) & (tails < stems)
        keys.append(hashed.spans(tails, stems)[has_tail] ^ OF_TAIL)
    places = hashed.spans(starts, bases)
    _, firsts, counts = np.unique(places, return_index=True, return_counts=True)
    spans = zip(starts[firsts].tolist(), bases[firsts].tolist(), strict=True)
    paths = (os.fsdecode(text[start : max(start, base - 1)]) for start, base in spans)
    folders = Counter(dict(zip(paths, counts.tolist(), strict=True)))
    return ImageNames(np.concatenate(keys), forms, of_paths, are_plain, folders)


def _trailing_digits(content: NDArray[np.uint8], starts: Ends, ends: Ends) -> Ends:
    """Return how many digits end each span, up to a limit."""
    counts = np.zeros(len(ends), np.int64)
    run = np.ones(len(ends), bool)
    for back in range(1, _DIGITS_MOST + 1):
        at = ends - back
        run &= (at >= starts) & IS_DIGIT[content[np.maximum(at, 0)]]
        if not run.any():
            break
        counts += run
    return counts


class Packed:
    """The images that are packed: what words are compared with, and what is known of each."""

    def __init__(self, listing: SampleTable) -> None:
        self._listing, self.count = listing, len(listing)
        self._folders: Counter[str] = Counter()

    @cached_property
    def affixes(self) -> Sequence[Affixes]:
        """What the first images' names share, without which they may be named, too."""
        text, lengths = next(self._listing.names(AT_A_TIME))
        ends = np.cumsum(lengths)[:_LOOKED_AT].tolist()
        names = [os.fsdecode(text[a:b]) for a, b in pairwise([0, *ends])]
        pairs = affixes_of([os.path.splitext(os.path.basename(name))[0] for name in names])
        return [(os.fsencode(a), os.fsencode(b)) for a, b in pairs[1:_CUTS]]

    def names(self) -> Iterator[ImageNames]:
        """Yield what they are compared by, some at a time."""
        self._folders = Counter()
        for part in self._listing.names(AT_A_TIME):
            names = image_names(*part, self.affixes)
            self._folders.update(names.folders)
            yield names

    @cached_property
    def _names(self) -> Sequence[Hashes]:
        parts = [(part.paths, *part.forms) for part in self.names()]
        columns = zip(*parts, strict=True)
        return [np.concatenate(column) for column in columns]

    @property
    def stems(self) -> Hashes:
        """The key of each image's stem."""
        return self._names[1]

    @property
    def paths(self) -> Hashes:
        """The key of each image's stem with its folder."""
        return self._names[0]

    @property
    def folders(self) -> Mapping[str, int]:
        """How many images each folder holds, by its path."""
        if not self._folders:
            _ = self._names
        return self._folders

    def named(self, words: Words) -> NDArray[np.bool_]:
        """Return which images the words name: by folder and stem, else by any form of the stem."""
        found: NDArray[np.bool_] = np.isin(self.paths, words.paths)
        if not found.any():
            found = np.logical_or.reduce([np.isin(form, words.keys) for form in self._names[1:]])
        return found

    @cached_property
    def groups(self) -> NDArray[np.int64]:
        """A number for the class and the split of each image."""
        labels = self._listing.labels
        found: NDArray[np.int64] = self.splits * (2 + labels.max()) + labels
        return found

    @cached_property
    def splits(self) -> NDArray[np.int64]:
        """A number for the split of each image."""
        return np.unique(self._listing.splits, return_inverse=True)[1]

    def classes_of(self, words: Words) -> NDArray[np.int64] | None:
        """Return the class of the image that each word names; None if one may be of several."""
        labels = self._listing.labels
        for known, keys in ((self.paths, words.paths), (self.stems, words.keys)):
            order = np.lexsort((labels, known))
            first, end = (np.searchsorted(known[order], keys, side) for side in ("left", "right"))
            if (first < end).all():
                found: NDArray[np.int64] = labels[order[first]]
                return found if (found == labels[order[end - 1]]).all() else None
        return None
