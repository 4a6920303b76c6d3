"""MVTec AD: one object's ``train`` and ``test``, and the masks of its defects in ``ground_truth``.

As https://www.mvtec.com/company/research/datasets/mvtec-ad has it: the folders in ``train`` and
``test`` are classes, ``good`` and the kinds of defects; ``test/KIND/000.png`` has the mask
``ground_truth/KIND/000_mask.png``, the member ``mask.png``.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from packer.layouts.interpretation import Place, Reading
from packer.layouts.listed import by_lists
from packer.layouts.lists import Lists, Row
from packer.samples.records import Skipped
from packer.trees.shape import inside
from packer.trees.tree import Tree

_MASKS = "ground_truth"


def recognise(place: Place) -> Reading | None:
    """``train/good``, and ``ground_truth`` whose folders are some of those of ``test``."""
    tree = place.tree
    if not tree or tree.level("train").folders != ("good",):
        return None
    kinds = set(tree.level(_MASKS).folders)
    if not kinds or not kinds <= set(tree.level("test").folders):
        return None

    def lists() -> Lists:
        names = {"good", *tree.level("test").folders}
        return _MVTec(tuple(sorted(names)))

    return by_lists(tree, "an object of MVTec AD, with masks of defects", lists, "pairs")


@dataclass(frozen=True)
class _MVTec(Lists):
    def rows(self, tree: Tree) -> Iterator[Row | Skipped]:
        """The images of each class; one with a defect whose mask is missing is rejected."""
        for split in ("train", "test"):
            for kind in tree.level(split).folders:
                folder, masks = inside(split, kind), inside(_MASKS, kind)
                has_masks = split == "test" and bool(tree.level(masks).images)
                for name in tree.images(folder):
                    mask = f"{masks}/{name.rpartition('.')[0]}_mask.png"
                    files = {"mask.png": mask} if has_masks else {}
                    yield Row(inside(folder, name), kind, split, files)
