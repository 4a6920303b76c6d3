"""The names of images that a manifest lists: paths that stay inside a folder, and their keys."""

import os
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import xxhash

from packer.errors import BadImage
from packer.keys import Hashes, escape, repeated


class Keys:
    """The keys of images whose names come in any order; 8 bytes a name are kept.

    ``x.jpg`` and ``x.png`` of one folder would both be ``x``, so they keep their extensions.
    """

    def __init__(self, stems: Hashes) -> None:
        """`stems` are the `stem_hash` of each name that there is."""
        self._shared = frozenset(repeated([stems]).tolist())
        self._seen: set[str] = set()  # of the names that share their stem

    @classmethod
    def among(cls, names: Iterable[str]) -> "Keys":
        """The keys of these names."""
        return cls(np.fromiter(map(stem_hash, names), np.uint64))

    def of(self, name: str) -> str:
        """The key of an image.

        Raises:
            BadImage: the name came before.
        """
        if stem_hash(name) not in self._shared:
            return escape(os.path.splitext(name)[0])
        if name in self._seen:
            raise BadImage("an earlier record names it too")
        self._seen.add(name)
        return escape(name)


def stem_hash(name: str) -> int:
    """The xxh3-64 of a name without its extension."""
    return name_hash(os.path.splitext(name)[0])


def name_hash(name: str) -> int:
    """The xxh3-64 of a name."""
    return xxhash.xxh3_64_intdigest(os.fsencode(name))


def path_inside(root: Path, path: str) -> str:
    """`path`, absolute or relative to `root`, as a path relative to it.

    Raises:
        BadImage: it leads out of `root`, or no file can have such a path.
    """
    try:
        encoded = os.fsencode(path)
    except UnicodeEncodeError as error:
        raise BadImage("its path is not text") from error
    if b"\0" in encoded:
        raise BadImage("its path holds a NUL byte")
    if os.path.isabs(path):
        folder, base = os.path.split(path)
        path = os.path.relpath(os.path.join(os.path.realpath(folder), base), root)
    path = os.path.normpath(path)
    if path.split(os.sep)[0] in (os.pardir, os.curdir):
        raise BadImage("its path leads out of the images' folder, which --root names")
    return path
