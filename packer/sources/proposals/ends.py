"""Groups divided by what names of files begin and end with: parts of one sample (pure)."""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from packer.sources.proposals.group import MOST, NEARLY, OTHER, OWN, File, Group
from packer.sources.tables.names import numbered
from packer.sources.trees.names import GLUED, infixes, split_of, splits_of
from packer.sources.trees.tokens import Affix

_END = rf"()[_\-. ](?:[^\W_]*[^\W\d_][^\W_]*|{OWN}|{OTHER})$"  # of a name: its last word
_BEGIN = r"^([^\W\d_]+\d?[_\-. ])()(?=.)"  # of a name: its first word


def without_affixes(groups: Sequence[Group]) -> list[Group]:
    """Return groups without what all of their names begin or end with, if only so they join.

    ``1_training`` and ``1_manual``, ``rain-1`` and ``norain-1``.
    """
    images = [one for one in groups if one.is_image and "/" not in one.files[0].stem]
    affixes = {
        id(one): (one.before, one.behind)
        if one.before or one.behind
        else Affix.of([file.stem for file in one.files])[::2]
        for one in images
    }
    found: dict[int, Group] = {}
    for pair in combinations(images, 2):
        sides = list(zip(*(affixes[id(one)] for one in pair), strict=True))
        own = [(a, b) if a != b else ("", "") for a, b in sides]
        if pair[0].fields != pair[1].fields or not all(map(any, zip(*own, strict=True))):
            continue
        each = [
            one if one.before or one.behind else replace(one, before=own[0][at], behind=own[1][at])
            for at, one in enumerate(pair)
        ]
        both = each[0].keys.keys() & each[1].keys.keys()
        if len(both) >= NEARLY * min(len(one.keys) for one in each):
            found |= {id(one): new for one, new in zip(pair, each, strict=True)}
    return [found.get(id(one), one) for one in groups]


def without_words(groups: list[Group]) -> list[Group]:
    """Return groups whose names have other words before the same numbers without these words."""
    words = [numbered({file.stem for file in one.files}) for one in groups]
    first, own = words[0]
    alike = [word and 2 * len(own.keys() & numbers) > len(own) for word, numbers in words]
    others = [
        not (one.is_image or word.endswith(first)) and is_alike
        for one, (word, _), is_alike in zip(groups, words, alike, strict=True)
    ]
    if not any(others):
        return groups
    some = zip(groups, words, [True, *others[1:]], strict=True)
    return [replace(one, before=word) if is_one else one for one, (word, _), is_one in some]


def without_split(group: Group) -> Group:
    """Return files with a sign for the split in their names, if each has its own: ``1_train``."""
    if "split" not in group.fields:
        return group
    at = group.fields.index("split")
    each = [(file, file.values[at]) for file in group.files]
    lasts = {_split_sign(file.stem, split) for file, split in each}
    if OTHER in lasts and "" not in lasts:
        files = [file._replace(stem=re.sub("[^_]+$", OTHER, file.stem)) for file, _ in each]
        return replace(group, files=files)
    files = [file._replace(stem=file.stem.replace(split, OWN)) for file, split in each]
    return replace(group, files=files) if all(OWN in one.stem for one in files) else group


def _split_sign(stem: str, split: str) -> str:
    """Return the sign for the last word of a name, if it is the split, or another word for it."""
    word = stem.rpartition("_")[2]
    if word == split:
        return OWN
    return OTHER if "" != split_of(word) == split_of(split) else ""


def by_kinds(group: Group) -> list[Group]:
    """Return pictures by their extensions if files that differ in these only lie together."""
    names = {(one.values, one.stem) for one in group.files}
    if len(names) == len(group.files) or not group.is_image:
        return [group]
    kinds: dict[str, list[File]] = defaultdict(list)
    for one in group.files:
        kinds[one.path.rpartition(".")[2]].append(one)
    return [replace(group, ext=ext, files=files) for ext, files in kinds.items()]


def by_ends(group: Group) -> Iterator[Group]:
    """Yield the files of a group by what their names have more than those of others: ``_mask``."""
    where: dict[tuple[tuple[str, ...], str], File] = {(f.values, f.stem): f for f in group.files}
    found: dict[tuple[str, str], list[File]] = defaultdict(list)
    for one in group.files:
        found[_ends(one, where)].append(one)
    if len(found) == 1:
        found = _alternating(group) or found
    words = infixes([os.path.basename(one.path) for one in group.files]) if len(found) == 1 else ()
    within = {word: [one for one in group.files if word in one.stem] for word in words}
    if sum(map(len, within.values())) != len(group.files) or not all(within.values()):
        within = {}
    for word, files in within.items():
        yield replace(group, files=files, between=word)
    for (before, behind), files in found.items() if not within else ():
        exts = {one.path.rpartition(".")[2] for one in files}
        ext = exts.pop() if len(found) > 1 and len(exts) == 1 else group.ext
        yield Group(group.folder, group.fields, ext, files, before, behind)


def _ends(one: File, where: Mapping[tuple[tuple[str, ...], str], File]) -> tuple[str, str]:
    """Return what a name begins and ends with beside the name of another file, or in a scene."""
    if "/" in one.stem:
        return "", one.stem[one.stem.index("/") :]
    for at in [match.start() for match in re.finditer(r"[_\-. ]", one.stem)][::-1]:
        if at and (one.values, one.stem[:at]) in where:
            return "", one.stem[at:]
        if (one.values, one.stem[at + 1 :]) in where:
            return one.stem[: at + 1], ""
    return "", ""


def _alternating(group: Group) -> dict[tuple[str, str], list[File]]:
    """Return the files by the last or the first word of their names, if all have the same few."""
    patterns = GLUED[: 1 + bool({*group.fields} - {"split"})]  # begins may be labels in one folder
    for pattern in (*((_END, _BEGIN) if group.is_image else ()), *patterns):
        found: dict[tuple[str, str], list[File]] = defaultdict(list)
        for one in group.files:
            match = re.search(pattern, one.stem)
            if match is None or len(match[0]) == len(one.stem):
                break
            found[match[1], match[0][len(match[1]) :]].append(one)
        else:
            texts = {(start + end).strip("_-. ") for start, end in found}
            if len(texts) > 1 and splits_of(sorted(texts)).keys() == texts:
                continue  # train_1 and test_1 are no parts of one sample
            counts = Counter(
                (one.values, one.stem[len(start) : -len(end) or None])
                for (start, end), own in found.items()
                for one in own
            )
            has_splits = group.fields == ("split",)  # of which one may have no masks
            each: dict[object, list[bool]] = defaultdict(list)
            for (values, _), count in counts.items():
                each[values if has_splits else ()].append(count == len(found))
            texts = {re.sub(r"\d+", "", start + end) for start, end in found}  # one is a counter's
            are_parts = len(texts) > 1 or len(counts) > len(found)  # else frames: f00, f01
            are_parts &= len({rest for _, rest in counts}) > 1
            is_many = (2 <= len(found) <= MOST and are_parts) or {*found} <= {
                ("", f"_{OWN}"),
                ("", f"_{OTHER}"),
            }
            if is_many and any(sum(whole) >= NEARLY * len(whole) for whole in each.values()):
                return found
    return {}
