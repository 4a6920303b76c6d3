"""FGVC-Aircraft: ``images`` beside a list of variants for each split.

As ``data`` of https://www.robots.ox.ac.uk/~vgg/data/fgvc-aircraft/ has it. The variant is the
class; its family and manufacturer, and the box, become ``json``.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from packer.layouts.interpretation import Place, Reading
from packer.layouts.listed import by_lists
from packer.layouts.lists import ONE_BOX, Lists, Row, box_note, records, table_of
from packer.samples.records import Skipped
from packer.trees.tree import Tree

_SPLITS = ("train", "val", "test")
_BOXES = "images_box.txt"
_LEVELS = ("variant", "family", "manufacturer")
_SAME = {
    f"images_{level}_trainval.txt": "its lines are those of train and val" for level in _LEVELS
}


def recognise(place: Place) -> Reading | None:
    """``variants.txt`` and the lists of each split's variants."""
    tree = place.tree
    if not tree or not tree.level("images").images:
        return None
    if not all(map(tree.has, ("variants.txt", *_lists("variant")))):
        return None

    def lists() -> Lists:
        further = (*chain(*map(_lists, _LEVELS[1:])), _BOXES)
        sources = ("variants.txt", *_lists("variant"), *filter(tree.has, further))
        return _Aircraft(
            tuple(tree.lines("variants.txt")),
            sources,
            _SAME,
            boxes=ONE_BOX if _BOXES in sources else {},
        )

    return by_lists(tree, "FGVC-Aircraft with its official lists", lists)


def _lists(level: str) -> list[str]:
    return [f"images_{level}_{split}.txt" for split in _SPLITS]


@dataclass(frozen=True)
class _Aircraft(Lists):
    def rows(self, tree: Tree) -> Iterator[Row | Skipped]:
        """Train, val, test."""
        boxes = table_of(tree, _BOXES) if _BOXES in self.sources else {}
        for split, path in zip(_SPLITS, _lists("variant"), strict=True):
            more = {
                level: table_of(tree, f"images_{level}_{split}.txt")
                for level in _LEVELS[1:]
                if f"images_{level}_{split}.txt" in self.sources
            }
            for record in records(tree, path, 2):
                if isinstance(record, Skipped):
                    yield record
                    continue
                name, variant = record
                told = {level: of[name] for level, of in more.items() if name in of}
                note = json.dumps(told)
                if name in boxes:
                    note = box_note(boxes[name].split(), _BOXES, told)
                yield Row(f"images/{name}.jpg", variant, split, note=note)
