"""DTD, the describable textures: class folders, and ten divisions into train, val and test.

As https://www.robots.ox.ac.uk/~vgg/data/dtd/ has it. The first division is taken, as torchvision
does; the others are named and ignored.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from packer.layouts.interpretation import Place, Reading
from packer.layouts.listed import by_lists
from packer.layouts.lists import Lists, Row
from packer.trees.tree import Tree

_LISTS = {split: f"labels/{split}1.txt" for split in ("train", "val", "test")}
_IGNORED = {
    f"labels/{split}{number}.txt": "it is another division of the same images"
    for split in _LISTS
    for number in range(2, 11)
}
_IGNORED["labels/labels_joint_anno.txt"] = "the further textures of an image are not packed"
_IGNORED["imdb/"] = "it has the lists in another form"


def recognise(place: Place) -> Reading | None:
    """``labels/train1.txt`` and the like beside class folders in ``images``."""
    tree = place.tree
    if not tree or not all(map(tree.has, _LISTS.values())) or not tree.level("images").folders:
        return None

    def lists() -> Lists:
        return _Textures(tree.level("images").folders, tuple(_LISTS.values()), _IGNORED)

    return by_lists(tree, "DTD with the first of its ten divisions", lists)


@dataclass(frozen=True)
class _Textures(Lists):
    def rows(self, tree: Tree) -> Iterator[Row]:
        """Train, val, test; a line is a path below ``images``."""
        for split, path in _LISTS.items():
            for line in tree.lines(path):
                yield Row(f"images/{line}", line.partition("/")[0], split)
