"""Where the paths that others wrote lead: they are often another machine's."""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from packer.trees.shape import inside
from packer.trees.tree import Tree

_TRIED = 20  # lines of a list


@dataclass(frozen=True)
class Prefix:
    """How the paths of one list become those of a tree.

    Attributes:
        base: the folder that they are relative to.
        skip: how many folders in front lead nowhere here, such as those of another machine; what
            leads out of the tree (``..``) does not count.
    """

    base: str = ""
    skip: int = 0

    def apply(self, path: str) -> str:
        """The path in the tree."""
        return inside(self.base, "/".join(_parts(path)[self.skip :]))


def prefix_of(
    paths: Iterable[str], bases: Sequence[str], is_there: Callable[[str], bool]
) -> Prefix | None:
    """The rule by which one of the first paths leads to what is there; None if none does.

    Args:
        paths: as they are written: relative or absolute, with slashes or backslashes.
        bases: the folders that they may be relative to.
        is_there: whether a path of the tree is that of something.
    """
    for path in islice(paths, _TRIED):
        for prefix in _prefixes(path, bases):
            if is_there(prefix.apply(path)):
                return prefix
    return None


def folder_at(tree: Tree, path: str) -> bool:
    """Whether there is a folder with something in it."""
    level = tree.level(path)
    return bool(level.folders or level.counts)


def _prefixes(path: str, bases: Sequence[str]) -> Iterator[Prefix]:
    for skip in range(max(len(_parts(path)), 1)):
        for base in bases:
            yield Prefix(base, skip)


def _parts(path: str) -> list[str]:
    path = path if "/" in path else path.replace("\\", "/")
    return [part for part in os.path.normpath(path).split("/") if part not in ("", ".", "..")]
