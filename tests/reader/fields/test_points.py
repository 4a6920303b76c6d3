"""Key points over an image: found where they were drawn, whatever its transforms."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from delivered import Write, epoch_of, only
from made_images import encode, make_coco, turned
from packing import run_pack
from PIL import Image

import reader
from packer.options.declared import SourceOptions
from reader import (
    ArgumentError,
    CenterCrop,
    Loader,
    Points,
    RandomHorizontalFlip,
    RandomVerticalFlip,
    Resize,
)
from reader.format import Manifest

pytestmark = pytest.mark.usefixtures("no_leftovers")

HEIGHT, WIDTH = 48, 64
NAMES = ["nose", "left_eye", "right_eye"]
# The corners of blocks of 4 pixels in each colour: red, green and blue.
CORNERS = np.array([(40, 12), (20, 28), (8, 8)])
MIDDLES = CORNERS + 2


def drawn(height: int = HEIGHT, width: int = WIDTH) -> Image.Image:
    pixels = np.zeros((height, width, 3), np.uint8)
    for channel, (x, y) in enumerate(CORNERS):
        pixels[y : y + 4, x : x + 4, channel] = 255
    return Image.fromarray(pixels)


def middles(image: torch.Tensor) -> list[tuple[float, float]]:
    """The middle of what is bright in each channel of an image (3, H, W), in pixel edges."""
    found = []
    for channel in (np.asarray(image) - 128.0).clip(0):  # but for a JPEG's noise
        rows, columns = channel.sum(axis=1), channel.sum(axis=0)
        x, y = (side @ (np.arange(len(side)) + 0.5) / channel.sum() for side in (columns, rows))
        found.append((x, y))
    return found


def flat(points: Any, visible: Sequence[int] = (2, 2, 2)) -> list[float]:
    return np.column_stack([points, visible]).ravel().tolist()


@pytest.fixture
def write(write_samples: Write) -> Write:
    """`write({"keypoints": [...]}, ...)`: a drawing for each content of its json."""

    def make(*contents: Any, ext: str = "json", **options: Any) -> Path:
        png = encode(drawn(), "PNG")
        data = [one if isinstance(one, bytes) else json.dumps(one).encode() for one in contents]
        return write_samples(
            {f"s{n}": {"png": png, ext: each} for n, each in enumerate(data)}, **options
        )

    return make


def read(dataset: Any, field: Any, **options: Any) -> list[Any]:
    found = epoch_of(dataset, fields=("image", field), **options)
    return [(images[0], points[0]) for images, points in found]


@pytest.mark.parametrize("upright", [True, False])
def test_sides_follow_what_the_orientation_mirrors(write_samples: Write, upright: bool) -> None:
    content = json.dumps({"keypoints": [flat(MIDDLES)]}).encode()
    images = {n: encode(drawn(), "PNG", exif=turned(n)) for n in range(1, 9)}
    samples = {f"s{n}": {"png": image, "json": content} for n, image in images.items()}
    dataset = reader.Dataset(write_samples(samples), upright=upright)
    names = ["none", "left", "right"]
    for orientation, (image, found) in enumerate(read(dataset, Points("json", names=names)), 1):
        red, green, blue = middles(image)
        if upright and orientation in (2, 4, 5, 7):  # as a mirror shows what was annotated
            green, blue = blue, green
        expected = [pytest.approx(each) for each in (red, green, blue)]
        assert found["keypoints"][0, :, :2].tolist() == expected


def test_a_point_that_is_cropped_away_is_not_visible_and_keeps_its_place(write: Write) -> None:
    points = [(40, 12), (0, 0), (8, 8)]
    dataset = write({"keypoints": [flat(points, (2, 0, 1)), None]})
    ((_, found),) = read(dataset, Points("json"), transforms=[CenterCrop((48, 40))])
    assert found["keypoints"].tolist() == [
        [[28, 12, 2], [0, 0, 0], [-4, 8, 0]],
        [[0, 0, 0], [0, 0, 0], [0, 0, 0]],
    ]
    ((_, found),) = read(dataset, Points("json"), transforms=[CenterCrop((64, 64))])
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
        ((_, found),) = read(dataset, field, transforms=[flip])
        assert found["keypoints"][0].tolist() == mirrored
        ((_, found),) = read(dataset, field, transforms=[flip, flip])
        assert found["keypoints"][0].tolist() == np.reshape(flat(given, (2, 1, 2)), (3, 3)).tolist()
        ((_, found),) = read(dataset, field, transforms=[flip, RandomVerticalFlip(1.0)])
        assert found["keypoints"][0, 1].tolist() == [24, 36, 1]  # turned, not mirrored
        ((_, found),) = read(dataset, field, transforms=[RandomVerticalFlip(1.0)])
        assert found["keypoints"][0, 1].tolist() == [20, 36, 2]
    for field in (Points("json"), Points("json", names=NAMES, flip=())):
        ((_, found),) = read(dataset, field, transforms=[flip])
        assert found["keypoints"][0, 1].tolist() == [24, 12, 1]


def test_points_without_a_visibility_are_all_seen_and_may_be_nested_or_fractions(
    write: Write,
) -> None:
    points = (np.array([(16, 12), (32, 24)]) / (WIDTH, HEIGHT)).tolist()
    dataset = write({"face": {"marks": [points]}, "kind": [7]})
    field = Points("json", path="face.marks", format="xy", labels="kind", normalized=True)
    ((_, found),) = read(dataset, field)
    assert found["keypoints"].tolist() == [[[16, 12, 2], [32, 24, 2]]]
    assert found["labels"].tolist() == [7]


def test_points_that_are_middles_of_pixels_stay_those_of_the_same_pixels(write: Write) -> None:
    pixel = [[7, 4, 2], [0, 0, 2], [WIDTH - 1, HEIGHT - 1, 2]]
    dataset = write({"keypoints": [pixel]})
    field = Points("json", centers=True)
    ((_, found),) = read(dataset, field, transforms=[RandomHorizontalFlip(1.0)])
    assert found["keypoints"][0].tolist() == [[56, 4, 2], [63, 0, 2], [0, 47, 2]]
    ((_, found),) = read(dataset, field, transforms=[Resize((24, 32))])
    assert found["keypoints"][0, 0].tolist() == [3.25, 1.75, 2]


def test_yolos_poses_are_read_as_pixels_with_their_classes(write: Write) -> None:
    dataset = write(b"3 0.5 0.5 0.2 0.2 0.25 0.25 2 0 0 0\n", b"", ext="txt")
    (_, first), (_, second) = read(dataset, Points("txt"))
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


def test_cocos_key_points_are_read_with_the_names_of_their_category(tmp_path: Path) -> None:
    people = [
        {"bbox": [4, 4, 44, 40], "keypoints": flat(MIDDLES, (2, 1, 2)), "category_id": 1},
        {"bbox": [0, 0, 9, 9], "category_id": 1},
    ]
    category = {"id": 1, "name": "person", "keypoints": NAMES, "skeleton": [[1, 2]]}
    file = make_coco(tmp_path, {"1.jpg": people}, category)
    (tmp_path / "images" / "1.jpg").write_bytes(encode(drawn(60, 80), "JPEG", quality=95))
    run_pack(file, tmp_path / "shards", seed=None, source=SourceOptions(root="images"))
    flip = [RandomHorizontalFlip(1.0)]
    ((image, found),) = read(tmp_path / "shards", Points("json"), transforms=flip)
    nose, left, right = middles(image)
    expected = np.array([[*nose, 2], [*right, 2], [*left, 1]])
    assert np.abs(found["keypoints"][0].numpy() - expected).max() < 0.6
    assert not found["keypoints"][1].any()
    names = Manifest.load(tmp_path / "shards").boxes["json"].keypoints
    assert names == tuple(NAMES)


def test_the_gpus_decoder_refuses_points(write: Write) -> None:
    dataset = write({"keypoints": [flat(MIDDLES)]})
    with pytest.raises(
        ArgumentError, match=r'does not support .* points, polygons .* use decode="cpu"'
    ):
        Loader(dataset, fields=("image", Points("json")), decode="gpu", transforms=[Resize(8)])
