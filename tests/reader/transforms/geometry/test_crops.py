"""Crops take the boxes that torchvision's take."""

import math

import numpy as np
import pytest
from geometries import Coordinates, applied, coordinates, shown
from hypothesis import given, settings
from hypothesis import strategies as st

from reader import (
    CenterCrop,
    RandomCrop,
    RandomResizedCrop,
    ReaderError,
)

SIDE = st.integers(1, 400)


def torchvision_resized_crop(
    height: int, width: int, scale: tuple[float, float], ratio: tuple[float, float], seed: int
) -> tuple[int, int, int, int]:
    """RandomResizedCrop.get_params of torchvision, with numpy's rng."""
    rng = np.random.default_rng(seed)
    area = height * width
    log_ratio = np.log(ratio)
    for _ in range(10):
        target_area = area * rng.uniform(*scale)
        aspect_ratio = math.exp(rng.uniform(*log_ratio))
        w = round(math.sqrt(target_area * aspect_ratio))
        h = round(math.sqrt(target_area / aspect_ratio))
        if 0 < w <= width and 0 < h <= height:
            return int(rng.integers(height - h + 1)), int(rng.integers(width - w + 1)), h, w
    return torchvision_fallback(height, width, ratio)


def torchvision_fallback(
    height: int, width: int, ratio: tuple[float, float]
) -> tuple[int, int, int, int]:
    in_ratio = width / height
    if in_ratio < min(ratio):
        w, h = width, round(width / min(ratio))
    elif in_ratio > max(ratio):
        w, h = round(height * max(ratio)), height
    else:
        w, h = width, height
    return (height - h) // 2, (width - w) // 2, h, w


def torchvision_center_crop(image: Coordinates, height: int, width: int) -> Coordinates:
    """torchvision.transforms.functional.center_crop, with -1 for its zeros."""
    down, across = image.shape[:2]
    if width > across or height > down:
        padding = (
            ((height - down) // 2, (height - down + 1) // 2) if height > down else (0, 0),
            ((width - across) // 2, (width - across + 1) // 2) if width > across else (0, 0),
            (0, 0),
        )
        image = np.pad(image, padding, constant_values=-1)
        down, across = image.shape[:2]
    top, left = round((down - height) / 2.0), round((across - width) / 2.0)
    return image[top : top + height, left : left + width]


@given(
    height=SIDE,
    width=SIDE,
    low=st.floats(0.01, 1),
    high=st.floats(0.01, 1),
    narrow=st.floats(0.3, 1),
    wide=st.floats(1, 3),
    position=st.integers(0, 2**40),
)
@settings(deadline=None)
def test_a_random_resized_crop_keeps_to_scale_and_ratio_or_falls_back_as_torchvision_does(
    height: int, width: int, low: float, high: float, narrow: float, wide: float, position: int
) -> None:
    scale, ratio = (min(low, high), max(low, high)), (narrow, wide)
    got = applied(RandomResizedCrop((17, 23), scale, ratio), height, width, position)
    box = (got.top, got.left, got.box_height, got.box_width)
    top, left, h, w = map(int, box)
    assert box == (top, left, h, w)
    assert (got.height, got.width, got.hflip, got.vflip) == (17, 23, False, False)
    assert min(top, left, h - 1, w - 1, height - top - h, width - left - w) >= 0
    # Both sides were rounded to whole pixels.
    area = height * width
    is_within = (
        (h - 0.5) * (w - 0.5) <= scale[1] * area * 1.0001
        and (h + 0.5) * (w + 0.5) >= scale[0] * area * 0.9999
        and (w - 0.5) / (h + 0.5) <= ratio[1] * 1.0001
        and (w + 0.5) / (h - 0.5) >= ratio[0] * 0.9999
    )
    assert is_within or (top, left, h, w) == torchvision_fallback(height, width, ratio)


@pytest.mark.parametrize(("height", "width"), [(300, 400), (400, 300), (200, 900)])
def test_the_boxes_of_a_random_resized_crop_are_spread_as_torchvisions_are(
    height: int, width: int
) -> None:
    count, scale, ratio = 3000, (0.08, 1.0), (3 / 4, 4 / 3)
    theirs = np.array(
        [torchvision_resized_crop(height, width, scale, ratio, seed) for seed in range(count)]
    )
    drawn = [applied(RandomResizedCrop(224), height, width, number) for number in range(count)]
    ours = np.array([(box.top, box.left, box.box_height, box.box_width) for box in drawn])
    for one, other in [
        *zip(ours.T, theirs.T, strict=True),
        (ours[:, 2] * ours[:, 3], theirs[:, 2] * theirs[:, 3]),
        (ours[:, 3] / ours[:, 2], theirs[:, 3] / theirs[:, 2]),
    ]:
        # Kolmogorov and Smirnov's distance; 0.05 is exceeded by chance once in 1000 draws.
        values = np.sort(np.concatenate([one, other]))
        below = [np.searchsorted(np.sort(each), values, "right") / count for each in (one, other)]
        assert np.abs(below[0] - below[1]).max() < 0.05


short_side = st.integers(1, 60)


@given(height=short_side, width=short_side, size=st.tuples(short_side, short_side))
@settings(deadline=None)
def test_a_center_crop_takes_and_pads_what_torchvisions_does(
    height: int, width: int, size: tuple[int, int]
) -> None:
    expected = torchvision_center_crop(coordinates(height, width), *size)
    assert np.array_equal(shown(applied(CenterCrop(size), height, width), height, width), expected)


@given(height=short_side, width=short_side, size=short_side, padding=st.integers(0, 8))
@settings(deadline=None)
def test_a_random_crop_lies_within_the_padded_image(
    height: int, width: int, size: int, padding: int
) -> None:
    crop = RandomCrop(size, padding=padding)
    if min(height, width) + 2 * padding < size:
        with pytest.raises(ReaderError, match="larger than an image side"):
            applied(crop, height, width)
        return
    boxes = [applied(crop, height, width, position) for position in range(20)]
    for box in boxes:
        assert (box.height, box.width, box.box_height, box.box_width) == (size,) * 4
        assert -padding <= box.top <= height + padding - size
        assert -padding <= box.left <= width + padding - size


def test_a_random_crop_is_everywhere_alike() -> None:
    places = [applied(RandomCrop(32, padding=4), 32, 32, number) for number in range(4000)]
    counts = np.bincount([int(place.top + 4) * 9 + int(place.left + 4) for place in places])
    assert len(counts) == 81
    assert counts.min() > 20


def test_a_random_crop_pads_a_smaller_image_if_allowed() -> None:
    crop = RandomCrop((40, 10), pad_if_needed=True, fill=7)
    for position in range(20):
        got = applied(crop, 30, 20, position)
        assert (got.height, got.width, got.fill) == (40, 10, 7)
        assert -10 <= got.top <= 0  # torchvision pads both sides by what is missing
