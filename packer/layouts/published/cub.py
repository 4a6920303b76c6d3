"""CUB-200-2011 and NABirds: ``images.txt`` with an id for each image, and a list for each thing.

The lists are those of https://www.vision.caltech.edu/datasets/cub_200_2011/ and
https://dl.allaboutbirds.org/nabirds: class, split and box of each id. The box becomes ``json``, a
mask of ``segmentations`` the member ``mask.png``; parts and attributes are named and ignored.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from packer.layouts.interpretation import Place, Reading
from packer.layouts.listed import by_lists
from packer.layouts.lists import ONE_BOX, Lists, Row, box_note, records, table_of
from packer.samples.records import Skipped
from packer.trees.tree import Tree

_IMAGES, _CLASSES, _LABELS = "images.txt", "classes.txt", "image_class_labels.txt"
_SPLITS, _BOXES = "train_test_split.txt", "bounding_boxes.txt"
_IGNORED = {
    "parts/": "the places of an image's parts are not packed",
    "attributes/": "the attributes of an image are not packed",
}


def recognise(place: Place) -> Reading | None:
    """The lists of images, classes, labels and splits beside ``images``."""
    tree = place.tree
    if not tree or not all(map(tree.has, (_IMAGES, _CLASSES, _LABELS, _SPLITS))):
        return None
    if not tree.level("images").folders:
        return None

    def lists() -> Lists:
        sources = (_IMAGES, _CLASSES, _LABELS, _SPLITS, *filter(tree.has, [_BOXES]))
        class_of = _names(tree)
        boxes = ONE_BOX if _BOXES in sources else {}
        return _Birds(tuple(class_of.values()), sources, _IGNORED, class_of, boxes=boxes)

    return by_lists(tree, "CUB's lists of images, labels and splits", lists)


def _names(tree: Tree) -> dict[str, str]:
    """The names of the classes that occur, by their ids, in the order of the list."""
    used = set(table_of(tree, _LABELS).values())
    names = {number: name for number, name in table_of(tree, _CLASSES).items() if number in used}
    twice = len(set(names.values())) < len(names)  # of NABirds' some are called the same
    return {number: f"{number} {name}" if twice else name for number, name in names.items()}


@dataclass(frozen=True)
class _Birds(Lists):
    class_of: Mapping[str, str] = field(default_factory=dict)

    def rows(self, tree: Tree) -> Iterator[Row | Skipped]:
        """The images in the order of their list."""
        labels, is_train = table_of(tree, _LABELS), table_of(tree, _SPLITS)
        boxes = table_of(tree, _BOXES) if _BOXES in self.sources else {}
        masks = bool(tree.level("segmentations").folders)
        for record in records(tree, _IMAGES, 2):
            if isinstance(record, Skipped):
                yield record
                continue
            number, path = record
            if number not in labels or number not in is_train:
                yield Skipped(f"images/{path}", f"a list has no line for its id, {number}")
                continue
            note = None
            if number in boxes:
                note = box_note(boxes[number].split(), _BOXES, format="xywh")
            mask = f"segmentations/{path.rpartition('.')[0]}.png"
            yield Row(
                f"images/{path}",
                self.class_of.get(labels[number], labels[number]),
                "train" if is_train[number] == "1" else "test",
                {"mask.png": mask} if masks and tree.has(mask) else {},
                note,
            )
