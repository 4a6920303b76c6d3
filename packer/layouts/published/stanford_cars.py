"""Stanford Cars: ``cars_train`` and ``cars_test`` beside a devkit of MATLAB lists.

As https://ai.stanford.edu/~jkrause/cars/car_dataset.html had it, and as torchvision lays it
out. The box of a car becomes ``json``; the labels of the test images lie in
``cars_test_annos_withlabels.mat``.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from packer.errors import UnusableInput
from packer.layouts.arrays.matlab import read_matlab
from packer.layouts.interpretation import Place, Reading
from packer.layouts.listed import by_lists
from packer.layouts.lists import ONE_BOX, Lists, Row, box_note
from packer.trees.tree import Tree

_SIDES = ("x1", "y1", "x2", "y2")
_META = "devkit/cars_meta.mat"
_LISTS = {  # in the order in which they are preferred
    "train": ("devkit/cars_train_annos.mat",),
    "test": (
        "cars_test_annos_withlabels.mat",
        "devkit/cars_test_annos_withlabels.mat",
        "devkit/cars_test_annos.mat",
    ),
}


def recognise(place: Place) -> Reading | None:
    """The devkit's lists beside a folder of images."""
    tree = place.tree
    if not tree or not tree.has(_META) or not tree.has(_LISTS["train"][0]):
        return None
    if not tree.level("cars_train").images:
        return None

    def lists() -> Lists:
        found = read_matlab(tree, _META).get("class_names")
        if not isinstance(found, list) or not all(isinstance(name, str) for name in found):
            raise UnusableInput(f"{tree.root / _META} has no names of classes.")
        there = [next(filter(tree.has, paths), "") for paths in _LISTS.values()]
        ignored = {path: "another list has more" for path in _LISTS["test"] if path not in there}
        return _Cars(tuple(found), (_META, *filter(None, there)), ignored, boxes=ONE_BOX)

    return by_lists(tree, "Stanford Cars with its devkit", lists)


@dataclass(frozen=True)
class _Cars(Lists):
    def rows(self, tree: Tree) -> Iterator[Row]:
        """Train, then test."""
        for path in self.sources[1:]:
            split = "test" if "test" in path else "train"
            found = read_matlab(tree, path).get("annotations")
            try:
                for item in found or ():
                    sides = [str(item[f"bbox_{side}"].flat[0]) for side in _SIDES]
                    number = int(item["class"].flat[0]) if "class" in item else 0
                    label = self.classes[number - 1] if number else None
                    note = box_note(sides, path)
                    yield Row(f"cars_{split}/{item['fname']}", label, split, note=note)
            except (KeyError, AttributeError, TypeError, IndexError) as error:
                raise UnusableInput(f"{tree.root / path} is not a list of cars.") from error
