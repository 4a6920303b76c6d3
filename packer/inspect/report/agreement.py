"""Whether samples that are alike have the same boxes (pure)."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from packer.inspect.report.annotations import Annotated, Points
from packer.inspect.report.likeness import Groups
from packer.inspect.report.look import Looked

_NEAR = 0.01  # of the image's side: boxes whose corners are no farther apart are the same
_CLASSES = 10.0  # so far apart are those of different classes


def differing(
    groups: Groups, told: Mapping[int, Annotated], looked: Looked
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Of each group whether boxes differ, and whether the classes of the same boxes do.

    Args:
        told: boxes in fractions of the upright image, by number; who is not among them has no
            say.
        looked: knows who is whose mirror image, and has mirrored boxes.
    """
    boxes, classes = np.zeros((2, len(groups)), np.bool_)
    for at, group in enumerate(groups):
        first, *others = [number for number in group.tolist() if number in told] or [-1]
        for other in others:
            own, theirs = _rows(told[first]), _rows(told[other])
            if looked.are_mirrored(first, other):
                theirs = (theirs * [-1, 1, -1, 1, 1] + [1, 0, 1, 0, 0])[:, [2, 1, 0, 3, 4]]
            boxes[at] |= not _same(own[:, :4], theirs[:, :4])
            classes[at] |= not _same(own, theirs)
    return boxes, classes & ~boxes


def _rows(told: Annotated) -> Points:
    """Each box with its class, (M, 5)."""
    return np.column_stack([told.boxes, told.labels * _CLASSES])


def _same(first: Points, second: Points) -> bool:
    """Whether there are as many rows, and each is near one of the others."""
    from scipy.spatial import KDTree

    if not len(first) or len(first) != len(second):
        return len(first) == len(second)
    both = ((first, second), (second, first))
    return all(KDTree(one).query(other, p=np.inf)[0].max() <= _NEAR for one, other in both)
