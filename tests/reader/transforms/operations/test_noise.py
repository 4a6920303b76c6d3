"""Noise is normal and the same for the same key; erased boxes have their colour."""

import math
from pathlib import Path

import numpy as np
import pytest
from delivered import CROP, only

from reader import GaussianNoise, RandomErasing
from reader.transforms.operations.noise import Erase, normals


def test_numbers_of_a_key_are_standard_normal_and_others_than_those_of_another_key() -> None:
    found = np.sort(normals(7, 100_001).astype(np.float64))
    expected = np.array([math.erf(one / math.sqrt(2)) / 2 + 0.5 for one in found])
    assert np.abs(expected - np.linspace(0, 1, len(found))).max() < 0.006
    assert np.array_equal(normals(7, 9), normals(7, 9))
    assert not np.isin(normals(2**64 - 1, 1000), normals(8, 1000)).any()
    first, second = normals(7, 2000).reshape(2, -1)
    assert abs(float((first * second).mean())) < 0.1


@pytest.mark.parametrize(("mean", "sigma"), [(0.0, 0.1), (0.1, 0.02), (0, 0)])
def test_noise_has_its_mean_and_deviation(packed: Path, mean: float, sigma: float) -> None:
    found = [
        only(packed, batch_size=39, transforms=[CROP, *noise])[0].numpy().astype(np.int64)
        for noise in ([], [GaussianNoise(mean, sigma)])
    ]
    inside = (found[0] > 80) & (found[0] < 170)  # far from clipping
    difference = (found[1] - found[0])[inside]
    assert difference.mean() == pytest.approx(255 * mean, abs=1)  # truncated
    assert difference.std() == pytest.approx(255 * sigma, abs=0.5)


def test_noise_without_clip_wraps_as_torchvisions_does(packed: Path) -> None:
    plain, wrapped = (
        only(packed, batch_size=39, transforms=[CROP, *noise])[0].numpy()
        for noise in ([], [GaussianNoise(0.5, 0.0, clip=False)])
    )
    assert np.array_equal(wrapped, plain + np.uint8(127))


@pytest.mark.parametrize("value", [0, 77.9, (1, 2, 3), "random"])
def test_a_box_is_erased_and_nothing_else_changes(packed: Path, value: object) -> None:
    crop, erasing = [CROP], RandomErasing(1, value=value)  # type: ignore[arg-type]
    plain = only(packed, batch_size=39, transforms=crop)[0].permute(0, 2, 3, 1).numpy()
    erased = only(packed, batch_size=39, transforms=[*crop, erasing])[0]
    places = set()
    for before, after in zip(plain, erased.permute(0, 2, 3, 1).numpy(), strict=True):
        rows, columns = np.nonzero((before != after).any(-1))
        box = np.s_[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
        places.add(str(box))
        inside = after[box].reshape(-1, 3)
        if value == "random":
            assert np.abs(inside.mean(0) - (124, 116, 104)).max() < 25
        else:
            assert (inside == np.array(value).astype(np.uint8)).all()
        assert 0.01 < inside.size / after.size < 0.4
    assert len(places) > 30


def test_a_grey_image_gets_the_mean_of_the_colours() -> None:
    pixels = np.zeros((6, 6), np.uint8)
    Erase(1, 2, 3, 4, (10, 20, 30)).change(pixels)
    assert (pixels[1:4, 2:6] == 20).all()
    assert pixels.sum() == 12 * 20
