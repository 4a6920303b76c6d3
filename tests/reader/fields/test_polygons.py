"""Polygons over an image: they cover what was drawn, whatever its transforms, and are clipped."""

import io
import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import torch
from delivered import Write, epoch_of
from hypothesis import given, settings
from hypothesis import strategies as st
from made_images import encode, make_coco, turned
from packing import run_pack
from PIL import Image

from packer.options.declared import SourceOptions
from reader import (
    CenterCrop,
    Letterbox,
    Loader,
    Polygons,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    Resize,
    SampleError,
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


def filled(corners: Any, height: int, width: int) -> Any:
    """The pixels (height, width) whose middles lie in a polygon, by OpenCV, to an eighth."""
    large = np.zeros((height * 8, width * 8), np.uint8)
    points = (np.reshape(corners, (-1, 2)) * 8 - 0.5).round().astype(np.int32)
    cv2.fillPoly(large, [points], 1)
    return large.reshape(height, 8, width, 8).mean(axis=(1, 3)) > 0.5


@pytest.fixture
def write(write_samples: Write) -> Write:
    """`write({"segmentation": [...]}, ...)`: images with masks of both shapes, and these."""

    def make(*contents: Any, ext: str = "json", **exif: Any) -> Path:
        mask = filled(U_SHAPE, HEIGHT, WIDTH) + 2 * filled(TRIANGLE, HEIGHT, WIDTH).astype(np.uint8)
        png = encode(Image.new("RGB", (WIDTH, HEIGHT)), "PNG", **exif)
        over = encode(Image.fromarray(mask.astype(np.uint8)), "PNG")
        data = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in contents]
        samples = {
            f"s{n}": {"png": png, ext: each, "mask.png": over} for n, each in enumerate(data)
        }
        return write_samples(samples)

    return make


def read(dataset: Any, field: Any, **options: Any) -> list[Any]:
    return [found[0] for (found,) in epoch_of(dataset, fields=(field,), **options)]


TRANSFORMS = [
    [],
    [Resize((120, 240))],
    [CenterCrop((30, 44)), Resize((60, 88))],
    [RandomCrop((44, 50)), RandomHorizontalFlip(1.0), RandomVerticalFlip(1.0)],
    [Letterbox((100, 90))],
    [CenterCrop((70, 70)), RandomHorizontalFlip(1.0)],
    [RandomResizedCrop(64, scale=(0.2, 0.6), antialias=True), RandomHorizontalFlip(0.5)],
]


@pytest.mark.parametrize("orientation", [1, 6, 7])
@pytest.mark.parametrize("transforms", TRANSFORMS, ids=repr)
def test_polygons_cover_what_the_mask_covers(
    write: Write, transforms: Any, orientation: int
) -> None:
    dataset = write(*[{"segmentation": [[U_SHAPE], [TRIANGLE]]}] * 3, exif=turned(orientation))
    fields = (Polygons("json"), "mask.png")
    with Loader(dataset, fields=fields, transforms=transforms, workers=0, seed=7) as loader:
        for (found,), masks in loader:
            height, width = masks.shape[1:]
            assert found["points"].dtype == torch.float32
            assert found["offsets"].dtype == found["kept"].dtype == torch.int64
            drawn = {0: 0, 1: 0}
            for owner, corners in zip(found["kept"].tolist(), rings(found), strict=True):
                drawn[owner] |= filled(corners, height, width)
                array = np.array(corners)
                assert (array >= 0).all()
                assert (array <= (width, height)).all()
            for owner, covered in drawn.items():
                expected = masks[0].numpy() == owner + 1
                differs = np.count_nonzero(expected != covered)
                assert differs <= 0.03 * height * width  # of pixels along the outlines


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


def test_what_packer_packs_of_coco_is_read_without_arguments(tmp_path: Path) -> None:
    crowd = {"counts": "a", "size": [9, 9]}
    objects = [
        {"bbox": [30, 4, 15, 26], "segmentation": [TRIANGLE], "category_id": 1},
        {"bbox": [0, 0, 9, 9], "segmentation": crowd, "category_id": 1},
    ]
    file = make_coco(tmp_path, {"1.jpg": objects}, {"id": 1, "name": "cat"})
    run_pack(file, tmp_path / "shards", seed=None, source=SourceOptions(root="images"))
    (found,) = read(tmp_path / "shards", Polygons("json", labels="categories"))
    assert rings(found) == [np.reshape(TRIANGLE, (3, 2)).tolist()]
    assert (found["kept"].tolist(), found["labels"].tolist()) == ([0], [0])


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


@pytest.mark.parametrize(
    ("field", "content", "reason"),
    [
        (Polygons("json"), {"boxes": []}, "nothing at 'segmentation'; it has boxes"),
        (Polygons("json"), {"segmentation": [[[1, 2, 3]]]}, "no list of x and y"),
        (Polygons("json"), {"segmentation": ["abc"]}, "no list of x and y"),
        (Polygons("json"), {"segmentation": [{"x": 1}]}, "no list of x and y"),
        (Polygons("json", format="cxcywhr"), {"segmentation": [[1, 2, 3]]}, "no list of five"),
        (Polygons("json"), {"segmentation": [[0, 0, 0.5, 0, 1, 1]]}, r"give Polygons\(\.\.\., nor"),
        (Polygons("json", labels="c"), {"segmentation": [[]], "c": []}, "0 c for 1 polygons"),
    ],
)
def test_what_would_be_misread_is_refused_by_name(
    write: Write, field: Polygons, content: Any, reason: str
) -> None:
    with pytest.raises(SampleError, match=rf"sample 's0' .*{reason}"):
        read(write(content), field)


@pytest.mark.parametrize("line", [b"0 0.5 0.5 0.1 0.1", b"1 0 0 1 0 1 1 0"])
def test_lines_that_are_no_outlines_are_refused(write: Write, line: bytes) -> None:
    with pytest.raises(SampleError, match=r"line 1 has [58] numbers; a line of an outline"):
        read(write(line, ext="txt"), Polygons("txt"))


def test_a_decoder_may_give_arrays(write: Write) -> None:
    def triangles(data: bytes) -> dict[str, Any]:
        return {"segmentation": np.array(json.load(io.BytesIO(data))["t"]).reshape(-1, 3, 2)}

    (found,) = read(write({"t": TRIANGLE * 2}), Polygons("json", decode=triangles))
    assert found["offsets"].tolist() == [0, 3, 6]
    assert found["kept"].tolist() == [0, 1]
