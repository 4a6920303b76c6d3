"""What moves pixels after they were changed moves the changed ones."""

from copy import copy
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from delivered import only
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from PIL import Image

from reader import (
    CenterCrop,
    ColorJitter,
    Geometry,
    RandomApply,
    RandomCrop,
    RandomEqualize,
    RandomHorizontalFlip,
    RandomInvert,
    RandomResizedCrop,
    RandomVerticalFlip,
    Resize,
    Transform,
)
from reader.rng import SampleRandom
from reader.transforms.pipeline import staged, transformed


def in_order(packed: Path, *transforms: Transform) -> NDArray[Any]:
    crop = CenterCrop((48, 64))
    return only(packed, batch_size=39, transforms=[crop, *transforms])[0].numpy()


MIRROR, TURN, SPREAD = RandomHorizontalFlip(1), RandomVerticalFlip(1), RandomEqualize(1)


def test_what_moves_changed_pixels_moves_them_as_they_are(packed: Path) -> None:
    plain, spread = in_order(packed), in_order(packed, SPREAD)
    assert (plain != spread).any()
    assert np.array_equal(in_order(packed, SPREAD, MIRROR), spread[..., ::-1])
    assert np.array_equal(in_order(packed, SPREAD, MIRROR, TURN), spread[..., ::-1, ::-1])
    small = in_order(packed, SPREAD, CenterCrop(20))
    assert np.array_equal(small, spread[:, :, 14:34, 22:42])
    assert (small != in_order(packed, CenterCrop(20), SPREAD)).any()
    both = in_order(packed, SPREAD, CenterCrop(20), RandomInvert(1), MIRROR, SPREAD)
    again = 255 - small[..., ::-1]
    assert both.shape == again.shape
    assert (both != again).any()
    with_border = in_order(packed, RandomInvert(1), CenterCrop(70))
    assert np.array_equal(with_border[:, :, 11:59, 3:67], 255 - plain)
    assert not with_border[:, :, :11].any()


def test_what_resizes_changed_pixels_does_it_as_opencv_and_pillow(packed: Path) -> None:
    spread = in_order(packed, SPREAD).transpose(0, 2, 3, 1)
    for resize, own in (
        (Resize((24, 32)), lambda one: cv2.resize(one, (32, 24), interpolation=cv2.INTER_AREA)),
        (Resize((24, 32), antialias=True), lambda one: pillow_resized(one, (32, 24))),
    ):
        found = in_order(packed, SPREAD, resize).transpose(0, 2, 3, 1).astype(int)
        expected = np.stack([own(np.ascontiguousarray(one)) for one in spread]).astype(int)
        assert np.abs(found - expected).max() <= 1


def pillow_resized(pixels: NDArray[Any], size: tuple[int, int]) -> NDArray[Any]:
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.BILINEAR))


@given(position=st.integers(0, 2**40))
@settings(deadline=None, max_examples=50)
def test_stages_draw_what_the_geometry_of_all_draws(position: int) -> None:
    steps: list[Transform] = [
        RandomResizedCrop(40),
        RandomApply([ColorJitter(0.4), MIRROR]),
        RandomCrop(20),
        RandomInvert(),
        RandomHorizontalFlip(),
    ]
    whole, stages = staged((90, 70), steps, SampleRandom(1, 2, position))
    assert whole == transformed((90, 70), steps, SampleRandom(1, 2, position))
    assert (len(stages) == 1) == (whole is stages[0].geometry)
    joined = Geometry.of(90, 70)
    for stage in stages:  # the later ones only crop and mirror
        top, left = (stage.geometry.top, stage.geometry.left) if joined.height != 90 else (0, 0)
        if joined.height == 90:
            joined = copy(stage.geometry)
            continue
        joined.crop(int(top), int(left), stage.geometry.height, stage.geometry.width)
        joined.hflip ^= stage.geometry.hflip
    assert (joined.hflip, joined.height) == (whole.hflip, whole.height)
    assert (joined.top, joined.left) == pytest.approx((whole.top, whole.left))
