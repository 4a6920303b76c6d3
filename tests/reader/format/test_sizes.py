"""Bounds of the sizes of images, and of two sets of images together."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reader.format.sizes import SizeBounds, united, upright_sizes

sizes = st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6)), min_size=1, max_size=8)
Sizes = list[tuple[int, int]]


def bounds(images: Sizes) -> SizeBounds:
    found = SizeBounds.of(*np.array(images, np.int64).T)
    assert found is not None
    return found


@given(sizes, sizes)
def test_bounds_of_both_are_those_of_all(one: Sizes, other: Sizes) -> None:
    assert bounds(one) | bounds(other) == bounds(one + other)


@given(sizes)
def test_bounds_hold_every_image_and_know_the_largest(images: Sizes) -> None:
    found = bounds(images)
    assert found.largest in images
    assert found.pixels == max(height * width for height, width in images)
    assert found.is_one == (len(set(images)) == 1)
    assert all(found.least[n] <= one[n] <= found.most[n] for one in images for n in (0, 1))


def test_no_image_has_no_bounds() -> None:
    nothing = np.zeros(0, np.int64)
    assert SizeBounds.of(nothing, nothing) is None


def test_splits_are_united_one_by_one() -> None:
    small, large = bounds([(1, 2)]), bounds([(3, 4)])
    found = united({"train": small, "val": small}, {"train": large, "test": large})
    assert found == {"train": small | large, "val": small, "test": large}


def test_an_image_that_is_stored_lying_is_seen_upright() -> None:
    columns = {name: np.array([30, 30], np.uint32) for name in ("height", "width")}
    columns["width"] += 20
    columns["orientation"] = np.array([1, 6], np.uint8)
    for upright, expected in ((True, [(30, 50), (50, 30)]), (False, [(30, 50)] * 2)):
        assert [*zip(*map(np.ndarray.tolist, upright_sizes(columns, upright)), strict=True)] == (
            expected
        )


@pytest.mark.parametrize(
    "entry",
    [
        ([2, 2], [3, 3], [4, 3]),  # larger than the most
        ([0, 2], [3, 3], [3, 3]),
        ([2, 2], [3, 2**31], [3, 3]),
        ([2.0, 2], [3, 3], [3, 3]),
        ([2], [3, 3], [3, 3]),
    ],
    ids=str,
)
def test_bounds_of_no_images_are_refused(entry: tuple[list[int], ...]) -> None:
    with pytest.raises(ValueError, match="sizes has"):
        SizeBounds(*entry)  # type: ignore[arg-type]
