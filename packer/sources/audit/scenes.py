"""Folders that hold the same few names each: those of scenes, a sample each (pure)."""

import os
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from packer.sources.audit.outcome import AS_READ, Outcome, Question, Seen, as_parts, member_of, rank
from packer.sources.tables.names import counted
from packer.sources.trees.names import have_roles
from packer.sources.trees.shape import IMAGES, may_be_masks, plain
from packer.words import listed

_LEAST = 3  # names in common, or folders
_IN_SCENE = 6  # pictures
_FILES = 10_000  # that are no images and are looked at
_MOSTLY, _SOME = 0.8, 0.2  # of the folders
_SHOWN = 3  # readings of one kind
_NONE = frozenset[str]()


def scenes(outcome: Outcome) -> Question | None:
    """Most folders with images hold the same few names: ``scene1/image.png``, ``mask.png``.

    Numbers in these may be others in each folder: ``01_GT_010.png``, ``01_NOISY_010.png``. Files
    that are no images may be parts, too.
    """
    inner = {folders: some for folders, some in outcome.by_folder.items() if folders}
    depth, *depths = {len(folders) for folders in inner} or {0}
    others = map(os.path.split, (item.name for item in outcome.listing.skipped[:_FILES]))
    beside = Counter(name for folder, name in others if folder in outcome.paths)
    files = sorted(name for name, count in beside.items() if count >= max(2, _MOSTLY * len(inner)))
    numbers = filter(None, map(_numbers, inner.values()))
    differ = [len(set(each)) > 1 for each in zip(*numbers, strict=False)]
    found = _alike(inner, files, differ) or _alike(inner, files, ())
    if depths or not found:
        return None
    names, count = found
    above = [f"{{folder{n}}}/" for n in range(1, depth)]
    nothing = "".join([*above, "{scene}/" if "#" in "".join(names) else "{key}/"])
    ways = {"": nothing}
    if depth == 2:
        classes, none = ", and folders above are classes", ", and folders above mean nothing"
        ways = {classes: f"{{label}}/{nothing[len(above[0]) :]}", none: nothing}
    ordered = sorted(names, key=lambda name: (*rank(name.rpartition(".")[0]), name))
    held = names | beside
    mains = [name for name in ordered if names[name] == max(names.values())]
    readings: dict[str, Sequence[str]] = {}
    for meaning, way in ways.items():
        each = {name: f"{outcome.start}{way}{name.replace('#', '{key}')}" for name in ordered}
        each |= {name: f"{outcome.start}{way}{name}" for name in files}
        members = {
            name: member_of(*name.rpartition(".")[::2], is_optional=held[name] < len(inner))
            for name in each
        }
        said = f"Each folder is a sample, its image {{}}{meaning}"
        readings |= as_parts(said, each, members, *mains[:_SHOWN])
    folders = "/".join(next(iter(inner)))
    return Question(
        f"{count} of {len(inner)} folders, such as {folders}, hold "
        f"{listed(sorted([*names, *files]))}{' or some of these' * (len(mains) < len(names))}: "
        "they may be the parts of one sample each.",
        readings | {"Folders are classes": AS_READ},
    )


def _alike(
    inner: Mapping[tuple[str, ...], Sequence[Seen]], files: Sequence[str], differ: Sequence[bool]
) -> tuple[Counter[str], int] | None:
    """Return how many folders hold each of the same few names, and how many no other ones.

    Most hold the same, or all of these and some of the others; None for class folders.
    """
    each = [_names_in(some, differ) for some in inner.values()]
    held = Counter(name for some in each for name in some)
    held = Counter({n: count for n, count in held.items() if count > max(1, _SOME * len(inner))})
    whole = {name for name, count in held.items() if count >= _MOSTLY * len(inner)}
    count = sum(whole <= some <= held.keys() for some in each) if whole else 0
    stems = {name.rpartition(".")[0] for name in held}
    others = [stem for stem in stems if plain(stem) not in IMAGES]
    are_named = have_roles(others) if others[1:] else any(map(may_be_masks, others))
    if len(stems) > _IN_SCENE or count < max(_LEAST - are_named, _MOSTLY * len(inner)):
        return None
    texts = Counter(re.sub(r"[\d#]+", "", stem) for stem in stems)
    are_two = len(stems) == 2 and count > _LEAST and len(whole) == len(held)
    is_counted = min(texts.values()) > 1 and not are_two
    are_classes = not any(texts) and len(counted(folders[-1] for folders in inner)) < 2
    if len(stems) + len(files) < 2 or are_classes or ("" in texts and is_counted):
        return None  # class folders whose images are counted
    return (held, count) if files or not is_counted else None


def _numbers(some: Sequence[Seen]) -> tuple[str, ...]:
    """Return the numbers in the names of a folder, if all names have the same."""
    found = {tuple(re.findall(r"\d+", one.stem)) for one in some}
    return found.pop() if len(found) == 1 else ()


def _names_in(some: Sequence[Seen], differ: Sequence[bool]) -> frozenset[str]:
    """Return the names in a folder, with ``#`` for its own number; none if it differs in it."""
    if differ and (sum(differ) != 1 or len(_numbers(some)) != len(differ)):
        return _NONE
    names = set()
    for one in some:
        pieces = re.split(r"(\d+)", one.stem)
        for at, differs in enumerate(differ):
            pieces[2 * at + 1] = "#" if differs else pieces[2 * at + 1]
        names.add(f"{''.join(pieces)}.{one.ext}")
    return frozenset(names)
