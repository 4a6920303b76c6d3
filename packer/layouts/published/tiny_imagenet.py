"""Tiny-ImageNet: ``train`` by class folders with boxes, ``val`` and ``test`` with lists.

As http://cs231n.stanford.edu/tiny-imagenet-200.zip unpacks. The label of a validation image comes
from ``val/val_annotations.txt``; the box of an image becomes its ``json``. ``test`` has no labels.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from packer.layouts.interpretation import Place, Reading
from packer.layouts.listed import by_lists
from packer.layouts.lists import ONE_BOX, Lists, Row, box_note, records
from packer.samples.records import Skipped
from packer.trees.tree import Tree

_VAL = "val/val_annotations.txt"


def recognise(place: Place) -> Reading | None:
    """``wnids.txt``, the list of ``val``, and class folders with an ``images`` each."""
    tree = place.tree
    if not tree or not tree.has("wnids.txt") or not tree.has(_VAL):
        return None
    if not tree.level("train").folders or not tree.level("val/images").images:
        return None

    def lists() -> Lists:
        classes = tuple(sorted(tree.lines("wnids.txt")))
        boxes = (f"train/{name}/{name}_boxes.txt" for name in tree.level("train").folders)
        sources = ("wnids.txt", _VAL, *filter(tree.has, boxes))
        return _TinyImageNet(classes, sources, boxes=ONE_BOX)

    return by_lists(tree, "Tiny-ImageNet with its lists", lists)


@dataclass(frozen=True)
class _TinyImageNet(Lists):
    def rows(self, tree: Tree) -> Iterator[Row | Skipped]:
        """Train by class, val by its list, test."""
        for name in tree.level("train").folders:
            folder, path = f"train/{name}/images", f"train/{name}/{name}_boxes.txt"
            listed = list(records(tree, path, 5)) if path in self.sources else []
            notes = {}
            for record in listed:
                if isinstance(record, Skipped):
                    yield record
                else:
                    notes[record[0]] = box_note(record[1:], path)
            for image in tree.images(folder):
                yield Row(f"{folder}/{image}", name, "train", note=notes.get(image))
        for record in records(tree, _VAL, 6):
            if isinstance(record, Skipped):
                yield record
            else:
                note = box_note(record[2:], _VAL)
                yield Row(f"val/images/{record[0]}", record[1], "val", note=note)
        for image in tree.images("test/images"):
            yield Row(f"test/images/{image}", None, "test")
