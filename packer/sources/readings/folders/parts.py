"""The parts of one sample, in folders beside each other or beside each other in one."""

import re
from collections.abc import Mapping, Sequence
from io import BytesIO

from PIL import Image

from packer.errors import BadImage
from packer.images.probe import PILLOW_ERRORS
from packer.sources.readings.folders.contents import (
    FLAT,
    FOLDER,
    LEAST,
    Contents,
    member,
    nearly_all,
)
from packer.sources.trees.names import (
    are_counters,
    have_roles,
)
from packer.sources.trees.outright import by_templates, literal
from packer.sources.trees.shape import IMAGES, inside, may_be_masks, plain
from packer.sources.trees.tree import Tree
from packer.words import choices, listed

_MOST = 12  # folders that may be parts of one sample
_PICTURES = 8  # of a folder that are looked at
_HEAD = 1 << 16  # bytes that tell a picture's size
_ROUNDED = 0.02  # of a side
_FEW = 4  # readings of one kind


def parts(folders: Contents) -> str:
    """Folders beside each other whose images have the same names: parts of one sample."""
    for base, names in folders.classes.items():
        if 2 <= len(names) <= _MOST and (suffixes := _suffixes(folders, base, names)):
            return _parts_refusal(folders, base, suffixes)
    return ""


def _suffixes(folders: Contents, base: str, names: Sequence[str]) -> dict[str, str]:
    """Return what the names in each folder have behind those that all share; nothing for classes.

    Those of the first may be parts of several others: ``1`` of ``1_1_0.9`` and ``1_2_0.9``.
    """
    counts = [folders.shape.below(inside(base, name)) for name in names]
    is_alike = min(counts) >= max(LEAST, nearly_all(max(counts)))
    if not is_alike and (len(names) > 2 or not have_roles(names)):
        return {}
    stems = {name: folders.stems(inside(base, name)) for name in names}
    first, *others = (frozenset(some) for some in stems.values())
    shared = first.intersection(*others)
    if not is_alike:
        return _of_several(stems)
    if len(shared) < max(nearly_all(max(map(len, stems.values()))), LEAST):
        return _continued(stems)
    is_counted = len(set(counts)) > 1 and are_counters(shared)
    if have_roles(names) and not (is_counted and all(len(name) == 1 for name in names)):
        return dict.fromkeys(names, "")
    if _named_after_others(names, shared) or _differ_in_kind(stems):
        return dict.fromkeys(names, "")
    is_alike = not is_counted and _are_alike(folders, base, stems, sorted(shared))
    return dict.fromkeys(names, "") if is_alike else {}


def _continued(stems: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Return templates of the folders if all but one have that one's names, with a suffix."""
    for main, mains in stems.items():
        found = {main: ""}
        for name, others in stems.items():
            if name != main and (suffix := _suffix(mains, sorted(others), name)):
                found[name] = suffix
        if len(found) == len(stems):
            return found
    return {}


def _suffix(mains: Mapping[str, str], others: Sequence[str], name: str) -> str:
    for first in others[:2]:  # of which one may be missing there
        for at in range(len(first) - 1, 0, -1):
            suffix = first[at:]
            if first[:at] not in mains or (suffix[0].isalnum() and first[at - 1].isalnum()):
                continue
            both = sum(each.endswith(suffix) and each[: -len(suffix)] in mains for each in others)
            is_own = plain(suffix) == plain(name)  # dog/1_dog.jpg
            return suffix if both >= nearly_all(len(others)) and not is_own else ""
    return ""


def _of_several(stems: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Return templates of two folders if names in one start with the names in the other."""
    (one, few), (other, many) = sorted(stems.items(), key=lambda item: len(item[1]))
    rests = {re.sub(r"[^\W_]+|\.", "*", stem.partition("_")[2]) for stem in many}
    if (
        len(many) < LEAST
        or "" in rests
        or len(rests) != 1
        or not all(stem.partition("_")[0] in few for stem in many)
    ):
        return {}
    fields = next(iter(many)).count("_")
    return {other: "_{_}" * (fields - 1) + "_{key}", one: ""}


def _named_after_others(names: Sequence[str], stems: frozenset[str]) -> bool:
    """Return whether pictures have the name of a folder beside theirs in their own."""
    found = re.findall(r"[^\W\d_]+", next(iter(stems)).lower())
    return any(plain(name) in found for name in names)


def _differ_in_kind(stems: Mapping[str, Mapping[str, str]]) -> bool:
    """Return whether the images of each folder end in another extension."""
    kinds = [frozenset(some.values()) for some in stems.values()]
    return len(set(kinds)) > 1 and len(frozenset.union(*kinds)) == sum(map(len, kinds))


def _are_alike(
    folders: Contents,
    base: str,
    stems: Mapping[str, Mapping[str, str]],
    shared: Sequence[str],
) -> bool:
    """Return whether images of the same name, and only these, share a size, or have two modes."""
    sizes: list[list[tuple[int, int]]] = []
    modes: list[tuple[str, ...]] = []
    for stem in shared[:: len(shared) // _PICTURES + 1]:
        paths = [f"{inside(base, name)}/{stem}.{some[stem]}" for name, some in stems.items()]
        if None in (found := [_picture(folders.tree, path) for path in paths]):
            return False
        sizes.append([one[0] for one in found if one])
        modes.append(tuple(one[1] for one in found if one))
    ratios = {(width * one[0][1], one[0][0] * height) for one in sizes for width, height in one}
    if any(abs(a - b) > _ROUNDED * max(a, b) for a, b in ratios):
        return False
    scales = {round(size[0] / one[0][0], 1) for one in sizes for size in one[1:]}
    differ = len({one[0] for one in sizes}) >= LEAST and len(scales) <= len(stems) - 1
    return differ or (len(set(modes)) == 1 and len(set(modes[0])) == len(stems))


def _picture(tree: Tree, path: str) -> tuple[tuple[int, int], str] | None:
    try:
        with Image.open(BytesIO(tree.begin(path, _HEAD))) as image:
            return image.size, image.mode
    except (BadImage, *PILLOW_ERRORS):
        return None


def _parts_refusal(folders: Contents, base: str, suffixes: Mapping[str, str]) -> str:
    names = sorted(suffixes, key=lambda name: (plain(name) not in IMAGES, may_be_masks(name)))
    text = f"the images in {listed(names)} have the same names: they may be parts of one "
    text += "sample. Choose:"
    of_several = any("{key}" in suffix for suffix in suffixes.values())
    is_plain = not (any(suffixes.values()) or folders.has_splits or folders.tree.unpack)
    key = "{scene}" if of_several else "{key}"
    mains = [name for name in names if plain(name) in IMAGES] or names[:_FEW]
    for name in mains:
        others = [other for other in names if other != name]
        meaning = f"Each image in {name} has members of the others"
        if of_several and not suffixes[name]:
            continue
        if is_plain:
            source = folders.where / base
            pairs = [f"{member(other)}={source / other}" for other in others]
            words = [word for pair in pairs for word in ("--pair", pair)]
            text += choices(source / name, {meaning: words})
        elif folders.start is not None:
            way = {each: f"{folders.start}{literal(each)}/{key}{suffixes[each]}" for each in names}
            members = {folders.member(other): way[other] for other in others}
            text += choices(folders.where, {meaning: by_templates([way[name]], members)})
        meaning = f"Only {name} is meant"
        if not folders.has_splits:
            text += folders.packing(inside(base, name), meaning)
        else:
            hidden = [word for each in others for word in ("--ignore", f"**/{each}/**")]
            text += choices(folders.where, {meaning: (*hidden, *FLAT)})
    return text + choices(folders.where, {"They are classes": FOLDER})
