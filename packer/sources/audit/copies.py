"""Folders that hold the same images as others, or have the same name (pure)."""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Sequence
from glob import escape

from packer.sources.audit.outcome import AS_READ, Outcome, Question
from packer.sources.trees.names import are_counters, is_role, nearly_all
from packer.sources.trees.shape import plain
from packer.words import listed

_LEAST, _NEARLY = 3, 0.9  # files of both, and their share of the fewer
_MOST = 500  # folders that are compared
_COMPARED = 5  # files of a folder, and those of one size in another
_LOOKED_AT = 5  # folders whose files are compared
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


_Files = dict[str, list[int]]  # class folder -> the numbers of samples


def copied_class(outcome: Outcome) -> Question | None:
    """A class folder holds the files of another, ``dog_backup``, or those of several: ``all``."""
    if outcome.kind != "folder" or outcome.label_depth != 1 or len(outcome.names) > _MOST:
        return None
    sizes = outcome.listing.sizes
    where: dict[tuple[object, ...], _Files] = defaultdict(lambda: defaultdict(list))
    count = Counter[str]()
    for seen in outcome.seen:
        where[seen.ext, seen.split, int(sizes[seen.number])][seen.folders[0]].append(seen.number)
        count[seen.folders[0]] += 1
    both: dict[str, list[tuple[int, _Files]]] = defaultdict(list)
    for files in where.values():
        for name, numbers in files.items() if 1 < len(files) <= _SHARED else ():
            beside = {other: found for other, found in files.items() if other != name}
            both[name] += [(number, beside) for number in numbers]
    whole = [
        name for name, pairs in both.items() if len(pairs) >= max(_LEAST, _NEARLY * count[name])
    ]
    for name in sorted(whole, key=lambda name: (-len(name), name))[:_LOOKED_AT]:
        others = _equal(outcome, both[name])
        if len(others) == 1 and not _is_named_after(name, *others):
            continue  # class folders may share images
        if others:
            return Question(
                f"{len(both[name])} files in {name} have the sizes of files in {listed(others)}, "
                "and those that were compared are the same: it may be a copy.",
                {"It is a copy": ("--ignore", f"**/{name}/**"), "It is a class": AS_READ},
            )
    return None


def _is_named_after(name: str, other: str) -> bool:
    shorter = plain(other)
    return bool(shorter) and shorter in plain(name) and len(other) <= len(name)


def _equal(outcome: Outcome, pairs: Sequence[tuple[int, _Files]]) -> list[str]:
    """Return the folders that hold the same bytes as some of the samples; none if any is alone."""
    found, contents = set[str](), set[bytes]()
    for number, others in pairs[:: len(pairs) // _COMPARED + 1]:
        content = outcome.read(number)
        same = (
            other
            for other, numbers in others.items()
            for each in numbers[:_COMPARED]
            if content is not None and outcome.read(each) == content
        )
        if content is None or (other := next(same, None)) is None:
            return []
        found.add(other)
        contents.add(content)
    return sorted(found) if len(contents) > 1 else []  # all of one picture are no copies
