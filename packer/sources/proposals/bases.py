"""Templates of the images and their members, of the groups of a source's files (pure)."""

import os
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from packer.sources.proposals.group import File, Group
from packer.sources.tables.names import counted
from packer.sources.trees.names import is_role
from packer.sources.trees.outright import by_templates, literal, member
from packer.sources.trees.shape import IMAGES, may_be_masks, plain

_MAINS = 4  # groups of images of which each may be that of the samples
_PARTS = 12  # folders of which each has parts of the same samples
_LEAST = 0.5  # of the files of a part have an image
_EDGE = re.compile(r"[_\-. ]+|(?<=\d)(?=[^\W\d_])")
_FOLDERS = re.compile(r"\{folder\d")
_FIELD = re.compile(r"\{.*?\}")
_IDENTITY = re.compile(r"(\d{4,}|-1)(_[^\W\d])(?=\d)")  # before the number of a camera
_SINGLE = 5  # images of which each is in a folder of its own
_FEW = 20  # names that are looked at for what they have more than others


@dataclass(frozen=True)
class Base:
    """A reading of folders and files, without lists."""

    images: tuple[str, ...]
    members: Mapping[str, str]
    ignored: Sequence[str] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The options of a command."""
        ignored = (word for glob in self.ignored for word in ("--ignore", glob))
        return (*by_templates(self.images, self.members), *ignored)


def bases(groups: Sequence[Group]) -> Iterator[Base]:
    """Yield the readings of a source's files; those that keep most come first."""
    images = [one for one in groups if one.is_image]
    parts = 0
    for first in images[:_MAINS]:
        if first.rank[1] and first is not images[0]:
            continue  # what may be masks
        order = [first, *(one for one in images if one is not first)]
        mains: list[Group] = []
        members: dict[str, tuple[Group, str, bool]] = {}
        ignored: list[str] = []
        texts = [one for one in groups if not one.is_image]
        while order:
            main, *order = order
            if mains and main.are_masks and not first.are_masks:  # which are no samples
                ignored.append(_FIELD.sub("*", main.template()))
                continue
            mains.append(main)
            order = [part for one in order for part in _apart(one, main)]
            for one in [*order, *texts]:
                placed = _placed(one, main)
                if found := _joined(placed, main):
                    members[_named(placed, main, members)] = placed, *found
                    (order if one.is_image else texts).remove(one)
        if len(members) < parts:
            return  # parts are no samples of their own
        parts = len(members)
        yield from _meant(mains, members, ignored)


def _each_folder(mains: Sequence[Group]) -> Base:
    """Return the reading in which each folder that holds images is a class."""
    start: list[str] = []
    for names in zip(*(main.folder.split("/") for main in mains), strict=False):
        if len(set(names)) > 1 or names[0].startswith("{folder"):
            break
        start.append(names[0])
    way = "/".join([*start, "{label:all}/{key}"])
    return Base((way,), {})


def _meant(
    mains: Sequence[Group],
    members: Mapping[str, tuple[Group, str, bool]],
    ignored: Sequence[str],
) -> Iterator[Base]:
    """Yield what the folders may mean that are no parts and no splits."""
    folders = [name for name in mains[0].fields if name != "split"]
    is_varied = len({len(one.fields) for one in mains}) > 1
    which = [
        at
        for at in [-1, 0][: min(len(folders), 1 if is_varied else 2)]
        if _may_be_classes(mains[0], folders, at, bool(members))
    ]
    if not (folders or members) and (camera := _after_identities(mains)):
        yield Base(tuple(main.template(f"{{label}}{camera}{{key}}") for main in mains), {})
    for at in sorted([*which, None], key=lambda at: _are_counted(mains[0], folders, at)):
        ways = {_with_label(main.template(), main, at): main for main in mains}
        images = sorted(ways, key=lambda way: -len(_FIELD.sub("", way)))  # others may fit, too
        images = [_with_split(way, images) for way in images]
        files = {}
        for name, (one, key, lacks) in members.items():
            text = _with_label(one.template(key), mains[0], at)
            if name == "json" and _FOLDERS.search(text):  # which the json of each sample has
                name = "annotation.json"
            files[_optional(name) if lacks or mains[1:] else name] = text
        yield Base(tuple(images), files, tuple(ignored))
    has_folders = any(set(main.fields) - {"split"} for main in mains)
    has_folders &= all(plain(os.path.basename(main.folder)) not in IMAGES for main in mains)
    is_plain = not (members or ignored or any(_are_counted(mains[0], folders, at) for at in which))
    if has_folders and is_plain and (-1 in which or not folders):
        yield _each_folder(mains)


def _after_identities(mains: Sequence[Group]) -> str:
    """Return what follows the numbers of persons or things that all names begin with."""
    found = [_IDENTITY.match(key) for main in mains for _, key in main.keys]
    pairs = [match.groups() for match in found if match]
    numbers, signs = {number for number, _ in pairs}, {sign for _, sign in pairs}
    is_of_all = len(pairs) == len(found) and 1 < len(numbers) < len(pairs)
    return str(signs.pop()) if is_of_all and len(signs) == 1 else ""


def _may_be_classes(main: Group, folders: Sequence[str], at: int, has_parts: bool) -> bool:
    """Return whether folders may be classes: numbers of clips are none, nor parts of classes."""
    of = [main.fields.index(name) for name in folders]
    each = [tuple(values[one].lower() for one in of) for values, _ in main.keys]
    if has_parts and (
        is_role(os.path.basename(main.folder)) or all(one[at].isdecimal() for one in each)
    ):
        return False
    if all(key.lower().startswith(one[at]) for one, (_, key) in zip(each, main.keys, strict=True)):
        return len(each) > len({one[at] for one in each})  # else each has the name of its image
    if len(each) >= _SINGLE and len({one[at] for one in each}) == len(each):
        return False  # a folder for each image
    return not folders[1:] or at == 0 or not all(one[0][1:] and one[0] in one[-1] for one in each)


def _are_counted(main: Group, folders: Sequence[str], at: int | None) -> bool:
    """Return whether folders count one thing, such as patients: they are no classes."""
    of = -1 if at is None else main.fields.index(folders[at])
    return at is not None and bool(counted({values[of] for values, _ in main.keys}))


def _with_label(template: str, main: Group, at: int | None) -> str:
    folders = [name for name in main.fields if name != "split"]
    if at is None or not folders:
        return template
    return template.replace(f"{{{folders[at]}}}", "{label}")


def _with_split(way: str, ways: Sequence[str]) -> str:
    """Return the template of a folder beside those of splits with its name as the split."""
    for other in ways if "{split}" not in way else ():
        before, split, behind = other.partition("{split}")
        name = way.removeprefix(before).removesuffix(behind)
        if split and re.fullmatch(r"[\w-]+", name) and f"{before}{name}{behind}" == way:
            return f"{{split={name}}}{way}"
    return way


def _optional(name: str) -> str:
    first, dot, rest = name.partition(".")
    return f"{first}?{dot}{rest}"


def _named(one: Group, main: Group, known: Collection[str]) -> str:
    """Return the name of a member, from where its files and their names differ from images'."""
    own, others = one.folder.split("/"), main.folder.split("/")
    folders = [re.sub(r"\{\w+\}", "", name) for name in own if name not in others]
    folders = sorted(filter(None, folders), key=lambda name: not may_be_masks(plain(name)))
    texts = (text.strip("_-. ") for text in (one.behind, one.before, one.between))
    words = next(filter(None, texts), "") or next(iter(folders), "")
    name = member(words.partition(".")[2] or words) or "picture"
    if one.is_image:
        name = "mask" if may_be_masks(plain(name)) and not _has(known, "mask") else name
    else:
        name = "" if one.ext and not _has(known, one.ext.lower()) else name
    while _has(known, f"{name}.{one.ext.lower()}".strip(".") if not one.is_image else name):
        name += "_"
    return name if one.is_image else f"{name}.{one.ext.lower()}".strip(".")


def _has(known: Collection[str], name: str) -> bool:
    return name in {one.removesuffix("?") for one in known}


def _apart(one: Group, main: Group) -> list[Group]:
    """Return files in folders of which each has parts of the same samples, a group for each."""
    further = [name for name in one.fields if name not in main.fields]
    if len(further) != 1 or further == ["split"] or set(main.fields) - set(one.fields):
        return [one]
    at = one.fields.index(further[0])
    each: dict[str, list[File]] = defaultdict(list)
    for file in one.files:
        values = (*file.values[:at], *file.values[at + 1 :])
        each[file.values[at]].append(file._replace(values=values))
    fields = (*one.fields[:at], *one.fields[at + 1 :])
    found = [
        replace(
            one,
            folder=one.folder.replace(f"{{{further[0]}}}", literal(value)),
            fields=fields,
            files=files,
        )
        for value, files in each.items()
    ]
    are_parts = len(found) <= _PARTS and all(_joined(part, main) for part in found)
    return found if are_parts else [one]


def _placed(one: Group, main: Group) -> Group:
    """Return files in a single folder as those of the field that has its name in `main`."""
    for at, name in enumerate(main.fields):
        values = {literal(file.values[at]) for file in main.files} if name not in one.fields else ()
        parts = one.folder.split("/")
        if part := next((part for part in parts if part in values), ""):
            folder = "/".join(f"{{{name}}}" if word == part else word for word in parts)
            files = [file._replace(values=(*file.values, part)) for file in one.files]
            one = replace(one, folder=folder, fields=(*one.fields, name), files=files)
    return one


def _joined(one: Group, main: Group) -> tuple[str, bool] | None:
    """Return what stands for the key in the template of a part, and whether images lack it.

    None: it is no part of `main`.
    """
    if not set(one.fields) <= set(main.fields) or one is main:
        return None
    at = [main.fields.index(name) for name in one.fields]
    known = {(tuple(values[n] for n in at), key) for values, key in main.keys}
    for before, behind in _more(one, main):
        start, end = len(before), len(behind)
        own = {
            (values, key[start : len(key) - end])
            for values, key in one.keys
            if key.startswith(before) and key.endswith(behind)
        }
        both = len(own & known)
        if both > _LEAST * len(one.keys):
            return f"{literal(before)}{{key}}{literal(behind)}", bool(known - own)
    return None


def _more(one: Group, main: Group) -> Iterator[tuple[str, str]]:
    """Yield what names of a part may have before and behind the names of its images."""
    yield "", ""
    names = {key for _, key in main.keys}
    found: dict[tuple[str, str], None] = {}
    for _, key in list(one.keys)[:_FEW]:
        edges = [match.span() for match in _EDGE.finditer(key)]
        starts, ends = [0, *(end for _, end in edges)], [*(start for start, _ in edges), len(key)]
        for start, end in product(starts, ends):
            if start < end and key[start:end] in names:
                found[key[:start], key[end:]] = None
    yield from found
