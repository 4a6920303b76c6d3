"""Cityscapes: ``leftImg8bit/SPLIT/CITY`` with the masks of ``gtFine``.

As https://www.cityscapes-dataset.com/dataset-overview/ has it. The member ``mask.png`` has the
label ids, ``instances.png`` the instance ids, and ``train_ids.png`` what cityscapesScripts make of
them; without ``gtFine`` those of ``gtCoarse`` are taken. Coloured masks and polygons are ignored.
"""

import os
from collections.abc import Iterator
from dataclasses import dataclass

from packer.layouts.interpretation import Place, Reading
from packer.layouts.listed import by_lists
from packer.layouts.lists import Lists, Row
from packer.samples.records import Skipped
from packer.trees.meaning import splits_of
from packer.trees.tree import Tree

_IMAGES = "leftImg8bit"
_MASKS = ("gtFine", "gtCoarse")
_MEMBERS = {
    "labelIds": "mask.png",
    "instanceIds": "instances.png",
    "labelTrainIds": "train_ids.png",
}


def recognise(place: Place) -> Reading | None:
    """``leftImg8bit`` with splits, beside masks."""
    tree = place.tree
    if not tree or not splits_of(tree.level(_IMAGES).folders):
        return None
    masks = tuple(name for name in _MASKS if tree.level(name).folders)
    if not masks:
        return None
    lists = _Cityscapes(ignored={"license.txt": "it is the licence"}, masks=masks)
    return by_lists(tree, "Cityscapes", lambda: lists, "pairs")


@dataclass(frozen=True)
class _Cityscapes(Lists):
    masks: tuple[str, ...] = ()

    def rows(self, tree: Tree) -> Iterator[Row | Skipped]:
        """The images of each split and city, then the pictures that are no members."""
        splits = splits_of(tree.level(_IMAGES).folders)
        for folder, _ in tree.walk(_IMAGES):
            name = f"{folder}/".split("/")[1]
            split = name if name == "train_extra" else splits.get(name)
            if split is None:
                continue  # images there may be anything
            for image in tree.images(folder):
                stem = image.partition(f"_{_IMAGES}")[0]
                files: dict[str, str] = {}
                for kind in reversed(self.masks):  # the finer ones come last
                    place = f"{kind}{folder[len(_IMAGES) :]}/{stem}_{kind}_"
                    found = {ext: f"{place}{ids}.png" for ids, ext in _MEMBERS.items()}
                    found = {ext: path for ext, path in found.items() if tree.has(path)}
                    files = found or files
                yield Row(f"{folder}/{image}", None, split, files)
        for kind in self.masks:
            for folder, _ in tree.walk(kind):
                for image in tree.images(folder):
                    if image.endswith("_color.png"):
                        reason = "it is a mask in colours, for people"
                        yield Skipped(os.path.join(folder, image), reason, ignored=True)
