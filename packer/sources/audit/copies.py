"""Folders that hold the same images as others, or have the same name (pure)."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from glob import escape

import numpy as np

from packer.sources.audit.outcome import AS_READ, Outcome, Question, Seen, within
from packer.sources.trees.names import are_counters, is_role, nearly_all
from packer.sources.trees.shape import plain
from packer.words import are, listed, many

_LEAST, _NEARLY = 3, 0.9  # files of both, and their share of the fewer
_MOST = 500  # folders that are compared
_COMPARED = 5  # files of a folder, and those of one size in another
_LOOKED_AT = 5  # folders whose files are compared
_SEVERAL = 16  # samples, among which images of two classes are looked for
_READ = 1 << 26  # bytes of files that are compared
_MOST_READ = 400  # such files
_NAMED = 8  # images, each in a command
_OLD = frozenset(  # words for folders of copies
    {"old", "older", "backup", "bak", "copy", "copies", "archive", "archived", "tmp", "temp"}
    | {"trash", "deleted", "duplicates", "dup", "dups", "originals", "unsorted", "previous"}
)
_SHARED = 8  # folders with files of one size, beyond which the size says nothing


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


def copied_class(outcome: Outcome) -> Question | None:
    """A class folder holds the files of another, ``dog_backup``, or those of several: ``all``."""
    names = outcome.names
    if outcome.kind != "folder" or outcome.label_depth != 1 or len(names) > _MOST:
        return None
    number_of = {name: number for number, name in enumerate(names)}
    sizes, seen = outcome.listing.sizes, outcome.seen
    folders = np.array([number_of[one.folders[0]] for one in seen])
    kinds = [hash((one.ext, one.split, int(sizes[one.number]))) for one in seen]
    files = np.unique(kinds, return_inverse=True)[1]
    held_by = np.bincount(np.unique(np.stack([files, folders]), axis=1)[0])
    is_shared = ((held_by > 1) & (held_by <= _SHARED))[files]
    each, own = (np.bincount(some, minlength=len(names)) for some in (folders[is_shared], folders))
    are_old = np.array([not _OLD.isdisjoint(re.findall("[a-z]+", n.lower())) for n in names])
    are_copies = (each >= _LEAST) & (each >= _NEARLY * own)
    whole = np.flatnonzero(are_copies | (are_old & (each > 0) & (2 * each >= own))).tolist()
    for folder in sorted(whole, key=lambda at: (-len(names[at]), at))[:_LOOKED_AT]:
        name, found, contents = names[folder], set[str](), set[bytes | None]()
        some = np.flatnonzero(is_shared & (folders == folder))
        for at in some[:: len(some) // _COMPARED + 1].tolist():
            content = outcome.read(seen[at].number)
            beside = np.flatnonzero((files == files[at]) & (folders != folder)).tolist()
            beside.sort(key=lambda n: seen[n].stem != seen[at].stem)
            same = [n for n in beside[:_SHARED] if outcome.read(seen[n].number) == content]
            found.add(names[folders[same[0]]] if same else "")
            contents.add(content)
        if "" in found or None in contents or (len(contents) < 2 and not are_old[folder]):
            continue  # all of one picture are no copies
        if len(found) == 1 and not (are_old[folder] or _is_named_after(name, *found)):
            continue  # class folders may share images
        return Question(
            f"{each[folder]} files in {name} have the sizes of files in {listed(sorted(found))}, "
            "and those that were compared are the same: it may be a copy.",
            {"It is a copy": ("--ignore", f"**/{name}/**"), "It is a class": AS_READ},
        )
    return None


def contradictions(outcome: Outcome) -> Question | None:
    """Some images are in two classes: their labels contradict each other.

    Nothing is asked where the images of all classes are the same, or all images are.
    """
    if outcome.kind not in ("folder", "table") or not outcome.has_labels:
        return None
    if len(outcome.seen) < _SEVERAL:
        return None  # a few plain pictures may be alike
    same, others = _in_several(outcome)
    sets = {frozenset(one.label for one in some) for some in same}
    if not same or (len(same) > others and len(sets) < 2):
        return None
    above = within(outcome.prefix or "")
    pairs = [
        " and ".join(f"{above}{one.name} ({outcome.classes[one.label]})" for one in some[:2])
        for some in same[:2]
    ]
    readings: dict[str, Sequence[str]] = {}
    if len(sets) == 1 and len(same) <= _NAMED and outcome.kind == "folder":
        for label in sorted(*sets):
            wrong = [one for some in same for one in some if one.label != label]
            ignoring = [w for one in wrong for w in ("--ignore", f"{above}{escape(one.name)}")]
            readings[f"Their class is {outcome.classes[label]}"] = ignoring
    readings["Each is right: they are samples of both classes"] = AS_READ
    return Question(
        f"{many(len(same), 'image')} {are(len(same))} in more than one class: "
        f"{'; '.join(pairs)} have the same bytes.",
        readings,
    )


def _in_several(outcome: Outcome) -> tuple[list[list[Seen]], int]:
    """Return the samples of each image that has several classes, and how many others have one.

    Files of one size are compared, those of one name first, up to a limit.
    """
    sizes, classes = outcome.listing.sizes, len(outcome.classes)
    alike: dict[object, list[Seen]] = defaultdict(list)
    for one in outcome.seen:
        if 0 <= one.label < classes:
            alike[one.ext.lower(), int(sizes[one.number])].append(one)
    groups = [some for some in alike.values() if len({one.label for one in some}) > 1]
    groups.sort(key=lambda some: (len({one.stem for one in some}) == len(some), len(some)))
    same, read, count = list[list[Seen]](), 0, 0
    for some in groups:
        count += len(some)
        read += sum(int(sizes[one.number]) for one in some)
        if read > _READ or count > _MOST_READ:
            break
        contents: dict[object, list[Seen]] = defaultdict(list)
        for one in some:
            contents[outcome.read(one.number)].append(one)
        contents.pop(None, None)
        same += [each for each in contents.values() if len({one.label for one in each}) > 1]
    return same, len(outcome.seen) - sum(map(len, same))


def _is_named_after(name: str, other: str) -> bool:
    shorter = plain(other)
    return bool(shorter) and shorter in plain(name) and len(other) <= len(name)
