"""Files divided by what their paths have in common: fields, splits and parts of samples (pure).

``train/images/1.jpg`` and ``val/labels/1.txt`` are of the groups ``{split}/images`` and
``{split}/labels``. Folders beside each other are parts if they have names of roles, or hold files
of the same names; otherwise their names are the values of a field.
"""

import os
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

from packer.sources.tables.names import numbered
from packer.sources.trees.names import GLUED, have_roles, infixes, is_role, split_of
from packer.sources.trees.outright import literal
from packer.sources.trees.shape import IMAGES, may_be_masks, plain
from packer.sources.trees.tokens import Affix
from packer.sources.trees.walk import is_named_as_image

_MOST = 12  # parts of a sample
_OWN = "\0"  # in a name: the split of its folder
_OTHER = "\1"  # another word for it: 1_training in train
_SCENES = 3  # folders with the same files
_SPLIT = re.compile(  # in the name of a folder
    r"(?<![a-z])(?:training|train|validation|valid|val|testing|test|dev|eval|query|gallery)"
    r"(?![a-z])|^(?:training|train|validation|valid|val|testing|test)(?=annot|mask|label|gt)",
    re.IGNORECASE,
)
_PARTITION = re.compile(r"\w+=")
_END = rf"()[_\-. ](?:[^\W_]*[^\W\d_][^\W_]*|{_OWN}|{_OTHER})$"  # of a name: its last word
_BEGIN = r"^([^\W\d_]+\d?[_\-. ])()(?=.)"  # of a name: its first word
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_NEARLY = 0.8  # of the names in a folder are those in another


class _Folder(NamedTuple):
    """A folder, with the values of the fields in its path."""

    path: tuple[str, ...]
    values: tuple[str, ...]


class File(NamedTuple):
    """A file, with the values of the fields in the path of its folder."""

    values: tuple[str, ...]
    stem: str
    path: str


@dataclass
class Group:
    """Files in folders that fit one template, whose names begin, and end, alike."""

    folder: str  # a template
    fields: tuple[str, ...]
    ext: str  # of all that are no images, and of images whose names end alike; "" for any
    files: list[File] = field(default_factory=list)
    before: str = ""
    behind: str = ""
    between: str = ""  # a word within their names

    @cached_property
    def keys(self) -> dict[tuple[tuple[str, ...], str], File]:
        """The files by the values of their fields and what is left of their names."""
        start, end = len(self.before), len(self.behind)
        return {
            (
                one.values,
                one.stem[start : len(one.stem) - end].replace(self.between or _OWN, _OWN, 1),
            ): one
            for one in self.files
        }

    @cached_property
    def is_image(self) -> bool:
        """Whether its files are named as images are."""
        return is_named_as_image(self.files[0].path)

    def template(self, key: str = "{key}") -> str:
        """Return the template of its files."""
        end = f".{self.ext}" * bool(self.ext)
        part = f"{{part}}{literal(self.between)}" * bool(self.between)
        name = f"{part}{literal(self.before)}{key}{literal(self.behind)}{end}"
        name = name.replace(_OWN, "{split}").replace(_OTHER, "{_}")
        return f"{self.folder}/{name}" if self.folder else name

    @cached_property
    def _words(self) -> list[str]:
        path = f"{self.folder}/{self.behind}"
        words = [plain(name) for name in (*path.split("/"), *re.split(r"[/_. -]", path))]
        return words + [word.lower() for word in _WORDS.findall(path)]

    @cached_property
    def are_masks(self) -> bool:
        """Whether its files are named as the masks of others are."""
        return any(map(may_be_masks, self._words))

    @property
    def rank(self) -> tuple[bool, bool, bool, int, bool, str]:
        """Sort what are called images, and most, before what may be masks of these.

        Of parts beside each other, a TIFF may be the depth.
        """
        is_named = not IMAGES.isdisjoint(self._words)
        is_part = self.are_masks or bool(self.behind.replace(f"_{_OWN}", "") or self.before)
        is_tiff = is_part and self.ext.lower() in ("tif", "tiff")
        return not self.is_image, is_part, not is_named, -len(self.files), is_tiff, self.folder


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
        found += map(_without_split, groups.values())
    each = [one for group in found for part in _by_kinds(group) for one in _by_ends(part)]
    return _without_words(sorted(_without_affixes(each), key=lambda one: one.rank))


def _without_affixes(groups: Sequence[Group]) -> list[Group]:
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
        if len(both) >= _NEARLY * min(len(one.keys) for one in each):
            found |= {id(one): new for one, new in zip(pair, each, strict=True)}
    return [found.get(id(one), one) for one in groups]


def _without_words(groups: list[Group]) -> list[Group]:
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


def _are_scenes(each: Sequence[Sequence[str]], template: str, fields: Sequence[str]) -> bool:
    """Return whether folders hold the same few files, the parts of one sample: ``im1``, ``im2``."""
    names = set(map(frozenset, each))
    stems = {name.rpartition(".")[0] for name in each[0] if is_named_as_image(name)}
    words = {re.sub(r"\d+", "", stem) for stem in stems}
    return (
        len(names) == 1
        and 2 <= len(stems) <= _MOST
        and len(each) >= _SCENES - have_roles(stems)
        and (len(words) == len(stems) or len(stems) > 2)
        and not any(re.fullmatch(r"\d+|.*0\d+", stem) for stem in stems)  # frames are counted
        and bool(fields)
        and os.path.basename(template) == f"{{{fields[-1]}}}"
    )


def _without_split(group: Group) -> Group:
    """Return files with a sign for the split in their names, if each has its own: ``1_train``."""
    if "split" not in group.fields:
        return group
    at = group.fields.index("split")
    each = [(file, file.values[at]) for file in group.files]
    lasts = {_split_sign(file.stem, split) for file, split in each}
    if _OTHER in lasts and "" not in lasts:
        files = [file._replace(stem=re.sub("[^_]+$", _OTHER, file.stem)) for file, _ in each]
        return replace(group, files=files)
    files = [file._replace(stem=file.stem.replace(split, _OWN)) for file, split in each]
    return replace(group, files=files) if all(_OWN in one.stem for one in files) else group


def _split_sign(stem: str, split: str) -> str:
    """Return the sign for the last word of a name, if it is the split, or another word for it."""
    word = stem.rpartition("_")[2]
    if word == split:
        return _OWN
    return _OTHER if "" != split_of(word) == split_of(split) else ""


def _by_kinds(group: Group) -> list[Group]:
    """Return pictures by their extensions if files that differ in these only lie together."""
    names = {(one.values, one.stem) for one in group.files}
    if len(names) == len(group.files) or not group.is_image:
        return [group]
    kinds: dict[str, list[File]] = defaultdict(list)
    for one in group.files:
        kinds[one.path.rpartition(".")[2]].append(one)
    return [replace(group, ext=ext, files=files) for ext, files in kinds.items()]


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
    if len(below) > _MOST or 2 * sum(map(len, each)) < len(set.union(*each)) * len(below):
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
    return len(shared) >= _NEARLY * most


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
    words = [word.lower() for word in _WORDS.findall(name)]
    return is_role(name) or not IMAGES.isdisjoint(words) or any(map(may_be_masks, words))


def _by_ends(group: Group) -> Iterator[Group]:
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
            is_many = (2 <= len(found) <= _MOST and are_parts) or {*found} <= {
                ("", f"_{_OWN}"),
                ("", f"_{_OTHER}"),
            }
            if is_many and any(sum(whole) >= _NEARLY * len(whole) for whole in each.values()):
                return found
    return {}
