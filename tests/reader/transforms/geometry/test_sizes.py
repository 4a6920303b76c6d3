"""Sizes and fills are what torchvision takes; others are refused when a transform is made."""

import math
from typing import Any

import numpy as np
import pytest
from geometries import applied

from reader import (
    ArgumentError,
    CenterCrop,
    Letterbox,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    Resize,
    Transform,
)


@pytest.mark.parametrize(
    ("transform", "expected"),
    [
        (CenterCrop(20), (20, 20)),
        (CenterCrop([20]), (20, 20)),
        (CenterCrop(np.int64(20)), (20, 20)),
        (Resize(np.int64(20)), (22, 20)),
        (CenterCrop((20, 30)), (20, 30)),
        (RandomResizedCrop(20), (20, 20)),
        (RandomResizedCrop([20, 30]), (20, 30)),
    ],
)
def test_a_size_is_one_number_or_height_and_width(
    transform: Transform, expected: tuple[int, int]
) -> None:
    got = applied(transform, 100, 90)
    assert (got.height, got.width) == expected


WRONG: list[tuple[Any, dict[str, Any]]] = [
    *((CenterCrop, {"size": size}) for size in (0, (), "224", 22.5, None, 8.0)),
    *((RandomResizedCrop, {"size": size}) for size in ((3, 4, 5), "8")),
    *((RandomResizedCrop, {"size": 8, "scale": scale}) for scale in ((1.0, 0.1), 1.0, ("a", "b"))),
    *((RandomResizedCrop, {"size": 8, "ratio": r}) for r in ((0, 1), (1, math.inf), (1, 2, 3))),
    (RandomResizedCrop, {"size": 8, "interpolation": [2]}),
    *((Resize, given) for given in ({}, {"size": 3, "longest": 4}, {"longest": 0})),
    *((Resize, {"size": 8, "interpolation": name}) for name in ("lanczos", "nearest-exact", 16)),
    *((Resize, {"size": 8, "interpolation": name}) for name in (None, True)),
    (Resize, {"size": 8, "antialias": 1}),
    *((RandomCrop, {"size": 8, "padding": padding}) for padding in (-1, "1")),
    *((RandomCrop, {"size": 8, **more}) for more in ({"fill": 256}, {"pad_if_needed": "no"})),
    *((Letterbox, given) for given in ({"size": (8, True)}, {"size": 8, "fill": None})),
    (Letterbox, {"size": 8, "antialias": None}),
    *((RandomHorizontalFlip, {"p": p}) for p in (1.5, "a", True, math.nan)),
    (RandomVerticalFlip, {"p": -0.1}),
]


@pytest.mark.parametrize(("kind", "given"), WRONG, ids=str)
def test_a_transform_that_makes_no_sense_says_so_when_it_is_made(
    kind: Any, given: dict[str, Any]
) -> None:
    reason = r"at least|takes either|above 0|from 0 to|True or|one of"
    with pytest.raises(ArgumentError, match=reason):
        kind(**given)
