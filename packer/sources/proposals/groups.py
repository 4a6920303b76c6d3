"""Files divided by what their paths have in common: fields, splits and parts of samples (pure).

``train/images/1.jpg`` and ``val/labels/1.txt`` are of the groups ``{split}/images`` and
``{split}/labels``. Folders beside each other are parts if they have names of roles, or hold files
of the same names; otherwise their names are the values of a field.
"""

import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from packer.sources.proposals.ends import (
    by_ends,
    by_kinds,
    without_affixes,
    without_split,
    without_words,
)
from packer.sources.proposals.group import MOST, NEARLY, WORDS, File, Group
from packer.sources.trees.names import have_roles, is_role, splits_of, translated
from packer.sources.trees.outright import literal
from packer.sources.trees.shape import IMAGES, may_be_masks, plain
from packer.sources.trees.walk import is_named_as_image

_SCENES = 3  # folders with the same files
_SPLIT = re.compile(  # in the name of a folder
    r"(?<![a-z])(?:training|train|validation|valid|val|testing|test|dev|eval|query|gallery)"
    r"(?![a-z])|^(?:training|train|validation|valid|val|testing|test)(?=annot|mask|label|gt)",
    re.IGNORECASE,
)
_PARTITION = re.compile(r"\w+=")


class _Folder(NamedTuple):
    """A folder, with the values of the fields in its path."""

    path: tuple[str, ...]
    values: tuple[str, ...]


def groups_of(paths: Collection[str]) -> list[Group]:
    """Return the groups of files, those that may be the images of samples first."""
    folders: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for path in paths:
        *above, name = path.split("/")
        folders[tuple(above)].append(name)
    alike: dict[tuple[str, tuple[str, ...]], list[_Folder]] = defaultdict(list)
    begin = [_Folder(path, ()) for path in folders]
    for folder, template, fields in _divided(folders, begin, 0, "", ()):
        alike[template, fields].append(folder)
    found: list[Group] = []
    for (template, fields), some in alike.items():
        are_scenes = _are_scenes([folders[one.path] for one in some], template, fields)
        groups: dict[tuple[bool, str], Group] = {}
        for folder in some:
            for name in folders[folder.path]:
                (stem, ext), path = os.path.splitext(name), "/".join((*folder.path, name))
                is_image = is_named_as_image(name)
                ext = "" if is_image else ext.removeprefix(".")
                group = groups.setdefault((is_image, ext), Group(template, fields, ext))
                if are_scenes:
                    group.folder, group.fields = os.path.dirname(template), fields[:-1]
                    file = File(folder.values[:-1], f"{folder.values[-1]}/{stem}", path)
                else:
                    file = File(folder.values, stem, path)
                group.files.append(file)
        found += map(without_split, groups.values())
    each = [one for group in found for part in by_kinds(group) for one in by_ends(part)]
    return without_words(sorted(without_affixes(each), key=lambda one: one.rank))


def _are_scenes(each: Sequence[Sequence[str]], template: str, fields: Sequence[str]) -> bool:
    """Return whether folders hold the same few files, the parts of one sample: ``im1``, ``im2``."""
    names = set(map(frozenset, each))
    stems = {name.rpartition(".")[0] for name in each[0] if is_named_as_image(name)}
    words = {re.sub(r"\d+", "", stem) for stem in stems}
    return (
        len(names) == 1
        and 2 <= len(stems) <= MOST
        and len(each) >= _SCENES - have_roles(stems)
        and (len(words) == len(stems) or len(stems) > 2)
        and not any(re.fullmatch(r"\d+|.*0\d+", stem) for stem in stems)  # frames are counted
        and bool(fields)
        and os.path.basename(template) == f"{{{fields[-1]}}}"
    )


def _divided(
    names: Mapping[tuple[str, ...], Sequence[str]],
    some: Sequence[_Folder],
    depth: int,
    template: str,
    fields: tuple[str, ...],
) -> Iterator[tuple[_Folder, str, tuple[str, ...]]]:
    """Yield each folder with its template and the names of the fields in it."""
    below: dict[str, list[_Folder]] = defaultdict(list)
    for one in some:
        if len(one.path) == depth:
            yield one, template, fields
        else:
            below[one.path[depth]].append(one)
    groups: dict[tuple[str, str], list[_Folder]] = {}  # template and field of the names -> folders
    for mark, name, split in _marked(list(below)):
        if "split" not in fields:
            groups.setdefault((mark, "split"), []).extend(_valued(below.pop(name), split))
        elif all(one.values[fields.index("split")] == split for one in below[name]):
            groups.setdefault((mark, ""), []).extend(below.pop(name))
    empty = [name for name, own in below.items() if not any(_has_image(names, one) for one in own)]
    empty = empty if len(empty) < len(below) else []
    called = (
        [name for name in below if plain(name) in IMAGES] if len(below) - len(empty) > 1 else []
    )
    has_parts = bool(groups or called)
    groups |= {(literal(name), ""): below.pop(name) for name in dict.fromkeys([*empty, *called])}
    above = len(_parents(some, depth))
    is_often = all(2 * len(_parents(own, depth)) >= above for own in below.values())
    if len(below) < 2 or (has_parts and is_often) or _are_parts(names, below, depth):
        groups |= {(literal(name), ""): own for name, own in below.items()}
    else:
        added = f"folder{sum(one != 'split' for one in fields) + 1}"
        match = _PARTITION.match(next(iter(below)))  # of Hive: label=cat
        word = match[0] if match and all(name.startswith(match[0]) for name in below) else ""
        each = [(name.removeprefix(word), own) for name, own in below.items()]
        every = [one for name, own in each for one in _valued(own, name)]
        groups[f"{literal(word)}{{{added}}}", added] = every
    start = f"{template}/" if template else ""
    for (name, added), own in groups.items():
        more = (*fields, added) if added else fields
        yield from _divided(names, own, depth + 1, start + name, more)


def _valued(folders: Sequence[_Folder], value: str) -> list[_Folder]:
    """Return folders with a value of one more field."""
    return [one._replace(values=(*one.values, value)) for one in folders]


def _parents(folders: Sequence[_Folder], depth: int) -> set[tuple[str, ...]]:
    return {one.path[:depth] for one in folders}


def _has_image(names: Mapping[tuple[str, ...], Sequence[str]], folder: _Folder) -> bool:
    return any(map(is_named_as_image, names[folder.path]))


def _marked(names: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the template of each name that has one of two splits in it, the name and its split.

    ``test-extra`` is no split beside ``test``.
    """
    if (translations := splits_of(names)) and any(map(translated, translations)):
        yield from (("{split}", name, name) for name in translations)
        return
    found = [(name, match) for name in names if (match := _SPLIT.search(name))]
    whole = {match[0].lower()[:3] for name, match in found if match[0] == name}
    found = [(n, m) for n, m in found if m[0] == n or m[0].lower()[:3] not in whole]
    if len({match[0].lower()[:3] for _, match in found}) > 1:
        for name, match in found:
            mark = f"{literal(name[: match.start()])}{{split}}{literal(name[match.end() :])}"
            yield mark, name, match[0]


def _are_parts(
    names: Mapping[tuple[str, ...], Sequence[str]],
    below: Mapping[str, Sequence[_Folder]],
    depth: int,
) -> bool:
    """Return whether folders beside each other hold parts of the same samples."""
    each = [_parents(own, depth) for own in below.values()]
    if _are_values(names, below, depth):
        return False
    if len(below) > MOST or 2 * sum(map(len, each)) < len(set.union(*each)) * len(below):
        return False
    words = [{*re.findall(r"[^\W_]+", name)} for name in below]
    shared = {word for word in set.intersection(*words) if word.lower() not in IMAGES}
    rests = ["_".join(sorted(own - shared)) for own in words]
    are_many = len({re.sub(r"\d+", "", rest) for rest in rests}) > 1
    if are_many and all(len(rest) > 1 and _has_a_role(rest) for rest in rests):
        return True
    if not any(map(_has_a_role, rests)):
        return False
    stems = [
        {
            ("/".join((*one.path[:depth], *one.path[depth + 1 :])), file.rpartition(".")[0])
            for one in own
            for file in names[one.path]
        }
        for own in below.values()
    ]
    shared, most = set.intersection(*stems), max(map(len, stems))
    return len(shared) >= NEARLY * most


def _are_values(
    names: Mapping[tuple[str, ...], Sequence[str]],
    below: Mapping[str, Sequence[_Folder]],
    depth: int,
) -> bool:
    """Return whether folders of images are divided as those of their masks: images/a, masks/a."""
    above = set.union(*(_parents(own, depth) for own in below.values()))
    found: dict[tuple[str, ...], set[str]] = defaultdict(set)
    for path in names if depth else ():
        if len(path) > depth and path[depth] in below:
            found[path[:depth]].add(path[depth])
    others = [plain(path[-1]) for path in found.keys() - above if len(found[path]) == len(below)]
    return any(name in IMAGES or may_be_masks(name) for name in others)


def _has_a_role(name: str) -> bool:
    words = [word.lower() for word in WORDS.findall(name)]
    return is_role(name) or not IMAGES.isdisjoint(words) or any(map(may_be_masks, words))
