"""The other files of a folder: what no list names is told, each with the reason."""

import os
from collections.abc import Callable, Collection, Iterator, Mapping

import numpy as np

from packer.keys import Hashes, hashes_of
from packer.samples.records import Skipped
from packer.trees.shape import enclosing, folders_above, inside
from packer.trees.tree import Tree
from packer.trees.walk import not_entered


def unnamed(
    tree: Tree, known: Hashes, passed: Mapping[str, str]
) -> Iterator[tuple[str, list[str]] | Skipped]:
    """The files of each folder that are not among those that are known."""
    folders = {path[:-1] for path in passed if path.endswith("/")}
    for folder, level in tree.walk():
        if (found := enclosing(folder, folders)) is not None:
            if folder == found:
                yield Skipped(f"{found}/", passed[f"{found}/"], ignored=True)
            continue
        for name, reason in level.skipped.items():
            yield not_entered(inside(folder, name), reason)
        paths = [inside(folder, name) for name in tree.names(folder)]
        hashes = hashes_of(map(os.fsencode, paths))
        named = np.zeros(len(paths), bool)
        if len(known):
            named = known[np.searchsorted(known, hashes).clip(max=len(known) - 1)] == hashes
        yield folder, [path for path, is_named in zip(paths, named, strict=True) if not is_named]


def aside(
    tree: Tree, folders: Collection[str], reason: str, is_meant: Callable[[str], bool]
) -> dict[str, str]:
    """The highest folders that hold images and none of `folders`, each with a ``/`` -> reason."""
    known = set(folders)
    above = {path for folder in known for path in (folder, *folders_above(folder))}
    shape = tree.shape
    return {
        f"{path}/": reason
        for path in shape.images
        if path not in above
        and os.path.dirname(path) in above
        and shape.below(path)
        and is_meant(path)
        and enclosing(path, known) is None
    }
