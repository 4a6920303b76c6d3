"""Brightness, contrast and saturation are done in as few passes as clipping allows."""

from itertools import permutations
from typing import Any
from unittest.mock import Mock

import cv2
import numpy as np
import pytest
from made_images import make_image
from numpy.typing import NDArray

from reader.transforms.operations.linear import Brightness, Contrast, Grey, Linear, Saturation
from reader.transforms.operations.run import change


def image(low: int, high: int) -> NDArray[np.uint8]:
    pixels = np.asarray(make_image(3, 48, 64), np.float64)
    return (low + (high - low) * pixels / 255).astype(np.uint8)


def in_steps(operations: Any, pixels: NDArray[np.uint8]) -> NDArray[np.int64]:
    pixels = pixels.copy()
    for operation in operations:
        operation.change(pixels)
    return pixels.astype(np.int64)


DARKER = Brightness(0.7), Contrast(1.2), Saturation(0.6), Grey()
LIGHTER = Brightness(1.5), Contrast(0.6), Saturation(1.5)


@pytest.mark.parametrize(
    "operations", [*permutations(DARKER), *permutations(LIGHTER)], ids=lambda one: str(one[:1])
)
@pytest.mark.parametrize("bounds", [(0, 255), (80, 160)])
def test_what_follows_each_other_is_what_single_steps_make_but_for_their_rounding(
    operations: tuple[Linear, ...], bounds: tuple[int, int]
) -> None:
    pixels = image(*bounds)
    expected = in_steps(operations, pixels)
    change(operations, pixels)
    difference = np.abs(pixels - expected)
    assert difference.max() <= 2
    assert difference.mean() < 0.8


@pytest.mark.parametrize(
    ("bounds", "operations", "passes"),
    [
        ((80, 160), DARKER, 1),
        ((80, 160), [Contrast(1.2), Brightness(0.9), Saturation(1.2)], 1),
        ((0, 255), [Brightness(0.5), Contrast(0.7), Saturation(0.7)], 1),
        ((0, 255), [Brightness(1.5), Contrast(0.5), Saturation(0.5)], 2),
        ((0, 255), [Brightness(1.5)], 1),
        ((0, 255), [Brightness(1.5), Brightness(1.5), Saturation(1.5)], 3),
    ],
)
def test_a_pass_ends_where_values_would_be_clipped(
    bounds: tuple[int, int],
    operations: Any,
    passes: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    counted = Mock(side_effect=cv2.transform)
    monkeypatch.setattr(cv2, "transform", counted)
    change(operations, image(*bounds))
    assert counted.call_count == passes


def test_a_factor_of_one_changes_nothing() -> None:
    pixels = image(0, 255)
    change([Brightness(1), Contrast(1), Saturation(1)], pixels)
    assert np.array_equal(pixels, image(0, 255))
