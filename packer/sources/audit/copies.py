"""Folders that hold the same images as others, or have the same name (pure)."""

import unicodedata
from collections import Counter, defaultdict
from glob import escape
from itertools import pairwise

from packer.sources.audit.outcome import AS_READ, Outcome, Question
from packer.sources.trees.names import are_counters, is_role, nearly_all
from packer.sources.trees.shape import plain

_LEAST, _NEARLY = 3, 0.9  # files of both, and their share of the fewer
_MOST = 500  # folders that are compared
_COMPARED = 5  # files of each two


def same_names(outcome: Outcome) -> Question | None:
    """Classes whose names look the same: in two forms of Unicode, or with a space around."""
    found: dict[str, list[str]] = defaultdict(list)
    for name in outcome.names if outcome.has_labels else ():
        found[unicodedata.normalize("NFC", name).strip()].append(name)
    same = next((names for names in found.values() if len(names) > 1), None)
    if same is None:
        return None
    return Question(
        f"the folders {' and '.join(map(ascii, sorted(same)))} have names that look the same, but "
        f"would be {len(same)} classes. If they are one class, rename them to one name. "
        "Otherwise, rename them to names that differ."
    )


def copied_folder(outcome: Outcome) -> Question | None:
    """A folder repeats the one that holds it: an archive unpacked twice, or thumbnails."""
    known = {(one.folders, one.stem) for one in outcome.seen}
    size, copied = Counter[tuple[str, ...]](), Counter[tuple[str, ...]]()
    for one in outcome.seen:
        for at in range(len(one.folders) + 1):
            size[one.folders[:at]] += 1
        for at in range(len(one.folders)):
            without = one.folders[:at] + one.folders[at + 1 :]
            copied[one.folders[: at + 1]] += (without, one.stem) in known
    found: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for folder, count in copied.items():
        least = nearly_all(max(size[folder], size[folder[:-1]] - size[folder]))
        own = [one.stem for one in outcome.by_folder.get(folder, ())]
        is_copy = min(count, size[folder]) >= max(_LEAST, least)
        if is_copy and (is_role(folder[-1]) or not own or not are_counters(own)):
            found[folder[-1]].append(folder)
    for name, (first, *others) in found.items():
        held = next(one for one in outcome.seen if one.folders[: len(first)] == first)
        up = len(held.folders) - len(first) + 1  # the file's own name, too
        path = "/".join([*filter(None, [outcome.prefix]), *held.name.split("/")[:-up]])
        glob = f"**/{name}/**" if others else f"{escape(path)}/**"
        return Question(
            f"{path} has images of the same names as the folder that holds it.",
            {"It is a copy": ("--ignore", glob), "All are samples": AS_READ},
        )
    return None


_Files = dict[tuple[object, ...], int]  # -> the number of the sample


def copied_class(outcome: Outcome) -> Question | None:
    """A class folder holds the files of another, and has its name in its own: ``dog_backup``."""
    if outcome.kind != "folder" or outcome.label_depth != 1 or len(outcome.names) > _MOST:
        return None
    each: dict[str, _Files] = defaultdict(dict)
    where: dict[tuple[object, ...], list[str]] = defaultdict(list)
    sizes = outcome.listing.sizes
    for seen in outcome.seen:
        file = (*seen.folders[1:], seen.stem, seen.ext, seen.split, int(sizes[seen.number]))
        each[seen.folders[0]][file] = seen.number
        where[file].append(seen.folders[0])
    for (one, other), both in Counter(
        pair for names in where.values() for pair in pairwise(names)
    ).items():
        shorter, longer = sorted((plain(one), plain(other)), key=len)
        fewer = min(len(each[one]), len(each[other]))
        if not shorter or shorter not in longer or both < max(_LEAST, _NEARLY * fewer):
            continue  # class folders may share images
        if _are_equal(outcome, each[one], each[other]):
            first, copy = sorted((one, other), key=lambda name: (len(name), name))
            return Question(
                f"{both} files in {copy} have the names and sizes of files in {first}: it may be "
                "a copy.",
                {
                    "It is a copy": ("--ignore", f"**/{copy}/**"),
                    "It is a class": AS_READ,
                },
            )
    return None


def _are_equal(outcome: Outcome, one: _Files, other: _Files) -> bool:
    """Return whether some images of the same names in two folders have the same bytes."""
    both = [file for file in one if file in other][:_COMPARED]
    contents = {(outcome.read(one[file]), outcome.read(other[file])) for file in both}
    is_equal = all(a is not None and a == b for a, b in contents)
    return is_equal and len(contents) > 1  # all of one picture are no copies
