"""A geometry composes transforms as array operations would, and its room is known before."""

import numpy as np
import pytest
from geometries import applied, coordinates, cut, rng, shown
from hypothesis import given, settings
from hypothesis import strategies as st

from reader import (
    ArgumentError,
    CenterCrop,
    ColorJitter,
    Geometry,
    Letterbox,
    RandomApply,
    RandomChoice,
    RandomCrop,
    RandomHorizontalFlip,
    RandomInvert,
    RandomOrder,
    RandomResizedCrop,
    ReaderError,
    Resize,
    Transform,
)
from reader.format.sizes import SizeBounds
from reader.transforms.pipeline import largest_output

SIDE = st.integers(1, 400)


boxes = st.tuples(
    st.integers(-30, 60), st.integers(-30, 60), st.integers(1, 60), st.integers(1, 60)
)


@given(
    height=st.integers(1, 50),
    width=st.integers(1, 50),
    steps=st.lists(st.one_of(boxes, st.sampled_from(["hflip", "vflip"])), max_size=6),
)
@settings(deadline=None)
def test_crops_and_flips_compose_as_they_do_on_an_array(
    height: int, width: int, steps: list[tuple[int, int, int, int] | str]
) -> None:
    geometry, image = Geometry.of(height, width), coordinates(height, width)
    for step in steps:
        if step == "hflip":
            geometry.hflip = not geometry.hflip
            image = image[:, ::-1]
        elif step == "vflip":
            geometry.vflip = not geometry.vflip
            image = image[::-1]
        else:
            geometry.crop(*step)
            image = cut(image, *step)
    seen = shown(geometry, height, width)
    assert seen.shape == image.shape
    assert np.array_equal(seen, image)


@given(
    height=SIDE,
    width=SIDE,
    down=st.integers(1, 5),
    across=st.integers(1, 5),
    data=st.data(),
    hflip=st.booleans(),
    vflip=st.booleans(),
)
@settings(deadline=None)
def test_a_crop_of_an_enlarged_image_shows_the_matching_part_of_the_source(
    height: int, width: int, down: int, across: int, data: st.DataObject, hflip: bool, vflip: bool
) -> None:
    top, left = data.draw(st.integers(0, height - 1)), data.draw(st.integers(0, width - 1))
    h, w = data.draw(st.integers(1, height - top)), data.draw(st.integers(1, width - left))
    geometry = Geometry.of(height, width)
    geometry.hflip, geometry.vflip = hflip, vflip
    geometry.resize(height * down, width * across)
    geometry.crop(top * down, left * across, h * down, w * across)
    assert (geometry.height, geometry.width) == (h * down, w * across)
    box = (geometry.top, geometry.left, geometry.box_height, geometry.box_width)
    expected = (height - top - h if vflip else top, width - left - w if hflip else left, h, w)
    assert box == pytest.approx(expected, abs=1e-6)


def test_a_border_replaces_what_an_earlier_crop_took_away() -> None:
    geometry = Geometry.of(100, 200)
    CenterCrop((20, 40)).apply(geometry, rng())
    Letterbox(80).apply(geometry, rng())
    assert (geometry.top, geometry.box_height, geometry.fill) == (30, 40, 114)
    assert geometry.seen == (40, 80, 60, 120)


def test_a_border_around_a_border_has_its_fill() -> None:
    geometry = applied(Letterbox(64), 100, 200)
    CenterCrop((32, 64)).apply(geometry, rng())  # all of the image and nothing of the border
    with_border = applied(Letterbox(64), 100, 200)
    RandomCrop(60).apply(with_border, rng())  # within the border
    assert with_border.fill == 114
    with pytest.raises(ReaderError, match="grey value 0 would surround one of 114: give both"):
        CenterCrop(80).apply(with_border, rng())
    CenterCrop(80).apply(geometry, rng())
    assert geometry.fill == 0


class Sizes:
    """Images of some sizes; `is_bounded` if only their bounds may be asked for."""

    def __init__(self, *sizes: tuple[int, int], is_bounded: bool = False) -> None:
        self._sizes, self._is_bounded = sizes, is_bounded

    @property
    def size_bounds(self) -> SizeBounds:
        found = SizeBounds.of(*np.array(self._sizes, np.int64).reshape(-1, 2).T)
        assert found is not None, "the images' sizes are asked for without need"
        return found

    def sizes(self) -> set[tuple[int, int]]:
        assert not self._is_bounded, "all images' sizes are asked for without need"
        return {*self._sizes}


@pytest.mark.parametrize(
    ("transforms", "images", "expected"),
    [
        ([Resize(64), CenterCrop(32)], Sizes(), ((32, 32), True)),
        ([RandomResizedCrop((20, 30))], Sizes(), ((20, 30), True)),
        ([], Sizes((40, 50), (30, 90), is_bounded=True), ((30, 90), False)),
        ([], Sizes((40, 50), is_bounded=True), ((40, 50), True)),
        ([RandomHorizontalFlip()], Sizes((4, 5), (5, 4), is_bounded=True), ((5, 4), False)),
        ([Resize(10)], Sizes((40, 50), is_bounded=True), ((10, 12), True)),
        ([Resize(10)], Sizes((40, 50), (100, 40)), ((25, 10), False)),
        ([Resize(10)], Sizes((40, 50), (80, 100)), ((10, 12), True)),
        ([Resize(64), CenterCrop(32), ColorJitter(0.4)], Sizes(), ((32, 32), True)),
        ([RandomChoice([CenterCrop(20), RandomResizedCrop(20)])], Sizes(), ((20, 20), True)),
        ([RandomChoice([CenterCrop(20), CenterCrop(30)])], Sizes((9, 9)), ((30, 30), False)),
        ([RandomChoice([CenterCrop(20), CenterCrop(30)], p=[1, 0])], Sizes(), ((20, 20), True)),
        ([CenterCrop(20), RandomApply([CenterCrop(10)], 0)], Sizes(), ((20, 20), True)),
        ([CenterCrop(20), RandomApply([CenterCrop(10)])], Sizes((9, 9)), ((20, 20), False)),
        ([RandomApply([RandomInvert(), RandomHorizontalFlip()])], Sizes((4, 5)), ((4, 5), True)),
        ([RandomOrder([CenterCrop(20), Resize((8, 9))])], Sizes((30, 30)), ((20, 20), False)),
        ([RandomOrder([RandomInvert()] * 9), CenterCrop(9)], Sizes(), ((9, 9), True)),
    ],
)
def test_the_room_that_a_pipeline_needs_is_known_beforehand(
    transforms: list[Transform], images: Sizes, expected: tuple[tuple[int, int], bool]
) -> None:
    assert largest_output(transforms, images) == expected


def test_choices_of_too_many_sizes_are_refused() -> None:
    steps = RandomOrder([CenterCrop(size) for size in range(20, 28)])
    with pytest.raises(ArgumentError, match="more than 1,000 pipelines"):
        largest_output([steps], Sizes((30, 30)))
