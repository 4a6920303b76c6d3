"""Folders beside each other that hold the parts of one sample each (pure).

The images in them have the same names, but for what all names of a folder begin or end with. As
class folders whose images are counted have them, too, roles and pictures decide.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from functools import reduce
from io import BytesIO
from typing import NamedTuple

from PIL import Image

from packer.images.probe import PILLOW_ERRORS
from packer.sources.audit.outcome import (
    AS_READ,
    Outcome,
    Question,
    Seen,
    as_parts,
    member_of,
    rank,
    within,
)
from packer.sources.trees.names import are_counters, have_roles, nearly_all
from packer.sources.trees.shape import IMAGES, plain
from packer.sources.trees.tokens import Affix, shared, tokens, unpadded
from packer.words import listed

_LEAST = 3  # names in common
_MOST = 12  # folders that may be parts of one sample
_SHOWN = 4  # readings of one kind
_PICTURES = 8  # of a folder that are looked at
_ROUNDED = 0.02  # of a side


class _Part(NamedTuple):
    """A folder that may hold a part of each sample."""

    way: str  # the template of its images
    images: Mapping[str, Seen]  # by what is left of their names
    own: str = ""  # what only the names in it begin or end with


_Parts = Mapping[str, _Part]  # by the names of folders


def parallel_folders(outcome: Outcome) -> Question | None:
    """Folders whose images have the same names, but for an affix: ``HR/1.png``, ``LR/1x4.png``."""
    by_split: dict[str, dict[str, list[Seen]]] = defaultdict(lambda: defaultdict(list))
    if outcome.listing.members and all(len(name) == 1 for name in outcome.names):
        return None  # images/a and images/b, of which each has its masks/a and masks/b
    for one in outcome.seen:
        by_split[one.split]["".join(one.folders[:1])].append(one)
    for each in by_split.values():
        if 2 <= len(each) <= _MOST and not any(n == "" or n.endswith(".tar") for n in each):
            parts = _of_several(each) or _of_one_each(each)
            if "{scene}" in next(iter(parts.values())).way or _are_of_samples(outcome, parts):
                return _asked(outcome, parts, set.intersection(*map(set, by_split.values())))
    return None


def _asked(outcome: Outcome, parts: _Parts, in_all: Collection[str]) -> Question:
    names = sorted(parts, key=rank)
    mains = [name for name in names if plain(name) in IMAGES] or names[:_SHOWN]
    if several := [name for name in names if "{scene}" in parts[name].way]:
        mains = [name for name in several if "{key}" in parts[name].way]
    ways = {name: f"{outcome.start}{parts[name].way}" for name in names}
    readings: dict[str, Sequence[str]] = {}
    for main in mains:
        keys, hidden = parts[main].images.keys(), list[str]()
        common = keys & set.intersection(*(set(parts[name].images) for name in names))
        if several or len(common) >= min(_LEAST, len(keys)):
            lacking = {n for n in names if n not in in_all or keys - parts[n].images.keys()}
            lacking -= {*several}
            members = {n: member_of(n, is_optional=n in lacking) for n in names}
            readings |= as_parts("Each image in {} has members of the others", ways, members, main)
        for name in names:
            hidden += ["--ignore", f"**/{name}/**"] * (name != main)
        readings[f"Only {main} is meant"] = [*hidden, "--as", "flat"]
    return Question(
        f"the images in {listed(names)} have the same names, such as "
        f"{next(iter(parts[names[0]].images.values())).name}, but for what all names of a folder "
        "begin or end with: they may be parts of one sample.",
        readings | {"They are classes": AS_READ},
    )


def _of_one_each(each: Mapping[str, Sequence[Seen]]) -> _Parts:
    """Return the folders as parts of which each sample has one."""
    affixes = {name: Affix.of([one.stem for one in some]) for name, some in each.items()}
    counts = {name: Counter([*tokens(a.before), *tokens(a.after)]) for name, a in affixes.items()}
    common = reduce(Counter.__and__, counts.values())
    is_common = [len(set(texts)) == 1 for texts in zip(*affixes.values(), strict=True)]
    found = {}
    for name, affix in affixes.items():
        own = plain("".join((counts[name] - common).elements()))
        affix = Affix(*("" if same else text for same, text in zip(is_common, affix, strict=True)))
        above = shared([one.folders for one in each[name]])
        keys = ("/".join([*one.folders[len(above) :], affix.strip(one.stem)]) for one in each[name])
        way = within(*above) + affix.put("{key}")
        found[name] = _Part(way, dict(zip(keys, each[name], strict=True)), own)
    return found


def _of_several(each: Mapping[str, Sequence[Seen]]) -> _Parts:
    """Return two folders if pictures in one are named after one in the other: ``1_2_0.9``, ``1``.

    None has another count of words.
    """
    if len(each) != 2 or not have_roles(list(each)):
        return {}
    (one, few), (other, many) = sorted(each.items(), key=lambda item: len(item[1]))
    known = {image.stem: image for image in few}
    stems = {image.stem: image for image in many}
    rests = {re.sub(r"[^\W_]+|\.", "*", stem.partition("_")[2]) for stem in stems}
    are_named = len(few) < len(many) >= _LEAST and all(s.partition("_")[0] in known for s in stems)
    if not are_named or "" in rests or len(rests) != 1:
        return {}
    further = "_{_}" * (next(iter(stems)).count("_") - 1)
    return {
        one: _Part(f"{within(one)}{{scene}}", known),
        other: _Part(f"{within(other)}{{scene}}{further}_{{key}}", stems),
    }


def _are_of_samples(outcome: Outcome, parts: _Parts) -> bool:
    """Return whether nearly all names are in all folders, and these are no classes."""
    counts = [len(one.images) for one in parts.values()]
    every = [{unpadded(name) for name in one.images} for one in parts.values()]
    least = max(_LEAST, nearly_all(max(counts)))
    if min(*counts, len(set.intersection(*every))) < least:
        return False
    same = sorted(set.intersection(*(set(one.images) for one in parts.values())))
    if any(one.own for one in parts.values()):
        are_names = all(_is_called(plain(name), one.own) for name, one in parts.items())
        is_one = not are_names or have_roles(list(parts))
        return is_one or (len(same) >= least and _are_alike(outcome, parts, same))
    if len(same) < least:  # but for zeros before numbers
        return have_roles(list(parts))
    return all(map(_begin_late, parts.values())) or _are_of_one(outcome, parts, same)


def _is_called(folder: str, own: str) -> bool:
    """Return whether the names in a folder begin or end as it is called."""
    return bool(own) and (own in folder or folder[:1] == own[0] or unpadded(own) == folder)


def _begin_late(part: _Part) -> bool:
    """Return whether names are padded numbers from another one on than the first."""
    names = list(part.images)
    is_padded = all(map(str.isdecimal, names)) and len(names) > _LEAST and max(names)[0] == "0"
    return is_padded and min(map(int, names)) > 1


def _are_of_one(outcome: Outcome, parts: _Parts, same: Sequence[str]) -> bool:
    """Return whether images of the same name belong together, by their folders and pictures."""
    names = list(parts)
    is_counted = len({len(one.images) for one in parts.values()}) > 1 and are_counters(same)
    if have_roles(names) and not (is_counted and all(len(name) == 1 for name in names)):
        return True
    words = re.findall(r"[^\W\d_]+", same[0].lower())
    kinds = [{one.ext.lower() for one in part.images.values()} for part in parts.values()]
    if any(plain(name) in words for name in names) or not set.intersection(*kinds):
        return True  # another folder's name, or no extension is in all folders
    return not is_counted and _are_alike(outcome, parts, same)


def _are_alike(outcome: Outcome, parts: _Parts, same: Sequence[str]) -> bool:
    """Return whether images of the same name, and only these, share a size, or have two modes."""
    sizes: list[list[tuple[int, int]]] = []
    modes: list[tuple[str, ...]] = []
    for name in same[:: len(same) // _PICTURES + 1]:
        found = [_picture(outcome, one.images[name].number) for one in parts.values()]
        if not all(found):
            return False
        sizes.append([one[0] for one in found if one])
        modes.append(tuple(one[1] for one in found if one))
    ratios = {(width * one[0][1], one[0][0] * height) for one in sizes for width, height in one}
    if any(abs(a - b) > _ROUNDED * max(a, b) for a, b in ratios):
        return False
    scales = {round(size[0] / one[0][0], 1) for one in sizes for size in one[1:]}
    counts = Counter(one[0] for one in sizes)
    differ = len(counts) >= _LEAST or (len(counts) > 1 and min(counts.values()) >= _LEAST)
    differ = differ and len(scales) <= len(parts) - 1
    return differ or (len(set(modes)) == 1 and len(set(modes[0])) == len(parts))


def _picture(outcome: Outcome, number: int) -> tuple[tuple[int, int], str] | None:
    try:
        with Image.open(BytesIO(outcome.read(number) or b"")) as image:
            return image.size, image.mode
    except PILLOW_ERRORS:
        return None
