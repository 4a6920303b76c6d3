"""Places365: folders of one or two levels below a letter, and lists with a number for each image.

As torchvision and http://places2.csail.mit.edu/download.html have it:
``categories_places365.txt`` names the classes, ``places365_val.txt`` labels ``val_256``.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from packer.errors import UnusableInput
from packer.layouts.interpretation import Place, Reading
from packer.layouts.listed import by_lists
from packer.layouts.lists import Lists, Row, records, table_of
from packer.samples.records import Skipped
from packer.trees.tree import Tree

_CLASSES = "categories_places365.txt"
_PARTS = {  # list -> split and folders in which its images may lie
    "places365_train_standard.txt": (
        "train",
        ("data_256_standard", "data_large_standard", "data_256"),
    ),
    "places365_val.txt": ("val", ("val_256", "val_large")),
}


def recognise(place: Place) -> Reading | None:
    """The list of categories, and a list whose folder is there."""
    tree = place.tree
    if not tree or not tree.has(_CLASSES) or not (folders := _folders(tree)):
        return None

    def lists() -> Lists:
        order = {}
        for name, number in table_of(tree, _CLASSES).items():
            if not number.isdecimal():
                raise UnusableInput(f"{tree.root / _CLASSES}: {name!r} has no number.")
            order[int(number)] = name.strip("/")
        classes = tuple(order[number] for number in sorted(order))
        return _Places(classes, (_CLASSES, *folders), folders=folders)

    return by_lists(tree, "Places365 with its official lists", lists)


def _folders(tree: Tree) -> dict[str, str]:
    """The folder of the images of each list that is there."""
    found = {}
    for path, (_, folders) in _PARTS.items():
        there = (name for name in folders if tree.level(name).folders or tree.level(name).images)
        if tree.has(path) and (folder := next(there, "")):
            found[path] = folder
    return found


@dataclass(frozen=True)
class _Places(Lists):
    folders: Mapping[str, str] = field(default_factory=dict)

    def rows(self, tree: Tree) -> Iterator[Row | Skipped]:
        """Train, then val; a line is a path and the number of the class."""
        for path, folder in self.folders.items():
            for record in records(tree, path, 2):
                if isinstance(record, Skipped):
                    yield record
                    continue
                name, number = record
                known = number.isdecimal() and int(number) < len(self.classes)
                label = self.classes[int(number)] if known else number
                yield Row(f"{folder}/{name.strip('/')}", label, _PARTS[path][0])
