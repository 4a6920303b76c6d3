"""The numbers that transforms of pixels draw have torchvision's distributions."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from reader import (
    ArgumentError,
    AugMix,
    AutoAugment,
    ColorJitter,
    GaussianBlur,
    RandAugment,
    RandomErasing,
    RandomPhotometricDistort,
    TrivialAugmentWide,
)
from reader.rng import SampleRandom
from reader.transforms.operations.linear import Brightness, Contrast, Saturation
from reader.transforms.operations.warps import Warp

SIZE = (224, 200)
SOME = 4000
MANY = 100_000

many = pytest.mark.parametrize("count", [SOME, pytest.param(MANY, marks=pytest.mark.slow)])


def draws(transform: Any, count: int) -> list[Sequence[Any]]:
    return [transform.draw(SIZE, SampleRandom(5, 1, position)) for position in range(count)]


def named(operations: Sequence[Any]) -> dict[str, Any]:
    return {type(one).__name__: one for one in operations}


def check_spread(values: Sequence[float], below: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
    """Assert that values have a distribution, by Kolmogorov and Smirnov's distance."""
    found = np.sort(np.array(values, np.float64))
    ranks = np.linspace(0, 1, len(found))
    # 1.95 is exceeded by chance once in 1000 times.
    assert np.abs(below(found) - ranks).max() < 1.95 / math.sqrt(len(found)) + 1 / len(found)


def check_uniform(values: Sequence[float], low: float, high: float) -> None:
    check_spread(values, lambda found: (found - low) / (high - low))


def check_shares(found: Sequence[Any], shares: dict[Any, float]) -> None:
    """Assert that outcomes come with their shares, each within 4.5 deviations."""
    counts = Counter(found)
    assert counts.keys() <= shares.keys()
    for outcome, share in shares.items():
        deviation = math.sqrt(share * (1 - share) * len(found))
        assert abs(counts[outcome] - share * len(found)) < 4.5 * deviation + 1, outcome


@many
def test_a_jitter_draws_each_factor_alike_and_every_order(count: int) -> None:
    drawn = draws(ColorJitter(0.4, (0.5, 2), 1.5, 0.2), count)
    orders = [tuple(named(one)) for one in drawn]
    check_shares(orders, dict.fromkeys(set(orders), 1 / 24))
    assert len(set(orders)) == 24
    ends = {"Brightness": (0.6, 1.4), "Contrast": (0.5, 2), "Saturation": (0, 2.5)}
    for name, (low, high) in {**ends, "Hue": (-0.2, 0.2)}.items():
        check_uniform([named(one)[name].factor for one in drawn], low, high)


@many
def test_a_distortion_draws_each_change_by_itself(count: int) -> None:
    drawn = draws(RandomPhotometricDistort(p=0.3), count)
    ends = {"Brightness": (0.875, 1.125), "Contrast": (0.5, 1.5), "Saturation": (0.5, 1.5)}
    for name, (low, high) in {**ends, "Hue": (-0.05, 0.05)}.items():
        check_shares([name in named(one) for one in drawn], {True: 0.3, False: 0.7})
        check_uniform([named(one)[name].factor for one in drawn if name in named(one)], low, high)
    pairs = [[*named(one)] for one in drawn if {"Contrast", "Saturation"} <= named(one).keys()]
    first = [one.index("Contrast") < one.index("Saturation") for one in pairs]
    check_shares(first, {True: 0.5, False: 0.5})
    orders = [one[-1].order for one in drawn if "Permutation" in named(one)]
    check_shares([len(orders) > 0], {True: 1})
    check_shares(orders, dict.fromkeys(set(orders), 1 / 6))


@many
def test_a_blur_draws_its_deviation_and_keeps_its_kernel(count: int) -> None:
    drawn = [one for (one,) in draws(GaussianBlur((5, 9), (0.5, 3)), count)]
    check_uniform([one.sigma for one in drawn], 0.5, 3)
    assert {(one.columns, one.rows) for one in drawn} == {(5, 9)}


def torchvisions_box(rng: Any, p: float, scale: Any, ratio: Any) -> Any:
    """The box of torchvision's RandomErasing, with numpy's rng."""
    if rng.uniform() >= p:
        return None
    for _ in range(10):
        area = SIZE[0] * SIZE[1] * rng.uniform(*scale)
        aspect = math.exp(rng.uniform(*np.log(ratio)))
        h, w = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
        if h < SIZE[0] and w < SIZE[1]:
            return rng.integers(0, SIZE[0] - h + 1), rng.integers(0, SIZE[1] - w + 1), h, w
    return None


@many
@pytest.mark.parametrize(("scale", "ratio"), [((0.02, 0.33), (0.3, 3.3)), ((0.4, 1), (0.1, 2))])
def test_an_erased_box_lies_and_measures_as_torchvisions(
    count: int, scale: Any, ratio: Any
) -> None:
    rng = np.random.default_rng(1)
    drawn = [one for (one,) in filter(None, draws(RandomErasing(0.7, scale, ratio), count))]
    found = [torchvisions_box(rng, 0.7, scale, ratio) for _ in range(count)]
    theirs = np.array([box for box in found if box])
    ours = np.array([(one.top, one.left, one.height, one.width) for one in drawn])
    assert abs(len(ours) - len(theirs)) < 5 * math.sqrt(count)
    for one, other in zip(ours.T, theirs.T, strict=True):
        values = np.arange(SIZE[0])
        below = [
            np.searchsorted(np.sort(each), values, "right") / len(each) for each in (one, other)
        ]
        assert np.abs(below[0] - below[1]).max() < 1.95 * math.sqrt(2 / len(ours))


NAMES = 14  # of operations, one of which does nothing


def kind(one: Any) -> str:
    """The name of an operation, of a warp also its direction."""
    if not isinstance(one, Warp):
        return type(one).__name__
    _, b, c, d, _, f = one.matrix
    if (b, d) == (0, 0):
        return "TranslateX" if c else "TranslateY" if f else "Still"
    return "ShearX" if not d else "ShearY" if not b else "Rotate"


@many
def test_rand_augment_draws_from_all_operations_and_both_signs(count: int) -> None:
    drawn = draws(RandAugment(1), count)
    found = [kind(one[0]) if one else "" for one in drawn]
    check_shares(found, dict.fromkeys(set(found), 1 / NAMES))
    assert len(set(found)) == NAMES
    for factor in (Brightness, Contrast, Saturation):
        factors = [one[0].factor for one in drawn if one and isinstance(one[0], factor)]
        check_shares([round(one, 3) for one in factors], {0.73: 0.5, 1.27: 0.5})
    across = [one[0].matrix[2] for one in drawn if one and kind(one[0]) == "TranslateX"]
    check_shares(across, {27: 0.5, -27: 0.5})  # int(9 / 30 * 150 / 331 * 200)
    bits = {one[0].bits for one in drawn if one and kind(one[0]) == "Posterize"}
    thresholds = {round(one[0].threshold) for one in drawn if one and kind(one[0]) == "Solarize"}
    assert (bits, thresholds) == ({7}, {178})
    assert all(len(one) <= 3 for one in draws(RandAugment(3), 50))


@many
def test_trivial_augment_draws_all_magnitudes(count: int) -> None:
    drawn = draws(TrivialAugmentWide(), count)
    found = [kind(one[0]) if one else "" for one in drawn]
    plain = {"", "Brightness", "Contrast", "Saturation", "Sharpness", "AutoContrast", "Equalize"}
    shares = dict.fromkeys(plain | {"Posterize", "Solarize"}, 1 / NAMES)
    # A warp with the first of 31 magnitudes does not move.
    moving = dict.fromkeys(("ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate"), 30 / 31)
    shares |= {name: share / NAMES for name, share in moving.items()}
    check_shares(found, shares | {"Still": 5 / 31 / NAMES})
    factors = [round(one[0].factor, 3) for one in drawn if one and isinstance(one[0], Contrast)]
    steps = [round(1 + 0.99 * number / 30, 3) for number in range(-30, 31)]
    check_shares(factors, {step: (2 if step == 1 else 1) / 62 for step in steps})
    bits = {one[0].bits for one in drawn if one and kind(one[0]) == "Posterize"}
    assert bits == {2, 3, 4, 5, 6, 7, 8}


@many
@pytest.mark.parametrize("policy", ["imagenet", "cifar10", "svhn"])
def test_auto_augment_draws_from_its_policy(count: int, policy: str) -> None:
    drawn = [[kind(one) for one in operations] for operations in draws(AutoAugment(policy), count)]
    # Invert is only in the policies, in that share of the pairs, each with its probability.
    inverted = {"imagenet": 1.8 / 25, "cifar10": 0.2 / 25, "svhn": 7.6 / 25}[policy]
    check_shares(["Invert" in one for one in drawn], {True: inverted, False: 1 - inverted})
    assert max(map(len, drawn)) == 2


@many
def test_aug_mix_draws_its_weights_and_depths(count: int) -> None:
    drawn = [one for (one,) in draws(AugMix(mixture_width=2), count // 4)]
    check_uniform([one.own for one in drawn], 0, 1)  # Beta(1, 1)
    check_uniform([one.chains[0][0] / (1 - one.own) for one in drawn], 0, 1)
    assert all(sum(w for w, _ in one.chains) == pytest.approx(1 - one.own) for one in drawn)
    check_shares([len(one.chains[0][1]) for one in drawn], dict.fromkeys((1, 2, 3), 1 / 3))
    sparse = [one.own for (one,) in draws(AugMix(alpha=0.5, chain_depth=1), count // 4)]
    check_spread(sparse, lambda found: 2 / math.pi * np.arcsin(np.sqrt(found)))  # Beta(1/2, 1/2)
    dense = [one.own for (one,) in draws(AugMix(alpha=2, chain_depth=1), count // 4)]
    check_spread(dense, lambda found: found**2 * (3 - 2 * found))  # Beta(2, 2)


WRONG: list[tuple[Any, dict[str, Any]]] = [
    *((ColorJitter, {"brightness": one}) for one in (-1, "1", (2, 1), (0, math.inf, 1), True)),
    *((ColorJitter, {"hue": one}) for one in (0.6, (-0.6, 0), (0.1, -0.1))),
    (RandomPhotometricDistort, {"contrast": -1}),
    (RandomPhotometricDistort, {"p": 2}),
    *((GaussianBlur, {"kernel_size": one}) for one in (4, 0, (3, 4), (3, 3, 3), "3")),
    *((GaussianBlur, {"kernel_size": 3, "sigma": one}) for one in (0, (2, 1), "a", (1, 2, 3))),
    *((RandomErasing, {"scale": one}) for one in (0.3, (0.5, 0.1), (0, 2))),
    *((RandomErasing, {"ratio": one}) for one in ((0, 1), (2, 1))),
    *((RandomErasing, {"value": one}) for one in (-1, 256, "randm", None, (1, 2, "a"))),
    (RandAugment, {"magnitude": 31}),
    (RandAugment, {"num_ops": -1}),
    (RandAugment, {"interpolation": "bicubic"}),
    *((TrivialAugmentWide, {"fill": one}) for one in (256, "a", {"mask": 1})),
    (TrivialAugmentWide, {"num_magnitude_bins": 1}),
    (AutoAugment, {"policy": "coco"}),
    *((AugMix, {"severity": one}) for one in (0, 11)),
    (AugMix, {"alpha": 0}),
    (AugMix, {"mixture_width": 0}),
    (AugMix, {"all_ops": 1}),
]


@pytest.mark.parametrize(("kind", "given"), WRONG, ids=str)
def test_an_argument_that_makes_no_sense_is_refused_when_a_transform_is_made(
    kind: Any, given: dict[str, Any]
) -> None:
    reason = r"number|integer|least, most|one of|from 0|nearest|True"
    with pytest.raises(ArgumentError, match=reason):
        kind(**given)
