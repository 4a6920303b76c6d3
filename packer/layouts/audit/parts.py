"""Pictures of one sample that would be samples of their own (pure).

The folders of scenes hold the same few names each; folders beside each other hold the same names,
but for what all names of a folder begin or end with.
"""

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import reduce

from packer.layouts.audit.outcome import Outcome, Question, Seen, below
from packer.layouts.audit.tokens import Affix, tokens, unpadded
from packer.layouts.folders.contents import member
from packer.trees.names import have_roles
from packer.trees.outright import by_templates
from packer.trees.shape import IMAGES, may_be_masks, plain
from packer.words import listed

_LEAST = 3  # names in common, or folders
_MOST = 12  # folders that may be parts of one sample
_IN_SCENE = 6  # pictures
_FILES = 10_000  # that are no images and are looked at
_NEARLY = 0.9
_SHOWN = 3  # readings of one kind


def scenes(outcome: Outcome) -> Question | None:
    """Most folders with images hold the same few names: ``scene1/image.png``, ``mask.png``.

    A number in these may be another one in each folder: ``GT_010.png``, ``NOISY_010.png``. Files
    that are no images may be parts, too.
    """
    inner = {folders: some for folders, some in outcome.by_folder.items() if folders}
    depth, *others = {len(folders) for folders in inner} or {0}
    found = _alike(outcome, inner, "#") or _alike(outcome, inner, None)
    if others or not found:
        return None
    names, count, is_numbered = found
    files = _files_of_each(outcome, inner)
    above = [f"{{folder{n}}}/" for n in range(1, depth)]
    nothing = "".join([*above, "{scene}/" if is_numbered else "{key}/"])
    ways = {"": nothing}
    if depth == 2:
        classes, none = ", and folders above are classes", ", and folders above mean nothing"
        ways = {classes: f"{{label}}/{nothing[len(above[0]) :]}", none: nothing}
    ordered = sorted(names, key=lambda name: (plain(name) not in IMAGES, _is_mask(name), name))
    readings = {}
    for meaning, way in ways.items():
        for main in ordered[:_SHOWN]:
            each = {name: f"{outcome.start}{way}{name.replace('#', '{key}')}" for name in ordered}
            each |= {name: f"{outcome.start}{way}{name}" for name in files}
            members = {_member(name): text for name, text in each.items() if name != main}
            words = by_templates([each[main]], members)
            readings[f"Each folder is a sample, its image {main}{meaning}"] = words
    folders = "/".join(next(iter(inner)))
    return Question(
        f"{count} of {len(inner)} folders, such as {folders}, hold "
        f"{listed(sorted([*names, *files]))}: they "
        "may be the parts of one sample each.",
        readings | {"Folders are classes": ("--as", "folder")},
    )


def _alike(
    outcome: Outcome, inner: Mapping[tuple[str, ...], Sequence[Seen]], sign: str | None
) -> tuple[frozenset[str], int, bool] | None:
    """Return the names that most folders hold, and how many do; None for class folders.

    `sign` takes the place of a number that is another one in each folder.
    """
    sets = Counter(
        frozenset(f"{_masked(one.stem, sign)}.{one.ext}" for one in some)
        for some in inner.values()
        if sign is None or _share_a_number(some)
    )
    names, count = sets.most_common(1)[0] if sets else (frozenset[str](), 0)
    stems = {name.rpartition(".")[0] for name in names}
    files = _files_of_each(outcome, inner)
    if len(stems) > _IN_SCENE or count < max(_LEAST, 0.8 * len(inner)):
        return None
    if len(stems) + len(files) < 2:
        return None
    texts = {re.sub(r"[\d#]+", "", stem) for stem in stems}
    if "" in texts:
        return None  # class folders whose images are counted
    is_counted = len(texts) < len(stems) and (len(stems) > 2 or count <= _LEAST)
    return (names, count, bool(sign)) if files or not is_counted else None


def _masked(stem: str, sign: str | None) -> str:
    return stem if sign is None else re.sub(r"\d+", sign, stem)


def _share_a_number(some: Sequence[Seen]) -> bool:
    """Return whether the names in a folder have one number each, the same one."""
    return len({tuple(re.findall(r"\d+", one.stem)) for one in some}) == 1 and all(
        len(re.findall(r"\d+", one.stem)) == 1 for one in some
    )


def _files_of_each(outcome: Outcome, inner: Mapping[tuple[str, ...], Sequence[Seen]]) -> list[str]:
    """Return the names of the files that are no images and lie in most folders."""
    names = Counter(
        name
        for folder, name in (os.path.split(item.name) for item in outcome.listing.skipped[:_FILES])
        if folder in outcome.paths
    )
    least = max(2, 0.8 * len(inner))
    return sorted(name for name, count in names.items() if count >= least)


def _is_mask(name: str) -> bool:
    return may_be_masks(name.rpartition(".")[0])


def _member(name: str) -> str:
    """Return the name of a member from that of a file."""
    stem, _, ext = name.rpartition(".")
    return f"{member(stem) or 'picture'}.{ext.lower()}"


def affixed_folders(outcome: Outcome) -> Question | None:
    """Folders whose images have the same names, but for an affix: ``HR/1.png``, ``LR/1x4.png``."""
    by_name: dict[str, list[Seen]] = {}
    where: dict[str, tuple[str, ...]] = {}  # the folder of the images in each
    for folders, some in outcome.by_folder.items():
        if not folders or where.setdefault(folders[0], folders) != folders:
            return None
        by_name.setdefault(folders[0], []).extend(some)
    if not 2 <= len(by_name) <= _MOST or any(name.endswith(".tar") for name in by_name):
        return None
    counts = [len(some) for some in by_name.values()]
    if min(counts) < max(_LEAST, _NEARLY * max(counts)):
        return None
    affixes = {name: Affix.of([one.stem for one in some]) for name, some in by_name.items()}
    keys = {
        name: {unpadded(affixes[name].strip(one.stem)) for one in some}
        for name, some in by_name.items()
    }
    shared = frozenset.intersection(*map(frozenset, keys.values()))
    if len(shared) < max(_LEAST, _NEARLY * max(map(len, keys.values()))):
        return None
    if _are_of_classes(affixes, by_name):
        return None
    return _question(outcome, by_name, where, affixes, shared)


def _are_of_classes(affixes: Mapping[str, Affix], by_name: Mapping[str, Sequence[Seen]]) -> bool:
    """Return whether names begin or end alike in all folders, or as their folder is called.

    Those that are alike may be parts if they are numbers that begin late.
    """
    parts = {name: [*tokens(one.before), *tokens(one.after)] for name, one in affixes.items()}
    counts = list(map(Counter, parts.values()))
    common = reduce(Counter.__and__, counts)
    own = {
        name: plain("".join((count - common).elements()))
        for name, count in zip(parts, counts, strict=True)
    }
    if not any(own.values()):
        return not all(map(_begin_late, by_name.values()))
    are_names = all(
        text and (text in plain(name) or plain(name)[:1] == text[0]) for name, text in own.items()
    )
    return are_names and not have_roles(list(affixes))


def _begin_late(some: Sequence[Seen]) -> bool:
    """Return whether names are padded numbers from one on that is not the first."""
    stems = [one.stem for one in some]
    is_padded = all(stem.isdecimal() and stem[0] == "0" for stem in stems)
    return is_padded and len(stems) > _LEAST and min(map(int, stems)) > 1


def _question(
    outcome: Outcome,
    by_name: Mapping[str, Sequence[Seen]],
    where: Mapping[str, Sequence[str]],
    affixes: Mapping[str, Affix],
    shared: frozenset[str],
) -> Question:
    names = sorted(by_name, key=lambda name: (plain(name) not in IMAGES, may_be_masks(name)))
    keys = {name: {affixes[name].strip(one.stem) for one in by_name[name]} for name in names}
    readings = {}
    for main in names[:_SHOWN]:
        others = [name for name in names if name != main]
        if any(len(keys[name] & keys[main]) < len(shared) for name in others):
            continue  # numbers with other zeros: no template joins them
        ways = {name: _way(outcome, where[name], affixes[name]) for name in names}
        lacks = any(keys[main] - keys[name] for name in others)
        members = {(member(name) or "picture") + "?" * lacks: ways[name] for name in others}
        meaning = f"Each image in {main} has members of the others"
        readings[meaning] = by_templates([ways[main]], members)
    first = by_name[names[0]][0]
    return Question(
        f"the images in {listed(names)} have the same names, such as {outcome.example(first)}, but "
        "for what all names of a folder begin or end with: they may be parts of one sample.",
        readings | {"They are classes": ("--as", "folder")},
    )


def _way(outcome: Outcome, folders: Sequence[str], affix: Affix) -> str:
    return f"{outcome.start}{below(*folders)}/{affix.put('{key}')}"
