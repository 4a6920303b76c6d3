"""GTSRB, the German traffic signs: ``Final_Training`` and ``Final_Test`` with semicolon lists.

As https://benchmark.ini.rub.de/gtsrb_dataset.html has it. The box of a sign becomes ``json``; the
labels of the test images lie in ``GT-final_test.csv``, an archive of its own.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from packer.layouts.interpretation import Place, Reading
from packer.layouts.listed import by_lists
from packer.layouts.lists import ONE_BOX, Lists, Row, box_note, records
from packer.samples.records import Skipped
from packer.trees.tree import Tree

_TRAIN, _TEST = "Final_Training/Images", "Final_Test/Images"
_TRUTH = ("GT-final_test.csv", "Final_Test/GT-final_test.csv", f"{_TEST}/GT-final_test.csv")
_ROI = f"{_TEST}/GT-final_test.test.csv"
_IGNORED = {_ROI: "its boxes are those of GT-final_test.csv, where that is there"}


def recognise(place: Place) -> Reading | None:
    """Numbered folders with a ``GT-00000.csv`` each."""
    tree = place.tree
    folders = tree.level(_TRAIN).folders if tree else ()
    if not tree or not folders or not tree.has(f"{_TRAIN}/{folders[0]}/GT-{folders[0]}.csv"):
        return None

    def lists() -> Lists:
        of_train = [f"{_TRAIN}/{name}/GT-{name}.csv" for name in folders]
        truth = next(filter(tree.has, _TRUTH), None)
        if truth is None and tree.has(_ROI):
            truth = _ROI
        sources = (*filter(tree.has, of_train), *([truth] if truth else []))
        ignored = {} if truth == _ROI else _IGNORED
        return _Signs(folders, sources, ignored, boxes=ONE_BOX)

    return by_lists(tree, "GTSRB with its official lists", lists)


@dataclass(frozen=True)
class _Signs(Lists):
    def rows(self, tree: Tree) -> Iterator[Row | Skipped]:
        """Train by class, then test."""
        for path in self.sources:
            folder = path.rpartition("/")[0]
            is_train = folder.startswith(_TRAIN)
            for record in records(tree, path, 7, ";"):
                if isinstance(record, Skipped):
                    yield record
                    continue
                name, *numbers = record
                box, _, number = numbers[-1].partition(";")
                if name == "Filename":
                    continue
                label = (
                    folder.rpartition("/")[2] if is_train else number.zfill(5) if number else None
                )
                note = box_note((*numbers[2:5], box), path)
                where = folder if is_train else _TEST
                yield Row(f"{where}/{name}", label, "train" if is_train else "test", note=note)
