"""Masks, boxes, points, polygons and the field ``geometry`` stay on what the image shows."""

import json
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
import torch
from delivered import Write, epoch_of, only
from made_images import encode, make_coco, png, turned
from packing import run_pack
from PIL import Image

from packer.options.declared import SourceOptions
from reader import (
    Boxes,
    CenterCrop,
    Dataset,
    Letterbox,
    Mask,
    Points,
    Polygons,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    Resize,
    SampleError,
    Transform,
)
from reader.format import Manifest

pytestmark = pytest.mark.usefixtures("no_leftovers")

HEIGHT, WIDTH = 60, 80
# A "U", which a crop may cut into two; a triangle inside of it; and a rectangle below.
OUTLINES = [
    [10, 5, 25, 5, 25, 30, 50, 30, 50, 5, 70, 5, 70, 40, 10, 40],
    [30, 4, 45, 4, 38, 26],
    [48, 44, 64, 44, 64, 54, 48, 54],
]
BOXES = [[min(x[::2]), min(x[1::2]), max(x[::2]), max(x[1::2])] for x in OUTLINES]
RECTANGLE = 2
# Where a place of the stored image is shown upright, by the orientation.
UPRIGHT = [
    lambda x, y: (x, y),
    lambda x, y: (WIDTH - x, y),
    lambda x, y: (WIDTH - x, HEIGHT - y),
    lambda x, y: (x, HEIGHT - y),
    lambda x, y: (y, x),
    lambda x, y: (HEIGHT - y, x),
    lambda x, y: (HEIGHT - y, WIDTH - x),
    lambda x, y: (y, WIDTH - x),
]
X, Y = 56, 49  # the rectangle's middle
MIDDLES = [place(X, Y) for place in UPRIGHT]
FIELDS = (
    "image",
    "mask.png",
    Boxes("json", labels="labels"),
    Points("json"),
    Polygons("json"),
    "geometry",
)


def filled(corners: Any, height: int, width: int) -> Any:
    """The pixels (height, width) whose middles lie in a polygon, by OpenCV, to a quarter."""
    large = np.zeros((height * 4, width * 4), np.uint8)
    points = (np.reshape(corners, (-1, 2)) * 4 - 0.5).round().astype(np.int32)
    cv2.fillPoly(large, [points], 1)
    return large.reshape(height, 4, width, 4).mean(axis=(1, 3)) > 0.5


PLANES = np.stack([filled(outline, HEIGHT, WIDTH) for outline in OUTLINES], axis=-1)


def members() -> dict[str, bytes]:
    """All that may be over an image of the outlines."""
    mask = Image.fromarray((PLANES * [1, 2, 3]).max(axis=-1).astype(np.uint8))
    mask.putpalette([0, 0, 0, 255, 0, 0, 0, 255, 0, 0, 0, 255])  # colours, which are no values
    content = {
        "boxes": BOXES,
        "labels": [5, 6, 7],
        "keypoints": [[X, Y, 2]],
        "segmentation": [[outline] for outline in OUTLINES],
    }
    return {"mask.png": encode(mask, "PNG"), "json": json.dumps(content).encode()}


@pytest.fixture
def scenes(write_samples: Write) -> Path:
    """Images of the outlines, stored in each orientation."""
    images = [png(PLANES.astype(np.uint8) * 255, exif=turned(n)) for n in range(1, 9)]
    return write_samples({f"s{n}": {"png": data} | members() for n, data in enumerate(images)})


@pytest.mark.parametrize(
    "transforms",
    [
        [],
        [Resize((120, 240))],
        [Resize((30, 101), antialias=True)],
        [CenterCrop((52, 60)), RandomVerticalFlip(1.0), Resize((78, 90))],
        [RandomHorizontalFlip(1.0), RandomCrop((50, 54)), RandomVerticalFlip(1.0)],
        [RandomHorizontalFlip(1.0), RandomCrop((70, 70), padding=10)],
        [Letterbox((100, 90))],
        [Resize(longest=120), CenterCrop(130), RandomHorizontalFlip(1.0)],
        [RandomResizedCrop(64, scale=(0.2, 0.6)), RandomHorizontalFlip()],
        [RandomResizedCrop(64, scale=(0.5, 1), antialias=True), RandomHorizontalFlip()],
    ],
    ids=repr,
)
def test_all_stays_on_what_the_image_shows(scenes: Path, transforms: Sequence[Transform]) -> None:
    points = 0
    for is_upright in (True, False):
        dataset = Dataset(scenes, upright=is_upright)
        batches = epoch_of(dataset, fields=FIELDS, transforms=transforms, seed=3)
        for batch, middle in zip(batches, MIDDLES, strict=True):
            image, mask, boxes, keypoints, polygons, matrix = (part[0] for part in batch)
            check_mask_and_outlines(image, mask, polygons)
            check_boxes(mask, boxes)
            (point,) = keypoints["keypoints"][0]
            points += check_point(mask, *point.tolist())
            expected = mapped(matrix, middle if is_upright else MIDDLES[0])
            assert point[:2].tolist() == pytest.approx(expected.tolist(), abs=1e-3)
    assert points


def check_mask_and_outlines(image: torch.Tensor, mask: torch.Tensor, polygons: Any) -> None:
    height, width = mask.shape
    assert image.shape == (3, height, width)
    drawn = np.zeros((len(OUTLINES), height, width), bool)
    assert polygons["points"].dtype == torch.float32
    assert polygons["offsets"].dtype == polygons["kept"].dtype == torch.int64
    for owner, (first, last) in zip(polygons["kept"], pairwise(polygons["offsets"]), strict=True):
        corners = polygons["points"][first:last].numpy()
        assert (corners >= 0).all()
        assert (corners <= (width, height)).all()
        drawn[owner] |= filled(corners, height, width)
    for number, shown in enumerate(drawn):
        expected = mask.numpy() == number + 1
        other = [plane for plane in range(3) if plane != number]
        is_coloured = (image[number] > 127) & (image[other] < 128).all(0)
        for found in (shown, is_coloured.numpy()):  # but for pixels along the outlines
            assert np.count_nonzero(found != expected) <= 0.03 * height * width


def check_boxes(mask: torch.Tensor, found: Any) -> None:
    assert found["labels"].tolist() == [5 + number for number in found["kept"].tolist()]
    boxes = dict(zip(found["kept"].tolist(), found["boxes"].tolist(), strict=True))
    rows, columns = np.nonzero(mask.numpy() == RECTANGLE + 1)
    if RECTANGLE in boxes:
        expected = columns.min(), rows.min(), columns.max() + 1, rows.max() + 1
        assert boxes[RECTANGLE] == pytest.approx(expected, abs=1.5)
    else:
        assert len(rows) <= max(mask.shape)


def check_point(mask: torch.Tensor, x: float, y: float, visible: float) -> bool:
    """Whether the rectangle is seen whole, so that its middle is known."""
    height, width = mask.shape
    assert visible == (2 if 0 <= x <= width and 0 <= y <= height else 0)
    rows, columns = np.nonzero(np.pad(mask.numpy() == RECTANGLE + 1, 1))
    if not len(rows) or {1, height} & {*rows} or {1, width} & {*columns}:
        return False
    assert (x, y) == pytest.approx((columns.mean() - 0.5, rows.mean() - 0.5), abs=0.6)
    return True


def mapped(matrix: Any, middle: Sequence[float]) -> Any:
    return np.asarray(matrix) @ [*middle, 1]


@pytest.mark.parametrize("is_upright", [True, False])
def test_boxes_may_be_given_over_the_stored_or_the_upright_image(
    write_samples: Write, is_upright: bool
) -> None:
    samples = {}
    for number, place in enumerate(UPRIGHT, 1):
        first, last = place(20, 4), place(60, 24)
        (x, right), (y, bottom) = (sorted(ends) for ends in zip(first, last, strict=True))
        content = json.dumps({"stored": [[20, 4, 60, 24]], "seen": [[x, y, right, bottom]]})
        width, height = (WIDTH, HEIGHT) if number < 5 else (HEIGHT, WIDTH)
        middle = f"{(x + right) / 2 / width} {(y + bottom) / 2 / height}"
        lines = f"5 {middle} {(right - x) / width} {(bottom - y) / height}"
        image = png(np.zeros((HEIGHT, WIDTH), np.uint8), exif=turned(number))
        samples[f"s{number}"] = {"png": image, "json": content.encode(), "txt": lines.encode()}
    dataset = Dataset(write_samples(samples), upright=is_upright)
    options = {"transforms": [RandomCrop((50, 52)), RandomHorizontalFlip(1.0)], "batch_size": 8}
    found = []
    for field in (
        Boxes("json", path="stored"),
        Boxes("json", path="stored", upright=False),
        Boxes("json", path="seen", upright=True),
        Boxes("txt", format="cxcywh", normalized=True, out="xyxy"),
        Boxes("txt", format="cxcywh", normalized=True, out="xyxy", upright=True),
    ):
        (boxes,) = only(dataset, fields=(field,), **options)
        found.append(np.stack([one["boxes"][0] for one in boxes]))
    assert np.allclose(found, found[0], atol=1e-4)


@pytest.mark.parametrize("is_upright", [True, False])
def test_left_and_right_change_places_where_the_orientation_mirrors(
    write_samples: Write, is_upright: bool
) -> None:
    stored = [[40, 14], [22, 30], [10, 10]]
    seen = [[[*place(*each)] for each in stored] for place in UPRIGHT]
    samples = {}
    for number, shown in enumerate(seen, 1):
        image = png(np.zeros((HEIGHT, WIDTH), np.uint8), exif=turned(number))
        content = {"stored": [stored], "seen": [shown]}
        samples[f"s{number}"] = {"png": image, "json": json.dumps(content).encode()}
    dataset = Dataset(write_samples(samples), upright=is_upright)
    for path, is_seen in (("stored", False), ("seen", True)):
        names = ["none", "left", "right"]
        field = Points("json", path=path, format="xy", names=names, upright=is_seen)
        (points,) = only(dataset, batch_size=8, fields=[field])
        for orientation, (found, shown) in enumerate(zip(points, seen, strict=True), 1):
            none, left, right = shown if is_upright else stored
            if is_upright != is_seen and orientation in (2, 4, 5, 7):
                left, right = right, left  # as a mirror shows what was annotated
            assert found["keypoints"][0, :, :2].tolist() == [none, left, right]


def test_map_sample_gets_the_geometry_and_decides_what_arrives(scenes: Path) -> None:
    def follow(sample: dict[str, Any]) -> dict[str, Any]:
        middle = MIDDLES[sample["index"]]
        return {**sample, "marks": mapped(sample["geometry"], middle).astype(np.float32)}

    options: dict[str, Any] = {"transforms": [RandomResizedCrop(32)], "map_sample": follow}
    fields = ("geometry", Points("json"), "marks?", "index")
    matrices, points, marks, _ = only(scenes, batch_size=8, fields=fields, **options)
    assert (matrices.shape, matrices.dtype) == ((8, 2, 3), torch.float32)
    for mark, found in zip(marks, points, strict=True):
        assert torch.allclose(mark, found["keypoints"][0, 0, :2], atol=1e-3)


def test_each_view_has_its_own_geometry(scenes: Path) -> None:
    views = [[Resize((30, 40))], [CenterCrop((60, 80)), RandomHorizontalFlip(1.0)]]
    dataset = Dataset(scenes).subset([0])
    ((first, second),) = only(dataset, fields=("geometry",), views=views)
    assert first.tolist() == [[[0.5, 0, 0], [0, 0.5, 0]]]
    assert second.tolist() == [[[-1, 0, 80], [0, 1, 0]]]


# The values of masks, and what there is over an image without them


def test_a_mask_keeps_its_values_at_any_size_and_its_padding_can_be_chosen(scenes: Path) -> None:
    first = Dataset(scenes, subset=[0])
    (small,) = only(first, fields=["mask.png"])
    (big,) = only(first, fields=["mask.png"], transforms=[Resize((10 * HEIGHT, 10 * WIDTH))])
    assert torch.equal(big, small.repeat_interleave(10, 1).repeat_interleave(10, 2))
    taller = [CenterCrop((HEIGHT + 4, WIDTH))]
    ((padded,),) = only(first, fields=[Mask("mask.png", fill=255)], transforms=taller)
    assert (padded[:2] == 255).all()
    assert torch.equal(padded[2:-2], small[0])


def test_a_mask_of_another_size_than_its_image_is_refused(write_samples: Write) -> None:
    pixels = np.zeros((20, 30), np.uint8)
    dataset = write_samples({"a": {"png": png(pixels), "mask.png": png(pixels[:5, :5])}})
    reason = r"'a' .*\(it has 5 x 5 pixels, but its index has 30 x 20"
    with pytest.raises(SampleError, match=reason):
        only(dataset, fields=["mask.png"])


def test_where_they_are_missing_a_mask_is_none_and_there_are_no_objects(
    write_samples: Write,
) -> None:
    image = {"png": png(np.zeros((HEIGHT, WIDTH), np.uint8))}
    dataset = write_samples({"a": image | members(), "b": image})
    fields = (
        Boxes("json?", labels="labels"),
        Points("json?", names=["middle"]),
        Polygons("json?"),
        Mask("mask.png?", fill=255),
    )
    *objects, masks = only(dataset, batch_size=2, fields=fields, transforms=[CenterCrop(8)])
    assert masks[0].shape == (8, 8)
    assert masks[1] is None
    found = {name: array for _, none in objects for name, array in none.items()}
    assert {name: (tuple(array.shape), array.dtype) for name, array in found.items()} == {
        "boxes": ((0, 4), torch.float32),
        "kept": ((0,), torch.int64),
        "labels": ((0,), torch.int64),
        "keypoints": ((0, 1, 3), torch.float32),
        "points": ((0, 2), torch.float32),
        "offsets": ((1,), torch.int64),
    }
    for field in (Boxes("json"), Points("json"), Polygons("json")):
        reason = rf'no member .json; to get no {field.name} for it, write "json\?"'
        with pytest.raises(SampleError, match=reason):
            only(dataset, batch_size=2, fields=[field])


def test_what_is_packed_of_cocos_annotations_is_read_as_the_documentation_says(
    tmp_path: Path,
) -> None:
    eyes = [40, 20, 2, 30, 25, 1, 50, 25, 2]
    person = {"bbox": [10.5, 3, 10, 20], "segmentation": [OUTLINES[1]], "keypoints": eyes}
    crowd = {"bbox": [0, 0, 9, 9], "segmentation": {"counts": "a", "size": [9, 9]}}
    objects = [person | {"category_id": 8}, crowd | {"category_id": 1}]
    names = ["nose", "left_eye", "right_eye"]
    category = {"id": 8, "name": "person", "keypoints": names, "skeleton": [[1, 2]]}
    file = make_coco(tmp_path, {"0.jpg": [], "1.jpg": objects}, {"id": 1, "name": "cat"}, category)
    run_pack(file, tmp_path / "shards", seed=None, source=SourceOptions(root="images"))
    dataset = Dataset(tmp_path / "shards")
    assert dataset.classes == ["cat", "person"]
    assert Manifest.load(tmp_path / "shards").boxes["json"].keypoints == tuple(names)
    (written,) = re.findall(r'``(Boxes\("json".*?\))``', str(Boxes.__doc__))
    ((empty, boxes),) = only(dataset, batch_size=2, fields=[eval(written, {"Boxes": Boxes})])
    people = dataset.subset([1])
    fields = (Points("json"), Polygons("json", labels="categories"))
    (points,), (polygons,) = only(people, fields=fields)
    assert (empty["boxes"].shape, empty["labels"].shape) == ((0, 4), (0,))
    assert boxes["boxes"].tolist() == [objects[0]["bbox"], objects[1]["bbox"]]
    assert boxes["labels"].tolist() == [1, 0]
    assert points["keypoints"].tolist() == [np.reshape(eyes, (3, 3)).tolist(), [[0, 0, 0]] * 3]
    assert polygons["points"].tolist() == np.reshape(OUTLINES[1], (3, 2)).tolist()
    assert (polygons["kept"].tolist(), polygons["labels"].tolist()) == ([0], [1])
    flip = [RandomHorizontalFlip(1.0)]
    ((mirrored,),) = only(people, fields=[Points("json")], transforms=flip)
    assert mirrored["keypoints"][0].tolist() == [[40, 20, 2], [30, 25, 2], [50, 25, 1]]
