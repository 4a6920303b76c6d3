"""Key points over an image: found where they were drawn, whatever its transforms."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest
from delivered import Write, epoch_of, only

import reader
from reader import (
    CenterCrop,
    Points,
    RandomHorizontalFlip,
    RandomVerticalFlip,
    Resize,
)

pytestmark = pytest.mark.usefixtures("no_leftovers")

HEIGHT, WIDTH = 48, 64
NAMES = ["nose", "left_eye", "right_eye"]
MIDDLES = np.array([(42, 14), (22, 30), (10, 10)])


def flat(points: Any, visible: Sequence[int] = (2, 2, 2)) -> list[float]:
    return np.column_stack([points, visible]).ravel().tolist()


@pytest.fixture
def write(write_over: Write) -> Write:
    return partial(write_over, (HEIGHT, WIDTH))


def read(dataset: Any, field: Any, **options: Any) -> list[Any]:
    return [found[0] for (found,) in epoch_of(dataset, fields=(field,), **options)]


def test_a_point_that_is_cropped_away_is_not_visible_and_keeps_its_place(write: Write) -> None:
    points = [(40, 12), (0, 0), (8, 8)]
    dataset = write({"keypoints": [flat(points, (2, 0, 1)), None]})
    (found,) = read(dataset, Points("json"), transforms=[CenterCrop((48, 40))])
    assert found["keypoints"].tolist() == [
        [[28, 12, 2], [0, 0, 0], [-4, 8, 0]],
        [[0, 0, 0], [0, 0, 0], [0, 0, 0]],
    ]
    (found,) = read(dataset, Points("json"), transforms=[CenterCrop((64, 64))])
    assert found["keypoints"][0].tolist() == [[40, 20, 2], [0, 0, 0], [8, 16, 1]]


def test_left_and_right_change_places_where_the_image_is_mirrored(write: Write) -> None:
    given = [(30, 5), (40, 12), (20, 12)]
    dataset = write({"keypoints": [flat(given, (2, 1, 2))]})
    mirrored = [[34, 5, 2], [44, 12, 2], [24, 12, 1]]
    flip = RandomHorizontalFlip(1.0)
    for field in (
        Points("json", names=NAMES),
        Points("json", flip=[(2, 1)]),
        Points("json", names=["a", "left eye", "right eye"]),
        Points("json", names=["Nose", "EyeLeft", "EyeRight"]),
    ):
        (found,) = read(dataset, field, transforms=[flip])
        assert found["keypoints"][0].tolist() == mirrored
        (found,) = read(dataset, field, transforms=[flip, flip])
        assert found["keypoints"][0].tolist() == np.reshape(flat(given, (2, 1, 2)), (3, 3)).tolist()
        (found,) = read(dataset, field, transforms=[flip, RandomVerticalFlip(1.0)])
        assert found["keypoints"][0, 1].tolist() == [24, 36, 1]  # turned, not mirrored
        (found,) = read(dataset, field, transforms=[RandomVerticalFlip(1.0)])
        assert found["keypoints"][0, 1].tolist() == [20, 36, 2]
    for field in (Points("json"), Points("json", names=NAMES, flip=())):
        (found,) = read(dataset, field, transforms=[flip])
        assert found["keypoints"][0, 1].tolist() == [24, 12, 1]


def test_points_without_a_visibility_are_all_seen_and_may_be_nested_or_fractions(
    write: Write,
) -> None:
    points = (np.array([(16, 12), (32, 24)]) / (WIDTH, HEIGHT)).tolist()
    dataset = write({"face": {"marks": [points]}, "kind": [7]})
    field = Points("json", path="face.marks", format="xy", labels="kind", normalized=True)
    (found,) = read(dataset, field)
    assert found["keypoints"].tolist() == [[[16, 12, 2], [32, 24, 2]]]
    assert found["labels"].tolist() == [7]


def test_points_that_are_middles_of_pixels_stay_those_of_the_same_pixels(write: Write) -> None:
    pixel = [[7, 4, 2], [0, 0, 2], [WIDTH - 1, HEIGHT - 1, 2]]
    dataset = write({"keypoints": [pixel]})
    field = Points("json", centers=True)
    (found,) = read(dataset, field, transforms=[RandomHorizontalFlip(1.0)])
    assert found["keypoints"][0].tolist() == [[56, 4, 2], [63, 0, 2], [0, 47, 2]]
    (found,) = read(dataset, field, transforms=[Resize((24, 32))])
    assert found["keypoints"][0, 0].tolist() == [3.25, 1.75, 2]


def test_yolos_poses_are_read_as_pixels_with_their_classes(write: Write) -> None:
    dataset = write(b"3 0.5 0.5 0.2 0.2 0.25 0.25 2 0 0 0\n", b"", ext="txt")
    first, second = read(dataset, Points("txt"))
    assert first["keypoints"].tolist() == [[[16, 12, 2], [0, 0, 0]]]
    assert first["labels"].tolist() == [3]
    assert second["keypoints"].shape == (0, 0, 3)
    assert second["labels"].shape == (0,)


def test_rows_of_points_are_those_of_the_boxes_that_are_kept(write: Write) -> None:
    people = [flat(MIDDLES), flat(MIDDLES - 4)]
    dataset = write({"boxes": [[0, 0, 9, 9], [22, 4, 44, 44]], "keypoints": people})
    fields = (reader.Boxes("json"), Points("json"))
    (boxes,), (points,) = only(dataset, fields=fields, transforms=[CenterCrop(40)])
    assert boxes["kept"].tolist() == [1]
    (kept,) = points["keypoints"][boxes["kept"]].tolist()
    assert kept[0] == [26, 6, 2]
