"""Which files of a folder belong to an image: those that share its stem (pure)."""

import os
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from reader.format.members import PICTURES

SHARED = "more than one image has its name"
_MAPS = {"mask", "seg", "depth"}  # x.mask.png beside x.jpg belongs to it and is no sample
EXTENSION = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)*")


@dataclass(frozen=True)
class Grouping:
    """The files of one folder.

    Attributes:
        samples: the files that are samples, sorted, each with its members: extension -> file.
        refused: the files that share an image's stem and cannot be its members, with the reason.
    """

    samples: dict[str, dict[str, str]]
    refused: dict[str, str]


def group(names: Iterable[str]) -> Grouping:
    """Sort a folder's file names into images and what belongs to them.

    A file belongs to an image if its name is the image's stem, a dot and an extension: ``x.json``,
    ``x.tokens.npy``, ``x.mask.png``. Files that belong to no image count as samples of their own;
    `likeness` tells whether they are.
    """
    names = sorted(names)
    images: dict[str, list[str]] = defaultdict(list)
    rest = []
    for name in names:
        stem, ext = os.path.splitext(name)
        if ext[1:].lower() in PICTURES:
            images[stem].append(name)
        else:
            rest.append(name)
    for stem in [stem for stem in images if _map_of(stem) in images]:
        rest += images.pop(stem)
    owners: dict[str, dict[str, str]] = {name: {} for name in names}
    refused = {}
    for name in sorted(rest):
        stem, ext = _owner(name, images)
        if len(images.get(stem, ())) > 1:
            refused[name] = SHARED
        elif stem:
            members = owners[images[stem][0]]
            if ext in members:  # x.JSON beside x.json
                refused[name] = f"its image has another .{ext}"
            else:
                members[ext] = name
        else:
            continue
        del owners[name]
    return Grouping(owners, refused)


def _map_of(stem: str) -> str | None:
    """The stem of the image that a map (mask, depth) with this stem would belong to."""
    owner, _, what = stem.rpartition(".")
    return owner if what in _MAPS else None


def _owner(name: str, images: dict[str, list[str]]) -> tuple[str, str]:
    """The longest stem of an image that `name` continues with an extension, and that; or empty."""
    end = len(name)
    while (end := name.rfind(".", 0, end)) > 0:
        ext = name[end + 1 :].lower()
        if name[:end] in images and EXTENSION.fullmatch(ext):
            return name[:end], ext
    return "", ""
