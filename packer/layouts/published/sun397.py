"""SUN397: folders of one or two levels below a letter, and ``ClassName.txt`` that lists them.

As https://vision.princeton.edu/projects/2010/SUN/ has it. A class is the folder that its line
names.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from packer.layouts.interpretation import Place, Reading
from packer.layouts.listed import by_lists
from packer.layouts.lists import Lists, Row
from packer.trees.tree import Tree

_CLASSES = "ClassName.txt"
_LOOKED_AT = 100


def recognise(place: Place) -> Reading | None:
    """``ClassName.txt`` with lines such as ``/a/abbey``, one of which has images."""
    tree = place.tree
    if not tree or not tree.has(_CLASSES):
        return None
    some = list(islice(tree.lines(_CLASSES), _LOOKED_AT))
    if not all(line.startswith("/") for line in some):
        return None
    if not any(tree.level(line.strip("/")).images for line in some):
        return None

    def lists() -> Lists:
        classes = tuple(line.strip("/") for line in tree.lines(_CLASSES))
        return _Scenes(classes, (_CLASSES,))

    return by_lists(tree, "SUN397 with its list of classes", lists)


@dataclass(frozen=True)
class _Scenes(Lists):
    def rows(self, tree: Tree) -> Iterator[Row]:
        """Class by class."""
        for name in self.classes:
            for image in tree.images(name):
                yield Row(f"{name}/{image}", name)
