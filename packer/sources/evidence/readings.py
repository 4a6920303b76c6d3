"""How texts that annotate the images can be read: by templates, each tried before it is named.

A reading is named only if nothing is rejected and all images are there. What keeps all comes first:
the classes and splits of folders, and each column of the texts. If nothing contradicts the
folders, and no choice is left, a reading is adopted in place of a question.
"""

import glob
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from packer.errors import Ambiguous, UnusableInput
from packer.options.declared import SourceOptions
from packer.samples.table import SampleTable
from packer.sources.evidence.classes import names_of
from packer.sources.evidence.lists import FOLDER, LABEL, Lists, lists_of, sums_of_others
from packer.sources.evidence.scanned import Reading, Scanned, scanned
from packer.sources.scanners.templates.lines import ListTemplate
from packer.sources.scanners.templates.lists import read_lists
from packer.sources.tables.classes import separator_of
from packer.sources.tables.name_tokens import CHUNK
from packer.sources.tables.names import LABEL as LABELS
from packer.sources.tables.names import counted, may_be_split
from packer.sources.tables.splits import SplitSurvey
from packer.sources.tables.texts import Evidence
from packer.sources.trees.find import tree_at
from packer.sources.trees.shape import plain

_MOST = 3  # readings that are named
_TRIED = 12
_LABEL = re.compile(r"\{label(?::\w+)?\}")
_COLUMN = re.compile(r"\{(?!split)(\w+)\??(?::([^}]*))?\}")
_TOKEN = re.compile(rb'"(?=[^"]*\d)[0-9a-zA-Z-]{16,}"')
_IDS = frozenset({"id", "pid", "personid", "identity", "individual", "individualid"})


def readings(
    found: Sequence[Evidence], options: SourceOptions, unread: Scanned
) -> Iterator[tuple[Reading, Scanned]]:
    """Yield the readings that pack all images, what keeps all first, and what they pack."""
    tree, src, classes = unread.tree, unread.src, unread.source.classes
    base = unread.base(options)
    given = [word for one in options.labels for word in ("--labels", one)]
    samples = [one.paths[0] for one in found if "submission" in one.paths[0].lower()]
    needless = sums_of_others(found, tree) + samples * (len(samples) < len(found))
    for path in needless:
        given += ["--ignore", glob.escape(os.path.relpath(tree.root / path, src))]
    found = [one for one in found if one.paths[0] not in needless]
    tried: set[tuple[str, ...]] = set()
    count, has_identities = 0, False
    if _are_referred_to([path for one in found for path in one.paths], unread):
        return
    of_images = {os.path.basename(path) for path, count in tree.shape.images.items() if count}
    for lists in lists_of(found, tree, src, len(unread.listing), {*classes, *of_images}):
        for folders, texts, is_whole in _ways(lists, base, unread):
            words = (*folders, *given, *(word for one in texts for word in ("--labels", one)))
            if words in tried or len(tried) == _TRIED or count == _MOST:
                continue
            tried.add(words)
            is_doubtful = lists.level < 0 and bool(counted(classes))
            is_named = lists.level >= 0 and len(lists.fields) < 3  # each folder, and nothing more
            is_doubtful |= is_named and bool(classes) and all(map(str.isdecimal, classes))
            is_clear = lists.is_clear and is_whole and not (is_doubtful or _leaves_splits(texts))
            reading = Reading(words, is_clear)
            made = scanned(reading, src, options)
            if not made or not _keeps_all(made.listing, unread.listing):
                continue
            if len(np.unique(made.listing.labels)) >= len(made.listing) > 1:
                has_identities = True  # a class for each image: the next reading is a choice
                continue
            if "{_}" in "".join(words) or not made.numbers_folders:
                count += 1
                agrees = _agree(unread, made) or (lists.level >= 0 and lists.has("label"))
                is_clear = is_clear and agrees and made.is_flat and not made.lost
                is_clear = is_clear and not has_identities
                words = (*words, *(("--on-error", "skip") if made.lost else ()))
                reading = replace(reading, words=words)
                is_clear = is_clear and not _has_identities(src, options, texts, classes)
                names = names_of(made.source.classes, made.tree, made.left)
                if names and not is_clear and (made.tree.root / names).is_file():
                    named = os.path.relpath(made.tree.root / names)
                    reading = replace(reading, words=(*words, "--classes", named))
                yield replace(reading, is_clear=is_clear), made


def _are_referred_to(lists: Sequence[str], unread: Scanned) -> bool:
    """Return whether JSON that names no image has the numbers of records of a list that does."""

    def numbers(path: str) -> set[bytes]:
        return (
            {*_TOKEN.findall(unread.tree.begin(path, CHUNK))} if path.endswith(".json") else set()
        )

    own = set[bytes]().union(*map(numbers, lists))
    others = (numbers(path) for path in unread.left if path not in lists)
    return bool(own) and any(len(own & other) > 1 for other in others)


def _keeps_all(table: SampleTable, before: SampleTable) -> bool:
    """Return whether all samples are there, with the members that they had."""
    lost = {name: n for name, n in before.members.items() if table.members.get(name, 0) < n}
    return len(table) >= len(before) and not lost


def _agree(unread: Scanned, made: Scanned) -> bool:
    """Return whether classes and splits are as without the texts, or new and clear."""
    before, table, classes = unread.listing, made.listing, made.source.classes
    orders = [np.argsort(one.key_hashes, kind="stable") for one in (before, table)]
    labels = [
        np.array([*names, ""])[one.labels][order]
        for one, names, order in zip(
            (before, table), (unread.source.classes, classes), orders, strict=True
        )
    ]
    splits = [one.splits[order] for one, order in zip((before, table), orders, strict=True)]
    if len(unread.source.classes) > 1:
        is_same = _are_equal(*labels)
    else:
        are_words = not all(re.fullmatch(r"[\d.+-]+", name) for name in classes)
        is_one_each = are_words and len(classes) > 1 and not _may_be_several(classes)
        is_same = not classes or (is_one_each and not before.members)  # of a scene, or of a mask?
    is_same &= _are_equal(*(np.sort(one.key_hashes) for one in (before, table)))
    is_same &= not (before.splits != "").any() or _are_equal(*splits)
    return is_same and all(table.members.get(ext) == n for ext, n in before.members.items())


def _may_be_several(classes: Sequence[str]) -> bool:
    """Return whether classes of a table may be several labels, or objects, of an image.

    A blank is part of a name, such as ``ice cream``.
    """
    try:
        separator = separator_of([name.replace(" ", "") for name in classes], "label", None, "")
    except Ambiguous:
        return True
    return bool(separator) or any(name[0] in "[{" for name in classes)


def _leaves_splits(texts: Sequence[str]) -> bool:
    """Return whether a column that no field reads as splits is called so."""
    columns = [column or name for text in texts for name, column in _COLUMN.findall(text)]
    return any(map(may_be_split, columns)) or bool(SplitSurvey(columns).flags)


def _has_identities(
    src: Path, options: SourceOptions, texts: Sequence[str], classes: Sequence[str]
) -> bool:
    """Return whether a column has the numbers of persons or things, several images of each.

    So has one of another name than labels have which holds the names of the class folders.
    """
    for text in texts:
        columns = {name: plain(column or name) for name, column in _COLUMN.findall(text)}
        names = [name for name, column in columns.items() if column in _IDS]
        others = columns.keys() - {"key", "label", "split", *LABELS} if len(classes) > 1 else ()
        tree = tree_at(src, options.ignore) if names or others else None
        try:
            every = read_lists(tree, [ListTemplate.of(text)]) if tree else ()
        except (UnusableInput, ValueError):
            continue
        for rows in every:
            each = [rows[row] for row in range(len(rows))]
            found = {name: {str(row.get(name)) for row in each} for name in (*names, *others)}
            if any(1 < len(found[name]) < len(each) for name in names):
                return True
            if any(found[name] == {*classes} for name in others):
                return True
    return False


def _are_equal(first: NDArray[Any], second: NDArray[Any]) -> bool:
    return len(first) == len(second) and bool((first == second).all())


def _ways(
    lists: Lists, base: Sequence[str], unread: Scanned
) -> Iterator[tuple[Sequence[str], Sequence[str], bool]]:
    """Yield the options of folders, the lists, and whether all is kept."""
    listing, texts = unread.listing, list(lists.texts)
    if lists.way:
        ignored = [word for pair in pairwise(base) if pair[0] == "--ignore" for word in pair]
        yield ["--images", lists.way, *ignored], texts, True
        return
    if lists.level >= 0:
        in_each = "{" in texts[0].partition(": ")[0]  # folder
        if in_each and lists.has("label"):
            base = [_renamed(word, ["label"], "folder") for word in base]
        if field := _field_at(lists.level, base):
            if field == "label" and lists.has("label"):
                apart = [one.replace(FOLDER[:-1], "{folder_label") for one in texts]
                yield [_renamed(word, ["label"], "folder") for word in base], apart, False
            yield base, [one.replace(FOLDER[:-1], f"{{{field}") for one in texts], not in_each
        return
    roles = [role for role in ("label", "split") if f"{{{role}" in "".join(base)]
    both = [role for role in roles if lists.has(role)]
    if not base:
        if not (len(unread.source.classes) > 1 or any(listing.by_split()) or unread.has_objects):
            yield (), texts, True
        return
    listed = set(re.findall(r"\?: .*\{split=(\w+)\}", "\n".join(texts)))
    if listed and "train" not in listed and "split" not in roles:
        way = [
            f"{{split?=train}}{word}" if flag == "--images" else word
            for flag, word in pairwise(["", *base])
        ]
        yield way, texts, True
    yield base, texts, True
    if "label" in both:
        numbered = [LABEL.sub("{class_number", text) for text in texts]
        yield base, numbered, False
        if split := _split_apart(unread):
            apart = [
                word.replace("{split}", f"{{split={split}}}{split}").replace("{label}", "{folder}")
                for word in base
            ]
            yield (*apart, *base), numbered, False
    persons = [name for name, column in _COLUMN.findall(" ".join(texts)) if plain(column) in _IDS]
    if len(persons) == 1 and not lists.has("label"):
        own = [re.sub(rf"\{{{persons[0]}(?=[:?}}])", "{label", text) for text in texts]
        yield [_renamed(word, ["label"], "folder") for word in base], own, True
    if both:
        yield [_renamed(word, both, "folder") for word in base], texts, True
        yield base, [_renamed(text, both, "listed") for text in texts], True
    elif "label" in roles:
        yield [_LABEL.sub("{_}", word) for word in base], texts, False


def _split_apart(unread: Scanned) -> str:
    """Return the split whose folders no other one has: numbers, or parts; "" if there is none."""
    table = unread.listing
    each = {split: {*table.labels[rows].tolist()} for split, rows in table.by_split().items()}
    own = [s for s in each if not any(each[s] & of for t, of in each.items() if t != s)]
    return own[0] if len(own) == 1 < len(each) else ""


def _field_at(level: int, base: Sequence[str]) -> str:
    """Return the field that is the folder at a level of all templates of images; "" for none."""
    ways = [word.split("/") for flag, word in pairwise(base) if flag == "--images"]
    found = {way[level] if level < len(way) - 1 else "" for way in ways}
    match = re.fullmatch(r"\{(\w+)\}", found.pop()) if len(found) == 1 else None
    return match[1] if match else ""


def _renamed(text: str, roles: Sequence[str], what: str) -> str:
    for role in roles:
        text = re.sub(rf"\{{{role}(?=[:=?}}])", f"{{{what}_{role}", text)
    return text
