"""Food-101: ``images/CLASS/ID.jpg``, and in ``meta`` the official train and test lists.

As https://data.vision.ee.ethz.ch/cvl/datasets_extra/food-101 has it. Classes and splits are those
of the lists.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from packer.layouts.interpretation import Place, Reading
from packer.layouts.listed import by_lists
from packer.layouts.lists import Lists, Row
from packer.trees.tree import Tree

_LISTS = {"train": "meta/train.txt", "test": "meta/test.txt"}


def recognise(place: Place) -> Reading | None:
    """``meta/train.txt``, ``meta/test.txt`` and ``meta/classes.txt`` beside ``images``."""
    tree, classes = place.tree, "meta/classes.txt"
    if not tree or not tree.level("images").folders:
        return None
    if not all(map(tree.has, (classes, *_LISTS.values()))):
        return None

    def lists() -> Lists:
        return _Food101(tuple(tree.lines(classes)), (classes, *_LISTS.values()))

    return by_lists(tree, "Food-101 with its official lists", lists)


@dataclass(frozen=True)
class _Food101(Lists):
    def rows(self, tree: Tree) -> Iterator[Row]:
        """Train, then test; a line is a path below ``images`` without its extension."""
        for split, path in _LISTS.items():
            for line in tree.lines(path):
                yield Row(f"images/{line}.jpg", line.partition("/")[0], split)
