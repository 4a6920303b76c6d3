"""Oxford 102 Flowers: ``jpg`` beside ``imagelabels.mat`` and ``setid.mat``.

As https://www.robots.ox.ac.uk/~vgg/data/flowers/102/ has it. The classes are the numbers of the
lists, 1 to 102, of which no names are published.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from packer.errors import UnusableInput
from packer.layouts.arrays.matlab import read_matlab
from packer.layouts.interpretation import Place, Reading
from packer.layouts.listed import by_lists
from packer.layouts.lists import Lists, Row
from packer.trees.tree import Tree

_LABELS, _SPLITS = "imagelabels.mat", "setid.mat"
_IDS = {"train": "trnid", "val": "valid", "test": "tstid"}


def recognise(place: Place) -> Reading | None:
    """Both lists beside ``jpg``."""
    tree = place.tree
    if not tree or not tree.has(_LABELS) or not tree.has(_SPLITS) or not tree.level("jpg").images:
        return None

    def lists() -> Lists:
        labels = _numbers(tree, _LABELS, "labels")
        classes = tuple(map(str, np.unique(labels).tolist()))
        return _Flowers(classes, (_LABELS, _SPLITS))

    return by_lists(tree, "Oxford 102 Flowers with its lists", lists)


def _numbers(tree: Tree, path: str, name: str) -> Any:
    found = read_matlab(tree, path).get(name)
    if not isinstance(found, np.ndarray) or found.dtype.kind not in "iuf":
        raise UnusableInput(f"{tree.root / path} has no numbers {name!r}.")
    return found.ravel().astype(np.int64)


@dataclass(frozen=True)
class _Flowers(Lists):
    def rows(self, tree: Tree) -> Iterator[Row]:
        """Train, val, test."""
        labels = _numbers(tree, _LABELS, "labels")
        for split, name in _IDS.items():
            for number in _numbers(tree, _SPLITS, name).tolist():
                if not 0 < number <= len(labels):
                    raise UnusableInput(f"{tree.root / _SPLITS}: there is no label for {number}.")
                yield Row(f"jpg/image_{number:05d}.jpg", str(labels[number - 1]), split)
