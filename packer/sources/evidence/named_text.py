"""Whether a text is evidence of annotations, by those of its words that name images.

A text is evidence if it distinguishes images that were alike: those of one class and split. So
checksums, lists of all images, and lists that only repeat classes and splits are none. Neither is
prose, in which names stand anywhere: in a list or a record they have a place.
"""

import os
import re
from collections import defaultdict
from collections.abc import Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from packer.sources.tables.image_names import Packed
from packer.sources.tables.name_tokens import BARE, STRONG, Hashes, Words
from packer.sources.tables.texts import LINE, Evidence, Text
from packer.sources.trees.walk import IMAGE_EXTENSIONS
from packer.words import many, shortened

_IDENTITY = re.compile(rb"image|img|file|name|id$|path|frame|photo|picture|sample|key", re.I)
_DIGEST = re.compile(  # in hexadecimal, or in base 64; what ls -l and dir print of a file
    rb"(?<![\w=-])(?:(?=\w*[a-fA-F])[0-9a-fA-F]{8}|(?:[0-9a-fA-F]{8}){4,16}|[\w+/-]{43}=?)(?![\w-])"
    rb"|^\W*[-l](?:[-r][-w][-xsStT]){3}.*"
    rb"|\d{1,4}[-./]\d\d?[-./]\d{1,4}\s+\d\d?:\d\d\S*\s+(?:[AP]M\s+)?[\d.,]+\s"
)
_HEX = re.compile(rb"(?<![\w=-])(?=\w*[a-fA-F])[0-9a-fA-F]{8,}(?![\w-])")
_CHECKSUM = re.compile(  # a line that has no more than it
    rb"\W*(?:[0-9a-f]{8}){4,16} [ *]?[^\t;|]+\.\w+|[\w-]+ \([^\t|]+\) = (?:[0-9a-f]{8}){4,16}", re.I
)
_LOGGED = re.compile(  # the beginning of a line
    rb"\W*(?:\d{4}-\d\d-\d\d[ T]\d\d:\d\d.*)?\b(?:DEBUG|INFO|WARN|WARNING|ERROR|CRITICAL)\b"
)
_NOTEBOOK = re.compile(rb'"nbformat"\s*:')
_SHOWN = re.compile(rb"!\[[^\]\n]*\]\([^)\n]*\)|<img\b[^>]*>", re.I)  # in Markdown
_DIGEST_NAMES = re.compile(rb"\b(?:md5|sha-?\d+|crc-?32|xxh\w+|blake\w+)\b", re.I)
_NO_VALUE = re.compile(  # names of fields, and schemes of addresses
    rb'"[^"\n]*"\s*:|</?[\w:.-]+|[\w:.-]+=|\b(?:https?|s3|gs|ftp|file):'
)
_DELIMITERS = np.isin(np.arange(256), list(b"\t\n,;|\"'<>=:?#&[]{}"))
_OTHER_FILE = re.compile(  # at the end of a line
    rb"[\w/]\.(?!(?:%s)\b)[A-Za-z]\w{0,7}[ \t]*$" % "|".join(IMAGE_EXTENSIONS).encode(), re.I | re.M
)
_GROUPS = re.compile(rb'"([^"\n]+)"\s*:\s*\[\s*"')
_TUPLE = re.compile(rb'\[\s*"[^"\n]+"(?:\s*,\s*"[^"\n]+"){1,3}\s*\]')
_HEADING = re.compile(rb"\s*(?:#+[ \t]*[\w -]+|\[[\w -]+\]|[\w -]+:)\s*")  # of YAML, INI, a text
_HTML = re.compile(rb"\s*<(?:!doctype html|html|body|img)\b", re.I)
_TAG = re.compile(rb"<[^>]*>")
_LETTERS = re.compile(rb"[^\W\d_]{2,}")
_NOTHING = re.compile(rb"[\W_]+")
_COMPLETE = 0.99
_NEARLY, _SOME = 0.9, 0.05  # of the images
_LONG = 5  # characters
_MANY = 100  # images
_OF_A_LINE = 4  # images that belong together
_SMALL = 10  # images: a list with as many lines may be of one of them


class Decision:
    """Whether a text is evidence, by those of its words that name images."""

    def __init__(self, text: Text, known: Hashes, packed: Packed, words: Words) -> None:
        self._text, self._packed, self._images = text, packed, packed.count
        self._words, named = words, words.among(known)
        self._content = np.frombuffer(text.text, np.uint8)
        breaks = np.flatnonzero(self._content == ord("\n"))
        self._starts = np.r_[0, breaks + 1]
        self._ends = np.r_[breaks, len(text.text)]
        certain = named.take(named.kinds < BARE)
        has_place = self._have_a_place(certain)
        self._certain, self._in_prose = certain.take(has_place), certain.take(~has_place)
        self._bare = named.take(named.kinds == BARE)
        self._used = self._certain
        self.remark = ""  # on a text that is not evidence, and still says something else

    @property
    def is_evidence(self) -> bool:
        """Whether it may annotate the images that it names."""
        listed = len(np.union1d(self._image_lines, self._lines))
        in_prose = len(np.unique(np.searchsorted(self._ends, self._in_prose.starts)))
        is_list = 2 * (
            listed - in_prose
        ) >= self._filled and not self._text.text.lstrip().startswith(b"<")
        begins = len(self._certain.keys) and self._at_ends(self._certain)[0].any()
        is_small = self._images <= _SMALL and not self._text.paths[1:]
        least = 1 if is_small and is_list and begins else min(2, self._images)
        few = len(np.unique(self._certain.keys)) < least  # or all have one stem, as frames may
        if few and len(np.intersect1d(self._certain.paths, self._packed.paths)) < least:
            if (column := self._column()) is None:
                return False
            self._used = self._bare.take(column)
        if 3 * listed < self._filled and self._count < min(_MANY, self._around / 2):
            return False  # it is about something else
        return self._text.is_binary or self._distinguishes_images()

    @cached_property
    def are_checksums(self) -> bool:
        """Whether its lines hold no more than checksums and the paths of their images."""
        ranges = ((self._starts[n], self._ends[n]) for n in self._lines.tolist())
        lines = [self._text.text[start:end].strip() for start, end in ranges]
        known = sum(bool(_CHECKSUM.fullmatch(line)) for line in lines)
        return not _repeat_numbers(lines) and known >= max(1, _COMPLETE * len(lines))

    def as_list(self) -> Evidence | None:
        """Return the evidence if nearly all lines name images, if only by numbers or words."""
        self._used = self._used if len(self._used.keys) else self._bare
        return self.evidence if len(self._lines) >= max(1, _NEARLY * self._filled) else None

    @property
    def _count(self) -> int:
        return min(len(np.unique(self._used.paths)), self._images)

    @property
    def _around(self) -> int:
        """How many images are in the splits of those that it names."""
        splits, named = self._packed.splits, np.isin(self._packed.paths, self._used.paths)
        return int(np.isin(splits, splits[named]).sum()) if named.any() else self._images

    @property
    def evidence(self) -> Evidence:
        """The evidence to report."""
        shown = tuple(self._line(int(line)) for line in self._lines[:2])
        spans = zip(self._used.starts.tolist(), self._used.ends.tolist(), strict=True)
        words = {self._text.text[start:end].decode("utf-8", "replace") for start, end in spans}
        names = (word.replace("\\", "/").rpartition("/")[2] for word in words)
        stems = frozenset(os.path.splitext(name)[0] for name in names)
        return Evidence(self._text.paths, self._count, self._text.share < 1, shown, stems)

    @property
    def _lines(self) -> NDArray[np.int64]:
        """The numbers of the lines that name an image."""
        return np.unique(np.searchsorted(self._ends, self._used.starts))

    @property
    def _image_lines(self) -> NDArray[np.int64]:
        """The numbers of the lines that name an image, also one that is not packed."""
        words = self._words
        return np.unique(np.searchsorted(self._ends, words.starts[words.kinds == STRONG]))

    @property
    def _filled(self) -> int:
        """How many lines are not blank."""
        return int(np.count_nonzero(self._ends - self._starts > 1))

    def _line(self, number: int) -> str:
        """Return a line, of a long one the part around the first image that it names."""
        start, end = int(self._starts[number]), int(self._ends[number])
        first = int(self._used.starts[self._used.starts >= start].min())
        if first - start > LINE // 2:
            start = first - LINE // 4
        return shortened(self._text.text[start:end].decode("utf-8", "replace").strip(), LINE)

    def _column(self) -> NDArray[np.bool_] | None:
        """Return which bare words stand where a list or a record has its image; None if none do."""
        bare, text = self._bare, self._text.text
        if not self._are_enough(np.ones(len(bare.keys), bool)):
            return None
        lines = np.searchsorted(self._ends, bare.starts)
        for column in self._at_ends(bare):
            if 2 * len(np.unique(lines[column])) >= self._filled > 1 and self._are_enough(column):
                return column
        fields: dict[bytes, list[int]] = defaultdict(list)
        for number, start in enumerate(bare.starts.tolist()):
            if match := re.search(rb'([\w-]+)"?\s*[:=]\s*"?$', text[max(0, start - 64) : start]):
                fields[match[1]].append(number)
            elif re.search(rb'[{,]\s*"$', text[max(0, start - 8) : start]):
                fields[b"key"].append(number)  # of an object
        numbers = np.arange(len(bare.keys))
        for name, few in fields.items():
            if _IDENTITY.search(name) and self._are_enough(found := np.isin(numbers, few)):
                return found
        return None

    def _at_ends(self, words: Words) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return which words are the first of their line, and the last but for a quote."""
        lines = np.searchsorted(self._ends, words.starts)
        printed = np.r_[0, np.cumsum(self._content > ord(" "))]
        first = printed[words.starts] - printed[self._starts[lines]] <= 1
        return first, printed[self._ends[lines]] - printed[words.ends] <= 1

    def _have_a_place(self, words: Words) -> NDArray[np.bool_]:
        """Return which words are fields, or stand at one place of most lines."""
        if not len(words.keys):
            return np.zeros(0, bool)
        first, last = self._at_ends(words)
        around = np.pad(self._content, 2, constant_values=ord("\n"))
        sides = [(words.starts + 1, words.starts), (words.ends + 2, words.ends + 3)]
        near, far = ([around[each] for each in pair] for pair in zip(*sides, strict=True))
        sides = [np.where(a == ord(" "), b, a) for a, b in zip(near, far, strict=True)]
        is_field = _DELIMITERS[sides[0]] & _DELIMITERS[sides[1]]
        begins = (around[2:-2] > ord(" ")) & (around[1:-3] <= ord(" "))
        before = np.r_[0, np.cumsum(begins)]
        lines = np.searchsorted(self._ends, words.starts)
        places = before[words.starts] - before[self._starts[lines]]
        usual = np.bincount(places).argmax()
        in_column = places == usual
        count = len(np.unique(lines[in_column]))
        return first | last | is_field | (in_column & (count > 1) & (2 * count >= self._filled))

    def _are_enough(self, chosen: NDArray[np.bool_]) -> bool:
        """Return whether bare words name nearly all images, those of a split, or some in full."""
        bare = self._bare.take(chosen)
        distinct = len(np.unique(bare.keys))
        long = len(np.unique(bare.keys[bare.ends - bare.starts >= _LONG]))
        sizes = np.unique(self._packed.splits, return_counts=True)[1]
        if distinct > 1 and distinct in sizes and self._filled - distinct <= 1:
            return True  # it has a line for each, and perhaps a head
        return distinct >= max(2, _NEARLY * self._images) or long >= max(2, _SOME * self._images)

    def _distinguishes_images(self) -> bool:
        """Return whether the lines that name images hold more than names, or name only some."""
        text = self._text.text
        if len(set(_GROUPS.findall(text))) > 1 and not _NOTEBOOK.search(text):
            return True  # an object of classes or splits, each with the list of its images
        if 1 < len(tuples := _TUPLE.findall(text)) >= self._count / _OF_A_LINE:
            return len(set(tuples)) > 1  # of images that belong together
        if self._mentions_some():
            return False
        if self.are_checksums:
            return False
        content = self._content.copy()
        change = np.zeros(len(content) + 1, np.int64)
        np.add.at(change, self._used.starts, 1)
        np.add.at(change, self._used.ends, -1)
        content[np.cumsum(change[:-1]) > 0] = ord(" ")
        rest = content.tobytes()
        if _HTML.match(rest) and not re.search(rb"\w", _TAG.sub(b"", rest)):
            return False  # it only shows them
        lines = [rest[self._starts[n] : self._ends[n]] for n in self._lines.tolist()]
        lines = [_NO_VALUE.sub(b" ", line) for line in lines]
        digests = sum(bool(_DIGEST.search(line)) for line in lines)
        if _repeat_numbers(lines):
            return True
        found = [_NOTHING.sub(b" ", _DIGEST.sub(b"", line)).strip() for line in lines]
        if digests >= _COMPLETE * len(lines):
            found = [_DIGEST_NAMES.sub(b"", line).strip() for line in found]
            sizes = all(re.fullmatch(rb"\d{3,}", line) for line in found)
            return any(found) and not sizes
        found = [_NOTHING.sub(b" ", line).strip() for line in lines]
        said = {tuple(_LETTERS.findall(line)) for line in found}
        if len(said) == 1 and len(said.pop()) > 1 and self._is_in_sentences():
            return False  # a log
        if self._names_parts() or self._joins_classes() or self._has_sections():
            return True
        if sum(map(bool, found)) > (1 - _COMPLETE) * len(found) and not (
            _count_up(found) or self._follow_from_classes(found)
        ):
            return True
        if 2 * len(_OTHER_FILE.findall(text)) > self._filled:
            return False
        between = self._filled - len(np.union1d(self._image_lines, self._lines))
        if between > len(self._lines) / 2:
            return True  # of records of several lines
        return not self._is_known() or not self._has_the_same_folders()

    def _mentions_some(self) -> bool:
        """Return whether a notebook, a log or a page that shows images has the names of few."""
        text = self._text.text
        if 2 * self._count > self._images:
            return False
        if _NOTEBOOK.search(text):
            return True
        spans = [match.span() for match in _SHOWN.finditer(text)]
        inside = np.zeros(len(self._used.keys), bool)
        for start, end in spans:
            inside |= (self._used.starts >= start) & (self._used.ends <= end)
        logged = sum(bool(_LOGGED.match(text, int(start))) for start in self._starts)
        return bool(inside.all()) or logged >= _NEARLY * self._filled

    def _is_in_sentences(self) -> bool:
        """Return whether most names stand between blanks, within a line."""
        first, last = self._at_ends(self._used)
        around = np.pad(self._content, 1, constant_values=ord("\n"))
        blanks = (around[self._used.starts] == ord(" ")) & (around[self._used.ends + 1] == ord(" "))
        return 2 * np.count_nonzero(blanks & ~first & ~last) > len(blanks)

    def _names_parts(self) -> bool:
        """Return whether most lines name images of one name in several folders, as a pair's."""
        lines = np.searchsorted(self._ends, self._used.starts).astype(np.uint64)
        each = np.stack([lines, self._used.keys, self._used.paths], axis=1)
        each = np.unique(each[np.isin(self._used.paths, self._packed.paths)], axis=0)
        _, counts = np.unique(each[:, :2], axis=0, return_counts=True)
        return 2 * np.count_nonzero(counts > 1) > len(self._lines)

    def _joins_classes(self) -> bool:
        """Return whether most lines name a few images of several classes, as pairs of two are."""
        labels = self._packed.classes_of(self._used)
        if labels is None or len(self._lines) < 2:
            return False
        lines = np.searchsorted(self._ends, self._used.starts)
        _, sizes = np.unique(lines, return_counts=True)
        _, classes = np.unique(
            np.unique(np.stack([lines, labels], axis=1), axis=0)[:, 0], return_counts=True
        )
        return bool(sizes.max() <= _OF_A_LINE and np.mean(classes > 1) >= _NEARLY)

    def _has_sections(self) -> bool:
        """Return whether headings divide the images of one class and split: ``[train]``."""
        lines = np.union1d(self._image_lines, self._lines)
        firsts = lines[np.diff(lines, prepend=-1) > 1] - 1
        spans = zip(firsts, self._starts[firsts], self._ends[firsts], strict=True)
        heads = [n for n, a, b in spans if n >= 0 and _HEADING.fullmatch(self._text.text, a, b)]
        of = np.searchsorted(heads, np.searchsorted(self._ends, self._used.starts), "right")
        sections = [self._used.take(of == n) for n in range(1, min(len(heads), _MANY) + 1)]
        groups = [set(self._packed.groups[self._packed.named(one)].tolist()) for one in sections]
        return sum(map(len, groups)) > len(set[int]().union(*groups))

    def _is_known(self) -> bool:
        """Return whether it names just all images of some classes or splits, or of all."""
        packed = self._packed
        if self._text.paths[1:] and (packed.groups == packed.groups[0]).all():
            return len(self._lines) > self._images  # else each is a part
        if self._text.share < 1:
            named_by = len(np.unique(self._used.paths)) / self._text.share
            return named_by >= _COMPLETE * self._images
        named = packed.named(self._used)
        return bool(named[np.isin(packed.groups, packed.groups[named])].all())

    def _follow_from_classes(self, values: Sequence[bytes]) -> bool:
        """Return whether each line has another word for the class of its image, and no more."""
        firsts = np.unique(np.searchsorted(self._ends, self._used.starts), return_index=True)[1]
        labels = self._packed.classes_of(self._used.take(firsts))
        if labels is None or b" " in b"".join(values):
            return False
        pairs = set(zip(labels.tolist(), values, strict=True))
        if not 1 < len(pairs) == len(set(values)) == len(np.unique(labels)) < len(values):
            return False
        self.remark = (
            f"{self._text.paths[0]} names {self._count:,} of {many(self._images, 'image')} and is "
            "ignored: the labels are those of the folders, and it has one word for each of them, "
            f"as in {self._line(int(self._lines[0]))!r}."
        )
        return True

    def _has_the_same_folders(self) -> bool:
        """Return whether the folders in the list are only those of the images."""
        pairs = zip(self._used.starts.tolist(), self._used.ends.tolist(), strict=True)
        folders = {self._text.text[a:b].replace(b"\\", b"/").rpartition(b"/")[0] for a, b in pairs}
        paths = np.unique(self._used.paths)
        return len(folders) == 1 or np.isin(paths, self._packed.paths).mean() >= _COMPLETE


def _repeat_numbers(lines: Sequence[bytes]) -> bool:
    """Return whether hexadecimal numbers come again, of persons or things: checksums do not."""
    values = [match[0] for line in lines for match in _HEX.finditer(line)]
    return 1 < len(set(values)) < _NEARLY * len(values)


def _count_up(fields: Sequence[bytes]) -> bool:
    """Return whether these are numbers that count the lines, from 0 or 1 on."""
    numbers = [int(field) for field in fields if field.isdigit()]
    return len(numbers) == len(fields) > 1 > numbers[0] - 1 and set(
        map(int.__sub__, numbers[1:], numbers)
    ) == {1}
