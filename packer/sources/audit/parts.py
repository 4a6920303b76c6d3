"""Pictures of one sample that would be samples of their own (pure).

The folders of scenes hold the same few names each; folders beside each other hold the same names,
but for what all names of a folder begin or end with.
"""

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import reduce

from packer.sources.audit.outcome import Outcome, Question, Seen, as_parts, member_of, within
from packer.sources.audit.tokens import Affix, tokens, unpadded
from packer.sources.trees.names import have_roles
from packer.sources.trees.shape import IMAGES, may_be_masks, plain
from packer.words import listed

_LEAST = 3  # names in common, or folders
_MOST = 12  # folders that may be parts of one sample
_IN_SCENE = 6  # pictures
_FILES = 10_000  # that are no images and are looked at
_NEARLY, _MOSTLY = 0.9, 0.8
_SHOWN = 3  # readings of one kind
_NONE = frozenset[str]()


def scenes(outcome: Outcome) -> Question | None:
    """Most folders with images hold the same few names: ``scene1/image.png``, ``mask.png``.

    A number in these may be another one in each folder: ``GT_010.png``, ``NOISY_010.png``. Files
    that are no images may be parts, too.
    """
    inner = {folders: some for folders, some in outcome.by_folder.items() if folders}
    depth, *depths = {len(folders) for folders in inner} or {0}
    others = map(os.path.split, (item.name for item in outcome.listing.skipped[:_FILES]))
    beside = Counter(name for folder, name in others if folder in outcome.paths)
    files = sorted(name for name, count in beside.items() if count >= max(2, _MOSTLY * len(inner)))
    found = _alike(inner, files, is_numbered=True) or _alike(inner, files, is_numbered=False)
    if depths or not found:
        return None
    names, count, is_numbered = found
    above = [f"{{folder{n}}}/" for n in range(1, depth)]
    nothing = "".join([*above, "{scene}/" if is_numbered else "{key}/"])
    ways = {"": nothing}
    if depth == 2:
        classes, none = ", and folders above are classes", ", and folders above mean nothing"
        ways = {classes: f"{{label}}/{nothing[len(above[0]) :]}", none: nothing}
    ordered = sorted(names, key=lambda name: (*_rank(name.rpartition(".")[0]), name))
    readings: dict[str, Sequence[str]] = {}
    for meaning, way in ways.items():
        each = {name: f"{outcome.start}{way}{name.replace('#', '{key}')}" for name in ordered}
        each |= {name: f"{outcome.start}{way}{name}" for name in files}
        members = {name: member_of(*name.rpartition(".")[::2]) for name in each}
        said = f"Each folder is a sample, its image {{}}{meaning}"
        readings |= as_parts(said, each, members, *ordered[:_SHOWN])
    folders = "/".join(next(iter(inner)))
    return Question(
        f"{count} of {len(inner)} folders, such as {folders}, hold "
        f"{listed(sorted([*names, *files]))}: they "
        "may be the parts of one sample each.",
        readings | {"Folders are classes": ("--as", "folder")},
    )


def _alike(
    inner: Mapping[tuple[str, ...], Sequence[Seen]], files: Sequence[str], *, is_numbered: bool
) -> tuple[frozenset[str], int, bool] | None:
    """Return the names that most folders hold, and how many do; None for class folders."""
    sets = Counter(_names_in(some, is_numbered=is_numbered) for some in inner.values())
    del sets[_NONE]
    names, count = sets.most_common(1)[0] if sets else (_NONE, 0)
    stems = {name.rpartition(".")[0] for name in names}
    if len(stems) > _IN_SCENE or count < max(_LEAST, _MOSTLY * len(inner)):
        return None
    texts = {re.sub(r"[\d#]+", "", stem) for stem in stems}
    if "" in texts or len(stems) + len(files) < 2:
        return None  # class folders whose images are counted
    is_counted = len(texts) < len(stems) and (len(stems) > 2 or count <= _LEAST)
    return (names, count, is_numbered) if files or not is_counted else None


def _names_in(some: Sequence[Seen], *, is_numbered: bool) -> frozenset[str]:
    """Return the names in a folder, with ``#`` for the one number in each; none if it differs."""
    if not is_numbered:
        return frozenset(f"{one.stem}.{one.ext}" for one in some)
    numbers = {tuple(re.findall(r"\d+", one.stem)) for one in some}
    names = frozenset(re.sub(r"\d+", "#", f"{one.stem}") + f".{one.ext}" for one in some)
    return names if len(numbers) == 1 and len(numbers.pop()) == 1 else _NONE


def _rank(name: str) -> tuple[bool, bool]:
    """Sort what is called as images are first, and as masks last."""
    return plain(name) not in IMAGES, may_be_masks(name)


def affixed_folders(outcome: Outcome) -> Question | None:
    """Folders whose images have the same names, but for an affix: ``HR/1.png``, ``LR/1x4.png``."""
    where = {folders[0] if folders else "": folders for folders in outcome.by_folder}
    each = dict(zip(where, outcome.by_folder.values(), strict=False))
    counts = list(map(len, outcome.by_folder.values()))
    if not 2 <= len(where) == len(counts) <= _MOST or "" in where:
        return None
    if min(counts) < max(_LEAST, _NEARLY * max(counts)) or any(n.endswith(".tar") for n in where):
        return None
    affixes = {name: Affix.of([one.stem for one in some]) for name, some in each.items()}
    keys = {name: {affixes[name].strip(one.stem) for one in each[name]} for name in where}
    shared = frozenset.intersection(*(frozenset(map(unpadded, own)) for own in keys.values()))
    if len(shared) < max(_LEAST, _NEARLY * max(counts)) or _are_of_classes(affixes, each):
        return None
    names = sorted(where, key=_rank)
    ways = {
        name: f"{outcome.start}{within(*where[name])}{affixes[name].put('{key}')}" for name in names
    }
    readings: dict[str, Sequence[str]] = {}
    for main in names[:_SHOWN]:
        if all(len(keys[name] & keys[main]) >= len(shared) for name in names):
            lacks = any(keys[main] - keys[name] for name in names)
            members = {name: member_of(name, is_optional=lacks) for name in names}
            readings |= as_parts("Each image in {} has members of the others", ways, members, main)
    return Question(
        f"the images in {listed(names)} have the same names, such as "
        f"{each[names[0]][0].name}, but for what all names of a folder begin or end "
        "with: they may be parts of one sample.",
        readings | {"They are classes": ("--as", "folder")},
    )


def _are_of_classes(affixes: Mapping[str, Affix], each: Mapping[str, Sequence[Seen]]) -> bool:
    """Return whether names begin or end alike in all folders, or as their folder is called.

    Those that are alike may be parts if they are padded numbers from one on that is not the first.
    """
    counts = [Counter([*tokens(one.before), *tokens(one.after)]) for one in affixes.values()]
    common = reduce(Counter.__and__, counts)
    own = [plain("".join((count - common).elements())) for count in counts]
    if not any(own):
        numbers = [[one.stem for one in some if one.stem.isdecimal()] for some in each.values()]
        begin_late = (
            len(some) == len(all_of) > _LEAST and max(some)[0] == "0" and min(map(int, some)) > 1
            for some, all_of in zip(numbers, each.values(), strict=True)
        )
        return not all(begin_late)
    are_names = all(
        text and (text in plain(name) or plain(name)[:1] == text[0])
        for name, text in zip(affixes, own, strict=True)
    )
    return are_names and not have_roles(list(affixes))
