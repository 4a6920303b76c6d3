"""MixUp and CutMix draw as torchvision and timm do, and refuse what cannot be."""

import math
from typing import Any

import numpy as np
import pytest

from reader import (
    ArgumentError,
    CutMix,
    MixUp,
    RandomApply,
    RandomChoice,
    RandomHorizontalFlip,
    RandomOrder,
)
from reader.rng import BatchRandom, SampleRandom
from reader.transforms.batches.mixing import drawn, mixings

COUNT, SIZE = 20_000, (45, 80)


def draws(step: Any, size: tuple[int, int] = SIZE) -> Any:
    return drawn(step, "elem", COUNT, size, SampleRandom(1, 2, 3))


def of_torchvision(lam: Any, rng: Any) -> Any:
    """The boxes of torchvision's CutMix, with numpy's rng."""
    (height, width), sides = SIZE, []
    for length in (height, width):
        middle, reach = (
            rng.integers(length, size=COUNT),
            (0.5 * np.sqrt(1 - lam) * length).astype(int),
        )
        sides += [np.clip(middle - reach, 0, None), np.clip(middle + reach, None, length)]
    return np.column_stack(sides)


def of_timm(minmax: tuple[float, float], rng: Any) -> Any:
    """The boxes of timm's Mixup with `cutmix_minmax`, with numpy's rng."""
    sides = []
    for length in SIZE:
        cut = rng.integers(int(length * minmax[0]), int(length * minmax[1]), size=COUNT)
        first = rng.integers(0, length - cut)
        sides += [first, first + cut]
    return np.column_stack(sides)


def alike(found: Any, expected: Any) -> bool:
    """Whether each column has the distribution of the other, by its quantiles."""
    shares = np.linspace(0.05, 0.95, 19)
    ends = np.ptp(expected, axis=0) + 1e-9
    gaps = np.abs(np.quantile(found, shares, axis=0) - np.quantile(expected, shares, axis=0)) / ends
    return bool(gaps.max() < 0.03)


@pytest.mark.parametrize("alpha", [0.1, 0.8, 1.0, 3.0])
def test_shares_have_a_beta_distribution(alpha: float) -> None:
    shares = draws(MixUp(alpha)).shares
    rng = np.random.default_rng(0)
    assert alike(shares, rng.beta(alpha, alpha, COUNT))
    assert math.isclose(shares.var(), 1 / (4 * (2 * alpha + 1)), rel_tol=0.05)
    assert ((shares >= 0) & (shares <= 1)).all()


@pytest.mark.parametrize("alpha", [0.01, 1000.0])
def test_extreme_shares_are_numbers(alpha: float) -> None:
    shares = BatchRandom(0, 0, np.arange(COUNT)).beta(alpha)
    assert math.isclose(shares.mean(), 0.5, abs_tol=0.02)
    assert ((shares < 1e-6) | (shares > 1 - 1e-6)).mean() > 0.8 or alpha > 1


def test_boxes_are_those_of_torchvision_or_with_minmax_those_of_timm() -> None:
    rng = np.random.default_rng(0)
    for alpha in (0.3, 1.0):
        expected = of_torchvision(rng.beta(alpha, alpha, COUNT), rng)
        found = draws(CutMix(alpha))
        assert alike(found.boxes, expected)
        covered = (expected[:, 1] - expected[:, 0]) * (expected[:, 3] - expected[:, 2])
        assert alike(found.labels(SIZE)[:, None], 1 - covered[:, None] / math.prod(SIZE))
    assert alike(draws(CutMix(minmax=(0.2, 0.8))).boxes, of_timm((0.2, 0.8), rng))


@pytest.mark.parametrize("minmax", [(0, 0), (0.5, 0.5), (1, 1), (0, 1)])
def test_boxes_lie_within_the_image_for_any_shares_of_its_sides(minmax: Any) -> None:
    top, bottom, left, right = draws(CutMix(minmax=minmax), (3, 5)).boxes.T
    assert ((top >= 0) & (top <= bottom) & (bottom <= 3)).all()
    assert ((left >= 0) & (left <= right) & (right <= 5)).all()


def test_a_choice_draws_each_with_its_probability() -> None:
    cut = CutMix(minmax=(0.5, 0.9))
    for p, expected in ((None, 1 / 2), ([1, 3], 3 / 4), ([0, 1], 1), ([2, 0], 0)):
        boxes = draws(RandomChoice([MixUp(), cut], p=p)).boxes
        assert math.isclose((boxes[:, 1] > 0).mean(), expected, abs_tol=0.02)
    for often in (0, 0.3, 1):
        shares = draws(RandomApply([MixUp()], p=often)).shares
        assert math.isclose((shares < 1).mean(), often, abs_tol=0.02)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        *((kind, {"alpha": one}) for kind in (MixUp, CutMix) for one in (0, -1, "a", None, True)),
        *((MixUp, {"num_classes": one}) for one in (0, 2.0, "a", True)),
        *((CutMix, {"mode": one}) for one in ("half", None, 1)),
        *((MixUp, {"label_smoothing": one}) for one in (-0.1, 1, "a")),
        *((CutMix, {"minmax": one}) for one in (0.3, (0.1,), (0.5, 0.2), (0.1, 2), "ab")),
    ],
    ids=str,
)
def test_a_wrong_argument_is_refused_by_name(kind: Any, given: dict[str, Any]) -> None:
    (name,) = given
    with pytest.raises(ArgumentError, match=rf"^{kind.__name__}\(.*\): {name} is"):
        kind(**given)


@pytest.mark.parametrize(
    ("step", "reason"),
    [
        (RandomOrder([MixUp(), CutMix()]), "map_batch takes a function, reader.MixUp"),
        (RandomChoice([MixUp(), RandomHorizontalFlip()]), "not RandomHorizontalFlip"),
        (RandomApply([MixUp(), CutMix()]), "RandomApply of several steps cannot mix"),
        (RandomChoice([MixUp(mode="elem"), CutMix()]), "RandomChoice: its steps differ in mode"),
        (RandomChoice([MixUp(label_smoothing=0.1), CutMix()]), "differ in mode, num_classes or"),
    ],
    ids=str,
)
def test_a_choice_that_cannot_mix_is_refused(step: Any, reason: str) -> None:
    with pytest.raises(ArgumentError, match=reason):
        mixings(step)
