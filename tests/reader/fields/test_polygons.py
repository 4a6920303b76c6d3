"""Polygons over an image: they cover what was drawn, whatever its transforms, and are clipped."""

import io
import json
from functools import partial
from itertools import pairwise
from typing import Any

import cv2
import numpy as np
import pytest
from delivered import Write, epoch_of
from hypothesis import given, settings
from hypothesis import strategies as st

from reader import (
    CenterCrop,
    Loader,
    Polygons,
    RandomHorizontalFlip,
)

pytestmark = pytest.mark.usefixtures("no_leftovers")

HEIGHT, WIDTH = 60, 80
# A "U", which a crop may cut into two, and a triangle; corners as COCO has them.
U_SHAPE = [10, 5, 25, 5, 25, 40, 50, 40, 50, 5, 70, 5, 70, 55, 10, 55]
TRIANGLE = [30, 4, 45, 4, 38, 30]


def rings(found: Any) -> list[list[list[float]]]:
    """The corners of each polygon of a field."""
    offsets = found["offsets"].tolist()
    return [found["points"][first:last].tolist() for first, last in pairwise(offsets)]


@pytest.fixture
def write(write_over: Write) -> Write:
    return partial(write_over, (HEIGHT, WIDTH))


def read(dataset: Any, field: Any, **options: Any) -> list[Any]:
    return [found[0] for (found,) in epoch_of(dataset, fields=(field,), **options)]


def test_the_pieces_of_a_cut_polygon_stay_joined_and_those_outside_are_dropped(
    write: Write,
) -> None:
    dataset = write({"segmentation": [[U_SHAPE], [[0, 50, 4, 50, 2, 59]], None, []]})
    (found,) = read(dataset, Polygons("json"), transforms=[CenterCrop((20, 80))])
    assert found["kept"].tolist() == [0]
    (corners,) = rings(found)
    assert corners == [[25, 0], [25, 20], [50, 20], [50, 0], [70, 0], [70, 20], [10, 20], [10, 0]]


def test_min_visible_drops_what_a_crop_leaves_little_of(write: Write) -> None:
    squares = [[x, 10, x + 10, 10, x + 10, 20, x, 20] for x in (0, 12, 17, 40, 75)]
    dataset = write({"segmentation": squares, "kind": [4, 5, 6, 7, 8]})
    for share, kept in ((0, [1, 2, 3]), (0.2, [1, 2, 3]), (0.21, [2, 3]), (1, [3])):
        field = Polygons("json", min_visible=share, labels="kind")
        (found,) = read(dataset, field, transforms=[CenterCrop((60, 40))])
        assert found["kept"].tolist() == kept
        assert found["labels"].tolist() == [4 + at for at in kept]
    (found,) = read(dataset, Polygons("json", min_visible=1))
    assert found["kept"].tolist() == [0, 1, 2, 3, 4]  # as much as there is in the image


DOTA = b"""imagesource:GoogleEarth
gsd:0.146
20.0 10.0 40.0 20.0 35.0 30.0 15.0 20.0 ship 0
70.0 2.0 78.0 2.0 78.0 8.0 70.0 8.0 plane 1
"""


def test_dotas_eight_numbers_stay_four_corners(write: Write) -> None:
    classes = {"plane": 0, "ship": 1}

    def rotated_boxes(data: bytes) -> dict[str, Any]:
        rows = [line.split() for line in data.decode().splitlines()[2:]]
        boxes = [list(map(float, row[:8])) for row in rows]
        return {"segmentation": boxes, "labels": [classes[row[8]] for row in rows]}

    field = Polygons(
        "txt", labels="labels", clip=False, min_visible=0.5, upright=False, decode=rotated_boxes
    )
    (found,) = read(write(DOTA, ext="txt"), field, transforms=[CenterCrop((60, 50))])
    assert found["labels"].tolist() == [1]
    assert found["points"].view(-1, 4, 2).tolist() == [[[5, 10], [25, 20], [20, 30], [0, 20]]]
    flip = [RandomHorizontalFlip(1.0)]
    (found,) = read(write(DOTA, ext="txt"), field, transforms=flip)
    assert found["labels"].tolist() == [1, 0]
    assert found["points"].view(-1, 4, 2)[1].tolist() == [[10, 2], [2, 2], [2, 8], [10, 8]]


def test_rotated_boxes_of_five_numbers_arrive_as_corners(write: Write) -> None:
    dataset = write({"rbox": [[40, 30, 20, 10, 0], [40, 30, 20, 10, 90], [40, 30, 20, 20, 45]]})
    field = Polygons("json", path="rbox", format="cxcywhr")
    (found,) = read(dataset, field)
    plain, upwards, diamond = rings(found)
    assert plain == [[30, 25], [50, 25], [50, 35], [30, 35]]
    assert np.allclose(upwards, [[35, 40], [35, 20], [45, 20], [45, 40]])  # its upper side is left
    half = 10 * 2**0.5
    expected = [[40 - half, 30], [40, 30 - half], [40 + half, 30], [40, 30 + half]]
    assert np.allclose(diamond, expected)


def test_yolos_outlines_are_read_as_pixels_with_their_classes(write: Write) -> None:
    dataset = write(b"2 0.25 0.5 0.5 0.5 0.5 0.75\n", b"", ext="txt")
    first, second = read(dataset, Polygons("txt"))
    assert rings(first) == [[[20, 30], [40, 30], [40, 45]]]
    assert first["labels"].tolist() == [2]
    assert second["offsets"].tolist() == [0]
    assert second["points"].shape == (0, 2)


def test_lists_of_points_and_masks_of_crowds_are_told_apart(write: Write) -> None:
    objects = [
        [[10, 10], [20, 10], [20, 20]],  # ICDAR's ArT
        {"counts": [9, 9], "size": [60, 80]},
        [TRIANGLE, [0, 0, 9, 0, 9, 9]],
        [[[1, 2], [5, 2], [5, 9], [1, 9]]],
    ]
    (found,) = read(write({"points": objects}), Polygons("json", path="points"))
    assert found["kept"].tolist() == [0, 2, 2, 3]
    assert [len(corners) for corners in rings(found)] == [3, 3, 3, 4]


def test_polygons_outside_of_their_image_are_counted(write: Write) -> None:
    outside = [90, 10, 99, 10, 99, 20]
    dataset = write({"segmentation": [[outside], [TRIANGLE]]})
    with (
        Loader(dataset, fields=(Polygons("json"),), workers=0) as loader,
        pytest.warns(UserWarning, match="1 .* was outside the image"),
    ):
        (((found,),),) = loader
    assert found["kept"].tolist() == [1]
    assert loader.statistics().dropped_boxes == 1


@given(
    corners=st.lists(st.tuples(st.integers(-20, 100), st.integers(-20, 80)), min_size=3, max_size=7)
)
@settings(max_examples=60, deadline=None)
def test_what_is_clipped_is_what_is_left_of_a_hull(corners: list[tuple[int, int]]) -> None:
    from reader.fields.polygons import _area, _clipped

    hull = cv2.convexHull(np.array(corners, np.float32))[:, 0].astype(np.float64)
    window = np.array([(0, 0), (WIDTH, 0), (WIDTH, HEIGHT), (0, HEIGHT)], np.float32)
    expected, _ = cv2.intersectConvexConvex(hull.astype(np.float32), window)
    found = _clipped(hull, np.zeros(2), np.array([WIDTH, HEIGHT], np.float64))
    assert _area(found) == pytest.approx(expected, abs=0.05)


def test_a_decoder_may_give_arrays(write: Write) -> None:
    def triangles(data: bytes) -> dict[str, Any]:
        return {"segmentation": np.array(json.load(io.BytesIO(data))["t"]).reshape(-1, 3, 2)}

    (found,) = read(write({"t": TRIANGLE * 2}), Polygons("json", decode=triangles))
    assert found["offsets"].tolist() == [0, 3, 6]
    assert found["kept"].tolist() == [0, 1]
