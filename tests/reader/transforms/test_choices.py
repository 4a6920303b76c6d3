"""Choices apply others, of geometry and of pixels: whether, which, and in which order."""

from collections import Counter
from typing import Any

import pytest

from reader import (
    ArgumentError,
    CenterCrop,
    Geometry,
    RandomApply,
    RandomChoice,
    RandomHorizontalFlip,
    RandomInvert,
    RandomOrder,
    RandomVerticalFlip,
    Resize,
)
from reader.rng import SampleRandom
from reader.transforms.operations.values import Invert
from reader.transforms.pipeline import staged

COUNT = 3000
FLIP, TURN = RandomHorizontalFlip(1), RandomVerticalFlip(1)


def outcomes(transform: Any) -> Counter[tuple[bool, bool]]:
    """How often an image is flipped to the side, and upside down."""
    found: Counter[tuple[bool, bool]] = Counter()
    for position in range(COUNT):
        geometry = Geometry.of(9, 8)
        transform.apply(geometry, SampleRandom(0, 0, position))
        found[geometry.hflip, geometry.vflip] += 1
    return found


def near(count: int, share: float) -> bool:
    return abs(count / COUNT - share) < 0.04


def test_all_are_applied_with_a_probability_or_one_of_them() -> None:
    found = outcomes(RandomApply([FLIP, TURN], p=0.3))
    assert near(found[True, True], 0.3)
    assert near(found[False, False], 0.7)
    found = outcomes(RandomChoice([FLIP, TURN]))
    assert near(found[True, False], 0.5)
    assert near(found[False, True], 0.5)
    found = outcomes(RandomChoice([FLIP, TURN, RandomApply([FLIP, TURN], 1)], p=[1, 0, 3]))
    assert near(found[True, False], 0.25)
    assert near(found[True, True], 0.75)


def test_an_order_is_drawn_and_holds_for_geometry_and_pixels() -> None:
    steps = RandomOrder([CenterCrop(8), RandomInvert(1), Resize(4)])
    found: Counter[tuple[int, int]] = Counter()
    for position in range(COUNT):
        whole, stages = staged((20, 20), [steps], SampleRandom(0, 0, position))
        found[whole.height, [bool(stage.operations) for stage in stages].index(True)] += 1
        assert [one for stage in stages for one in stage.operations] == [Invert()]
        assert len(stages) <= 2
    # After the crop or the resize an image is 8 or 4 high.
    assert near(sum(count for (height, _), count in found.items() if height == 8), 0.5)


@pytest.mark.parametrize(
    ("kind", "given"),
    [
        (RandomApply, {"transforms": []}),
        (RandomApply, {"transforms": 3}),
        (RandomOrder, {"transforms": ()}),
        (RandomChoice, {"transforms": [len]}),
        *((RandomApply, {"transforms": [FLIP], "p": p}) for p in (2, "a", True)),
        *((RandomChoice, {"transforms": [FLIP], "p": p}) for p in (1, [1, 2], [0], [-1])),
    ],
    ids=str,
)
def test_what_is_no_list_of_transforms_or_no_probability_is_refused(
    kind: Any, given: dict[str, Any]
) -> None:
    with pytest.raises(ArgumentError, match=r"list of at least one|probability|number of at least"):
        kind(**given)
