"""Resizing follows torchvision's sizes and filters."""

import pickle
from enum import Enum
from typing import Any

import pytest
from geometries import applied, rng
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from reader import (
    Letterbox,
    RandomResizedCrop,
    Resize,
)

SIDE = st.integers(1, 400)


@given(height=SIDE, width=SIDE, size=SIDE)
@settings(deadline=None)
def test_resize_with_one_number_gives_the_shorter_side_that_length(
    height: int, width: int, size: int
) -> None:
    short, long = sorted((height, width))
    longer = int(size * long / short)  # torchvision's rule
    expected = (size, longer) if height <= width else (longer, size)
    for argument in (size, [size]):
        got = applied(Resize(argument), height, width)
        assert (got.height, got.width) == expected
        assert (got.top, got.left, got.box_height, got.box_width) == (0, 0, height, width)


class InterpolationMode(Enum):
    """torchvision's, as far as it is known here."""

    NEAREST = "nearest"
    BILINEAR = "bilinear"
    BICUBIC = "bicubic"


@pytest.mark.parametrize(
    "given", ["bicubic", InterpolationMode.BICUBIC, Image.Resampling.BICUBIC, 3]
)
def test_an_interpolation_is_what_torchvision_takes_and_is_kept_as_a_name(given: Any) -> None:
    crop = RandomResizedCrop(8, (0.2, 1.0), (3 / 4, 4 / 3), given)
    assert crop == RandomResizedCrop(8, scale=(0.2, 1.0), interpolation="bicubic")
    assert pickle.loads(pickle.dumps(crop)).interpolation == "bicubic"
    assert Resize((8, 9), given).interpolation == "bicubic"


@pytest.mark.parametrize(
    ("interpolation", "antialias", "expected"),
    [
        ("bilinear", False, None),
        ("bilinear", True, "bilinear"),
        ("bicubic", False, "bicubic"),
        ("bicubic", True, "bicubic"),
        ("nearest", True, "nearest"),
    ],
)
@pytest.mark.parametrize("transform", [Resize, RandomResizedCrop, Letterbox])
def test_all_but_bilinear_without_antialiasing_is_as_pillow_does_it(
    transform: Any, interpolation: str, antialias: bool, expected: str | None
) -> None:
    step = transform(8, interpolation=interpolation, antialias=antialias)
    assert applied(step, 30, 40).filter == expected


def test_an_image_that_is_resized_twice_is_scaled_as_the_last_time() -> None:
    geometry = applied(Resize(20, interpolation="bicubic"), 30, 40)
    Resize(10).apply(geometry, rng())
    assert (geometry.height, geometry.width, geometry.filter) == (10, 13, None)


@given(height=SIDE, width=SIDE, longest=SIDE)
@settings(deadline=None)
def test_resize_to_the_longest_side_keeps_the_aspect_ratio(
    height: int, width: int, longest: int
) -> None:
    got = applied(Resize(longest=longest), height, width)
    assert max(got.height, got.width) == longest
    assert abs(got.height * width - got.width * height) <= max(height, width)


@given(height=SIDE, width=SIDE, size=st.tuples(SIDE, SIDE))
@settings(deadline=None)
def test_a_letterbox_shows_the_whole_image_in_the_middle(
    height: int, width: int, size: tuple[int, int]
) -> None:
    got = applied(Letterbox(size), height, width)
    assert (got.height, got.width) == size
    is_padded = got.box_height > height + 1e-6 or got.box_width > width + 1e-6
    assert got.fill == 114 or not is_padded
    assert got.top <= 1e-9
    assert got.left <= 1e-9
    assert got.top + got.box_height >= height - 1e-6
    assert got.left + got.box_width >= width - 1e-6
    # One side is filled, and what is left over is shared.
    assert min(abs(got.box_height - height), abs(got.box_width - width)) < 1e-6
    down, across = got.height / got.box_height, got.width / got.box_width
    assert abs(2 * -got.top * down - (got.height - height * down)) <= 1 + 1e-6
    assert abs(2 * -got.left * across - (got.width - width * across)) <= 1 + 1e-6
