"""Stanford Dogs: ``Images`` by class, ``Annotation`` beside, and MATLAB lists of train and test.

As http://vision.stanford.edu/aditya86/ImageNetDogs/ has it. An annotation, XML as VOC's, becomes
the member ``xml``.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from packer.errors import UnusableInput
from packer.layouts.arrays.matlab import read_matlab
from packer.layouts.interpretation import Place, Reading
from packer.layouts.listed import by_lists
from packer.layouts.lists import Lists, Row
from packer.trees.tree import Tree

_LISTS = {"train": "train_list.mat", "test": "test_list.mat"}


def recognise(place: Place) -> Reading | None:
    """Both lists beside ``Images``."""
    tree = place.tree
    if not tree or not all(map(tree.has, _LISTS.values())) or not tree.level("Images").folders:
        return None

    def lists() -> Lists:
        ignored = {"file_list.mat": "its lines are those of train and test"}
        return _Dogs(tree.level("Images").folders, tuple(_LISTS.values()), ignored)

    return by_lists(tree, "Stanford Dogs with its lists", lists)


@dataclass(frozen=True)
class _Dogs(Lists):
    def rows(self, tree: Tree) -> Iterator[Row]:
        """Train, then test."""
        for split, path in _LISTS.items():
            found = read_matlab(tree, path).get("file_list")
            if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
                raise UnusableInput(f"{tree.root / path} has no list of files.")
            for name in found:
                xml = f"Annotation/{name.rpartition('.')[0]}"
                files = {"xml": xml} if tree.has(xml) else {}
                yield Row(f"Images/{name}", name.partition("/")[0], split, files)
