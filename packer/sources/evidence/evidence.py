"""Refuses a source in which a file that nothing reads names its images: it annotates them.

Content decides, not the names of tools. Each leftover text is read once, up to a limit, and its
words are compared with the names of the images that are packed, which stream by once. These are
not evidence: checksums, lists of all images, prose that mentions a few of them.
"""

import glob
import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from packer.errors import BadImage, UnusableInput
from packer.options.declared import SourceOptions
from packer.samples.records import Source
from packer.samples.table import SampleTable
from packer.sources.evidence.advice import refusal, relative
from packer.sources.evidence.classes import ClassNumbers
from packer.sources.evidence.composed import Compositions
from packer.sources.evidence.folders import Folders
from packer.sources.evidence.gathered import few_of, remarks_on, texts_of
from packer.sources.evidence.grouped import grouped
from packer.sources.evidence.joined_ids import joined_ids
from packer.sources.evidence.lists import without_split
from packer.sources.evidence.named_text import Decision
from packer.sources.evidence.readings import readings
from packer.sources.evidence.rows import in_order
from packer.sources.evidence.scanned import Reading, Scanned
from packer.sources.tables.image_names import Packed
from packer.sources.tables.name_tokens import (
    CHUNK,
    Hashes,
    affixes_of,
    keys_of,
    stem_hashes,
    words_of,
)
from packer.sources.tables.names import numbered
from packer.sources.tables.texts import DISORDER, LINE, ORDER, Evidence, Text, text_of
from packer.sources.trees.find import tree_at
from packer.sources.trees.shape import inside
from packer.sources.trees.tree import Tree
from packer.sources.trees.walk import DELIMITERS, NOT_AN_IMAGE, TEXT_TABLES, names_an_image
from packer.words import Message, command, many

_CUTS = 16
_BITS = 22  # of a hash
_SHIFT = np.uint64(64 - _BITS)


def refuse_evidence(
    source: Source, listing: SampleTable, src: Path, options: SourceOptions, summary: str
) -> tuple[tuple[str, ...], SourceOptions | None]:
    """Raise UnusableInput where a file that `source` ignores names the images of `listing`.

    `summary` is the sentence on how the source is read. Return remarks on what was not searched,
    and the options that read the file, too, where there is one way to keep all.
    """
    tree = getattr(source, "tree", None)  # to which the names of what it skips are relative
    tree = tree if isinstance(tree, Tree) else tree_at(src, options.ignore)
    if tree is None or not len(listing):
        return (), None
    leftovers = [item.name for item in listing.skipped if item.reason == NOT_AN_IMAGE]
    if not leftovers:
        return (), None
    for path in leftovers if options.kind not in ("folder", "flat") else ():
        if path.lower().endswith((*TEXT_TABLES, ".json")):
            _check_table(tree, path, src)
    unread = Scanned(listing, source, tree, src)
    found, remarks = find_evidence(unread, leftovers, unread.base(options))
    if not found:
        return remarks, None
    asked = options.kind or options.has_templates or options.pairs or options.of_table
    ways, digests = list[Reading](), list[int]()  # of what each way packs
    for way, scan in readings(found, options, unread):
        if not ways and way.is_clear and not (asked or _has_siblings(tree, found, leftovers)):
            return (), way.options(options)
        ways.append(way)
        digests.append(scan.digest)
    error = refusal(found, tree, src, options, len(listing), ways, summary)
    error.packs = digests
    raise error


def _has_siblings(tree: Tree, found: Sequence[Evidence], leftovers: Sequence[str]) -> bool:
    """Return whether tables beside those found are not read: records may refer to each other.

    Other texts are tables if they have as many lines.
    """

    def kind(path: str) -> tuple[str, ...]:
        folder, ext = os.path.dirname(path), os.path.splitext(path)[1].lower()
        is_table = ext in (*TEXT_TABLES, ".json")
        return folder, ext, "" if is_table else str(tree.begin(path, CHUNK).count(b"\n"))

    read = {path for one in found for path in one.paths}
    folders = {(os.path.dirname(path), os.path.splitext(path)[1]) for path in read}
    beside = [
        path
        for path in leftovers
        if path not in read and (os.path.dirname(path), os.path.splitext(path)[1]) in folders
    ]
    return bool(beside) and not set(map(kind, read)).isdisjoint(map(kind, beside))


def find_evidence(
    unread: Scanned, leftovers: Sequence[str], base: Sequence[str]
) -> tuple[list[Evidence], tuple[str, ...]]:
    """Return the files among `leftovers` that name the images that are packed, and remarks.

    `base` are the options that say how these are read.
    """
    tree, listing = unread.tree, unread.listing
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for path in leftovers:
        folder, name = os.path.split(path)
        groups[folder, os.path.splitext(name)[1].lower()].append(path)
    few = few_of(list(groups.values()))
    texts = list(texts_of(tree, groups.values(), few))
    unpacked = {_stem(item.name) for item in listing.skipped if names_an_image(item.name)}
    with_own_stems = {
        key: [path for path in paths if _stem(path) not in unpacked]  # those of images that are not
        for key, paths in groups.items()
        if len(paths) > 1 or key[0]
    }
    sides = [(paths, _stems(paths)) for paths in with_own_stems.values() if paths]
    stems = [hashes for _, each in sides for hashes in each]
    packed = Packed(listing)
    keys, known, are_plain = _known(packed, texts, stems, are_plain=True)
    if not are_plain:
        keys, known, _ = _known(packed, texts, stems, are_plain=False)
    found = []
    for paths, each in sides if len(known) else ():
        names = packed.stems if listing.members else known  # polygons of masks lack an affix
        named, of = max((int(np.isin(hashes, names).sum()), len(hashes)) for hashes in each)
        if named >= min(2, len(listing), of) and 2 * named >= of:
            found.append(Evidence(tuple(paths), named))
    found += _numbered(sides, listing)
    folders = Folders(packed.folders if texts else {})
    classes, numbers = len(np.unique(listing.labels)), ClassNumbers(tree, listing)
    counts = _counts(packed.folders if texts else {})
    compositions = Compositions(listing, relative(tree, "", unread.src), base)
    found += folders.divided_by(texts)
    covered = {path for one in found for path in one.paths}
    otherwise = list[str]()
    judged: set[str] = set()  # of which a group with others is not judged
    decisions: list[tuple[Text, Decision]] = []
    for text, own in zip(texts, keys, strict=False):  # each file comes before its group
        if covered.intersection(text.paths) or judged.intersection(text.paths):
            continue
        one = None
        if np.isin(own, known).any():
            decision = Decision(text, known, packed, words_of(text.text, are_plain=are_plain))
            one = decision.evidence if decision.is_evidence else None
            otherwise += [decision.remark] if decision.remark else []
            decisions.append((text, decision))
            if decision.are_checksums:
                judged.update(text.paths)
            of_groups = grouped(text, packed, known, are_plain=are_plain)
            if of_groups and (one is None or of_groups.count > one.count):
                one = of_groups
        one = one or joined_ids(text, packed)
        own_counts = _own_counts(text.paths[0], counts)
        one = one or compositions.named_by(text)
        one = one or in_order(text, {**own_counts, packed.count: f"{packed.count:,} images"})
        if one and one.kind == ORDER and compositions.contradict(text):
            reason = f"{one.reason}, but in another order than their names"
            one = replace(one, reason=reason, kind=DISORDER)
        one = one or folders.named_by(text, tree) or folders.listed(text, classes)
        if one := one or (None if unread.has_objects else numbers.named_by(text)):
            found.append(one)
            covered.update(text.paths)
    found += _of_folders(texts, packed.folders if texts else {}, covered)
    found += _of_other_splits(found, decisions)
    covered.update(path for one in found for path in one.paths)
    found += _repeated(text for text in texts if not covered.intersection(text.paths))
    left = [text for text in texts if not covered.intersection(text.paths)]
    found += folders.named_as(left)
    remarks = (*folders.remarks, *otherwise, *remarks_on(groups.values(), few, texts))
    return _of_one_name(found), remarks


def _numbered(
    sides: Iterable[tuple[Sequence[str], object]], listing: SampleTable
) -> Iterator[Evidence]:
    """Yield files with the numbers of the images and another word: ``img1`` and ``caption1``."""
    each = {tuple(paths): numbered(map(_stem, paths)) for paths, _ in sides}
    if not any(word for word, _ in each.values()):
        return
    own, numbers = numbered(_stem(listing.name_of(number)) for number in range(len(listing)))
    for paths, (word, others) in each.items():
        named = len(numbers.keys() & others)
        if word != own and 2 * named >= max(len(paths), len(listing)):
            yield Evidence(paths, named)


def _of_other_splits(
    found: Sequence[Evidence], decisions: Iterable[tuple[Text, Decision]]
) -> Iterator[Evidence]:
    """Yield lists that differ in the split of their names from those found."""
    covered = {path for one in found for path in one.paths}
    kinds = {without_split(one.paths[0]) for one in found if not one.paths[1:]}
    for text, decision in decisions:
        path = text.paths[0]
        is_like = not text.paths[1:] and path not in covered and without_split(path) in kinds
        if is_like and (one := decision.as_list()):
            yield one


def _of_folders(
    texts: Iterable[Text], images: Mapping[str, int], covered: Collection[str]
) -> Iterator[Evidence]:
    """Yield texts of one name and one line each that lie beside the images of most folders."""
    alike: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for text in texts:
        folder, name = os.path.split(text.paths[0])
        line = text.text.decode("utf-8", "replace").strip()
        is_value = 0 < len(line) <= LINE and "\n" not in line
        is_value &= os.path.basename(folder).lower() not in line.lower()  # a note on it
        if is_value and folder in images and not text.paths[1:] and text.paths[0] not in covered:
            alike[name].append((text.paths[0], line))
    for name, each in alike.items():
        if len({line for _, line in each}) > 1 and len(each) > len(images) / 2:
            paths, lines = zip(*each, strict=True)
            reason = (
                f"has a value for the images beside it, as {many(len(each), 'file')} {name} have"
            )
            yield Evidence(paths, len(each), lines=lines[:2], reason=reason, kind=ORDER)


def _of_one_name(found: Sequence[Evidence]) -> list[Evidence]:
    """Return texts in order that have one name in several folders as one."""
    alike: dict[object, list[Evidence]] = defaultdict(list)
    for one in found:
        folder, name = os.path.split(one.paths[0])
        is_of_folder = one.kind == ORDER and folder and not one.paths[1:]
        alike[(name, folder.count("/")) if is_of_folder else one.paths].append(one)
    return [
        replace(
            first,
            paths=tuple(path for one in (first, *others) for path in one.paths),
            count=sum(one.count for one in (first, *others)),
        )
        for first, *others in alike.values()
    ]


def _counts(images: Mapping[str, int]) -> dict[str, dict[int, str]]:
    """Return the numbers of images that belong to the texts of a folder, with the words for them.

    They are those in the folder itself, and in each one in it; `images` are those of each folder.
    """
    found: dict[str, dict[int, str]] = defaultdict(dict)
    for folder, count in images.items():
        for path in {folder, os.path.dirname(folder)} - {""}:
            found[path][count] = f"{count:,} images in {folder}"
    return found


def _own_counts(path: str, counts: Mapping[str, dict[int, str]]) -> dict[int, str]:
    """Return the numbers of images of a text's folder, and of those beside it that it names."""
    folder, name = os.path.split(path)
    named = (inside(folder, word) for word in re.split(r"[\W_]+", os.path.splitext(name)[0]))
    found: dict[int, str] = {}
    for one in (folder, *named):
        found |= counts.get(one, {})
    return found


def _repeated(texts: Iterable[Text]) -> Iterator[Evidence]:
    """Yield files of numbers with one name in several folders, such as those of frames."""
    alike: dict[str, list[str]] = defaultdict(list)
    for text in texts:
        folders = os.path.dirname(text.paths[0]).split("/")
        if not text.paths[1:] and folders[1:] and text.has_numbers:
            alike["/".join([folders[-1], os.path.basename(text.paths[0])])].append(text.paths[0])
    for name, paths in alike.items():
        if len(paths) > 1:
            reason = f"has rows of numbers, as {many(len(paths), 'file')} {name} have"
            yield Evidence(tuple(paths), len(paths), reason=reason)


def _stem(path: str) -> str:
    """Return a file's name without its extension, nor that of an image: ``1.jpg.json``."""
    stem = os.path.splitext(os.path.basename(path))[0]
    return os.path.splitext(stem)[0] if names_an_image(stem) else stem


def _known(
    packed: Packed, texts: Iterable[Text], stems: Sequence[Hashes], *, are_plain: bool
) -> tuple[list[Hashes], Hashes, bool]:
    """Return the keys of each text, and those of all texts and `stems` that name images, sorted.

    The last is whether all names of images are plain; with `are_plain`, texts are divided
    in one way only.
    """
    each = [keys_of(text.text, are_plain=are_plain) for text in texts]
    keys = np.unique(np.concatenate([np.empty(0, np.uint64), *each, *stems]))
    if not len(keys):
        return each, keys, True
    seen = np.zeros(len(keys), bool)
    begins = np.zeros(1 << _BITS, bool)  # few names begin as a word does: only these are searched
    begins[keys >> _SHIFT] = True
    for names in packed.names():
        if are_plain and not names.are_plain:
            return each, keys[:0], False
        near = names.keys[begins[names.keys >> _SHIFT]]
        at = np.searchsorted(keys, near).clip(max=len(keys) - 1)
        seen[at[keys[at] == near]] = True
    return each, keys[seen], are_plain


def _stems(paths: Sequence[str]) -> list[Hashes]:
    """Return the hashes of the files' stems, also without a prefix or a suffix that all have."""
    stems = list(map(_stem, paths))
    return [
        stem_hashes([os.fsencode(stem[len(start) : len(stem) - len(end)]) for stem in stems])
        for start, end in affixes_of(stems)[:_CUTS]
        if len(stems) > 2 or not (start and end)  # a number between words may be chance
    ]


def _check_table(tree: Tree, path: str, src: Path) -> None:
    """Raise where a file that is named as a table is empty, or names a column twice."""
    try:
        data = tree.begin(path, CHUNK)
    except (BadImage, OSError):
        return
    text = text_of(data) if data else b""
    where, ignored = tree.root / path, relative(tree, glob.escape(path), src)
    advice = Message("To pack without it, type: ", command(src, "--ignore", ignored))
    if text is not None and not text.strip():
        raise UnusableInput(f"{where} is empty. ", advice)
    if text is not None and path.lower().endswith(tuple(DELIMITERS)):
        head = text.lstrip().split(b"\n", 1)[0].decode("utf-8", "replace")
        columns = [name.strip(' "') for name in re.split(r"[,;\t]", head)]
        twice = {name for name in columns if name and columns.count(name) > 1}
        if twice and not any(re.fullmatch(r"[-+.\d]*", name) for name in columns):
            name = sorted(twice)[0]
            raise UnusableInput(f"{where} has the column {name!r} twice. ", advice)
