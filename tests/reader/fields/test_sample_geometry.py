"""The field ``geometry``: a matrix by which anything follows an image through its transforms."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from delivered import only
from made_images import encode, turned
from PIL import Image

from reader import (
    CenterCrop,
    Dataset,
    Letterbox,
    Points,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    Resize,
)

pytestmark = pytest.mark.usefixtures("no_leftovers")

MARKS = [[12.0, 9.0], [41.5, 30.0], [0.0, 0.0], [79.0, 2.0]]


@pytest.fixture
def marked(write_samples: Callable[..., Path]) -> Path:
    """Images of 60 x 80 upright pixels, stored in four orientations, with marks on the upright."""
    samples = {}
    for orientation in (1, 3, 6, 7):
        size = (80, 60) if orientation < 5 else (60, 80)
        png = encode(Image.new("RGB", size), "PNG", exif=turned(orientation))
        samples[f"s{orientation}"] = {"png": png, "json": json.dumps({"marks": [MARKS]}).encode()}
    return write_samples(samples)


POINTS = Points("json", path="marks", format="xy", upright=True)


def mapped(matrix: Any) -> Any:
    return np.array(MARKS) @ np.asarray(matrix)[:, :2].T + np.asarray(matrix)[:, 2]


@pytest.mark.parametrize(
    "transforms",
    [
        [],
        [Letterbox((64, 100)), RandomVerticalFlip(1.0)],
        [RandomResizedCrop(48), RandomHorizontalFlip()],
        [RandomResizedCrop(48, antialias=True), RandomHorizontalFlip()],
    ],
    ids=repr,
)
def test_a_mark_that_is_mapped_by_it_is_where_points_have_it(marked: Path, transforms: Any) -> None:
    fields = ("geometry", POINTS)
    matrices, found = only(marked, fields=fields, transforms=transforms, batch_size=4)
    assert (matrices.shape, matrices.dtype) == ((4, 2, 3), torch.float32)
    for matrix, points in zip(matrices, found, strict=True):
        assert np.allclose(mapped(matrix), points["keypoints"][0, :, :2], atol=1e-3)


def test_map_sample_gets_it_and_decides_what_arrives(marked: Path) -> None:
    def follow(sample: dict[str, Any]) -> dict[str, Any]:
        marks = mapped(sample["geometry"]).astype(np.float32)
        assert np.allclose(marks, sample["points"]["keypoints"][0, :, :2], atol=1e-3)
        return {**sample, "marks": marks}

    fields = ("geometry", POINTS, "marks?")
    transforms = [RandomResizedCrop(32)]
    options: dict[str, Any] = {"fields": fields, "transforms": transforms, "map_sample": follow}
    matrices, points, marks = only(marked, batch_size=4, **options)
    assert matrices.shape == (4, 2, 3)
    assert marks.shape == (4, 4, 2)
    assert torch.allclose(marks[2], points[2]["keypoints"][0, :, :2], atol=1e-3)


def test_each_view_has_its_own(marked: Path) -> None:
    views = [[Resize((30, 40))], [CenterCrop((60, 80)), RandomHorizontalFlip(1.0)]]
    dataset = Dataset(marked).subset([0])
    ((first, second),) = only(dataset, fields=("geometry",), views=views)
    assert first.tolist() == [[[0.5, 0, 0], [0, 0.5, 0]]]
    assert second.tolist() == [[[-1, 0, 80], [0, 1, 0]]]
