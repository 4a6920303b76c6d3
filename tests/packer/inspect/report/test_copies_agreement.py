"""Whether boxes of samples that are alike agree."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("scipy", reason="the extra `report` is not installed")

from packer.inspect.report.annotations import Annotated
from packer.inspect.report.copies import differing
from packer.inspect.report.table import Groups

ONE = [0.1, 0.2, 0.4, 0.6]
OTHER = [0.5, 0.5, 0.9, 0.9]
PAIR = Groups(np.array([3, 8]), np.array([0]))


def told(boxes: list[list[float]], *labels: int) -> Annotated:
    return Annotated(np.reshape(boxes, (-1, 4)), np.array(labels, np.int64))


def found(first: Annotated, second: Annotated, *, mirrored: bool = False) -> tuple[bool, bool]:
    """Whether boxes differ, and whether their classes alone do."""
    looked: Any = SimpleNamespace(are_mirrored=lambda one, other: mirrored)
    boxes, classes = differing(PAIR, {3: first, 8: second}, looked)
    return bool(boxes[0]), bool(classes[0])


def test_boxes_in_another_order_and_a_little_apart_agree() -> None:
    moved = [[value + 0.005 for value in box] for box in (OTHER, ONE)]
    assert found(told([ONE, OTHER], 1, 2), told(moved, 2, 1)) == (False, False)
    assert found(told([]), told([])) == (False, False)


def test_boxes_elsewhere_or_lacking_differ() -> None:
    assert found(told([ONE], 1), told([OTHER], 1)) == (True, False)
    assert found(told([ONE], 1), told([])) == (True, False)
    assert found(told([ONE, ONE], 1, 1), told([ONE, OTHER], 1, 1)) == (True, False)


def test_the_same_boxes_of_other_classes_are_told_apart() -> None:
    assert found(told([ONE, OTHER], 1, 2), told([ONE, OTHER], 2, 1)) == (False, True)


def test_the_boxes_of_a_mirror_image_are_to_be_mirrored() -> None:
    mirror = told([[0.6, 0.2, 0.9, 0.6]], 1)
    assert found(told([ONE], 1), mirror, mirrored=True) == (False, False)
    assert found(told([ONE], 1), told([ONE], 1), mirrored=True) == (True, False)


def test_who_could_not_be_read_has_no_say() -> None:
    looked: Any = SimpleNamespace(are_mirrored=lambda one, other: False)
    boxes, classes = differing(PAIR, {3: told([ONE], 1)}, looked)
    assert not boxes.any()
    assert not classes.any()
