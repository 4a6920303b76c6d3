"""timm's operations draw timm's magnitudes; their pixels are compared in `peers`."""

import math
from typing import Any

import numpy as np
import pytest

from reader.rng import SampleRandom
from reader.transforms.foreign.timm import NAMES, AugmentOp, TimmAugMix, TimmRandAugment
from reader.transforms.operations.run import change

SIZE = (40, 60)
COUNT = 4000


def draws(transform: Any) -> list[Any]:
    return [transform.draw(SIZE, SampleRandom(1, 0, number)) for number in range(COUNT)]


def factors(**options: Any) -> Any:
    op = AugmentOp("Brightness", 1.0, **options)
    return np.array([one.factor for (one,) in draws(op)])


def test_a_magnitude_is_fixed_normal_or_uniform_and_limited() -> None:
    assert factors(magnitude=5.0) == pytest.approx(5 * 0.18 + 0.1)
    normal = (factors(magnitude=5.0, deviation=0.5) - 0.1) / 0.18
    assert abs(normal.mean() - 5) < 0.04
    assert abs(normal.std() - 0.5) < 0.03
    uniform = (factors(magnitude=8.0, deviation=math.inf) - 0.1) / 0.18
    assert abs(np.median(uniform) - 4) < 0.25
    assert (uniform.min() < 0.1, uniform.max() > 7.9) == (True, True)
    assert factors(magnitude=12.0).max() == pytest.approx(1.9)
    assert factors(magnitude=12.0, most=15.0).max() == pytest.approx(12 * 0.18 + 0.1)


def test_an_operation_is_done_by_its_probability_with_a_random_sign() -> None:
    found = draws(AugmentOp("ShearX", 0.3, 9.0))
    assert abs(sum(map(bool, found)) / COUNT - 0.3) < 0.04
    slopes = [one.matrix[1] for each in found for one in each]
    assert {round(slope, 4) for slope in slopes} == {-0.27, 0.27}
    assert abs(sum(slope > 0 for slope in slopes) / len(slopes) - 0.5) < 0.06
    kinds = [one.interpolation for each in found for one in each]
    assert abs(kinds.count("bicubic") / len(kinds) - 0.5) < 0.06


def test_weighted_operations_are_different_ones_and_others_may_repeat() -> None:
    ops = tuple(AugmentOp(name, 1.0, 9.0) for name in ("Invert", "Equalize", "AutoContrast"))
    weighted = [
        tuple(type(one).__name__ for one in each)
        for each in draws(TimmRandAugment(ops, 2, (0.7, 0.2, 0.1)))
    ]
    assert all(len(set(pair)) == 2 for pair in weighted)
    share = weighted.count(("Invert", "Equalize")) / COUNT
    assert abs(share - 0.7 * 0.2 / 0.3) < 0.04
    plain = [[type(one) for one in each] for each in draws(TimmRandAugment(ops, 2))]
    assert abs(sum(one is other for one, other in plain) / COUNT - 1 / 3) < 0.04


@pytest.mark.parametrize("channels", [1, 3])
def test_every_operation_changes_images_in_place_in_their_shape(channels: int) -> None:
    start = np.random.default_rng(0).integers(5, 240, (*SIZE, channels), np.uint8)
    for name in sorted(NAMES):
        for filters in (("bilinear",), ("bicubic",)):
            op = AugmentOp(name, 1.0, 9.0, fill=(128,), filters=filters)
            pixels = start.copy()
            change(op.draw(SIZE, SampleRandom(1, 0, 0)), pixels)
            is_grey = channels == 1 and name in ("Color", "ColorIncreasing", "Desaturate")
            assert is_grey or not np.array_equal(pixels, start), name
    mixture = TimmAugMix(tuple(AugmentOp(name, 1.0, 3.0, fill=(0,)) for name in NAMES))
    change(mixture.draw(SIZE, SampleRandom(1, 0, 0)), pixels)
