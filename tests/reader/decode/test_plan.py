"""Several views of each image: independent augmentations of one read."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from made_images import encode, turned
from PIL import Image

import reader
from reader import (
    Boxes,
    CenterCrop,
    Geometry,
    Loader,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    SampleError,
    Transform,
)
from reader.rng import SampleRandom


class RandomPart:
    """A part of the image in its own pixels, somewhere, maybe mirrored."""

    def __init__(self, height: int, width: int) -> None:
        self.size = height, width

    def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
        height, width = self.size
        top, left = rng.integer(geometry.height - height + 1), rng.integer(geometry.width - width)
        geometry.crop(top, left, height, width)
        geometry.hflip = rng.uniform() < 0.5


class Skip:
    """Draws what another transform would, and leaves the image alone."""

    def __init__(self, transform: Transform) -> None:
        self.transform = transform

    def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
        self.transform.apply(Geometry.of(geometry.height, geometry.width), rng)


class Outside:
    """A grey box far from the image."""

    def apply(self, geometry: Geometry, rng: SampleRandom) -> None:
        geometry.fill = 9
        geometry.crop(1000, 1000, 4, 4)


def epoch(dataset: Path, **options: Any) -> list[Any]:
    with Loader(dataset, batch_size=8, workers=0, **options) as loader:
        return list(loader)


def test_two_views_of_scaled_crops_show_what_single_ones_would(packed: Path) -> None:
    augment = [RandomResizedCrop(16), RandomHorizontalFlip()]
    together = epoch(packed, transforms=augment, views=2)
    alone = epoch(packed, transforms=augment)
    for (views, _), (image, _) in zip(together, alone, strict=True):
        # The JPEG may have been decoded at another scale.
        assert (views[0].int() - image.int()).abs().float().mean() < 4
        assert (views[1].int() - image.int()).abs().float().mean() > 8


def test_a_view_outside_the_image_is_grey(packed: Path) -> None:
    ((views, _), *_) = epoch(packed, views=[[CenterCrop(8)], [Outside()]])
    ((image, _), *_) = epoch(packed, transforms=[CenterCrop(8)])
    assert torch.equal(views[0], image)
    assert views[1].unique().tolist() == [9]


# What follows the image in each view

HEIGHT, WIDTH = 24, 32
BOX = [10, 7, 16, 11]  # x, y, x, y in the stored image


def values(rows: Any, columns: Any) -> Any:
    """The mask's value at each place of the stored image."""
    return (7 * rows + columns) % 251


@pytest.fixture
def places(write_samples: Callable[..., Path]) -> Path:
    """Images of each orientation whose red and green are each pixel's stored row and column."""
    rows, columns = np.indices((HEIGHT, WIDTH))
    image = Image.fromarray(np.stack([rows, columns, 0 * rows], axis=-1).astype(np.uint8))
    mask = Image.fromarray(values(rows, columns).astype(np.uint8))
    content = {"boxes": [BOX, [0, 0, WIDTH, HEIGHT]], "labels": [4, 5]}
    samples: dict[str, dict[str, bytes]] = {}
    for orientation in range(1, 9):
        samples[f"s{orientation}"] = {
            "png": encode(image, "PNG", exif=turned(orientation)),
            "mask.png": encode(mask, "PNG"),
            "near.jpg": encode(image, "JPEG"),
            "json": json.dumps(content).encode(),
        }
    del samples["s3"]["near.jpg"]
    return write_samples(samples, shard_samples=5)


def test_masks_and_boxes_follow_the_image_in_each_view(places: Path) -> None:
    # Three rows are not channels.
    pipelines = [[RandomPart(16, 20)], [RandomVerticalFlip(), RandomPart(3, 19)]]
    fields = ("image", "mask.png", Boxes("json", labels="labels"), "key")
    dropped = 0
    batches = epoch(places, views=pipelines, fields=fields, epochs=3, shuffle=True)
    for images, masks, boxes, keys in batches:
        assert [tuple(mask.shape) for mask in masks] == [(8, 16, 20), (8, 3, 19)]
        assert [len(keys)] * 2 == [len(view) for view in boxes]
        for image, mask, found in zip(images, masks, boxes, strict=True):
            rows, columns = image[:, 0].int(), image[:, 1].int()
            assert torch.equal(mask.int(), values(rows, columns))
            x, y, right, bottom = BOX
            inside = (x <= columns) & (columns < right) & (y <= rows) & (rows < bottom)
            for shown, target in zip(inside, found, strict=True):
                expected = [0, 0, *reversed(shown.shape)]
                assert target["boxes"][-1].tolist() == expected  # of the whole image
                down, across = torch.nonzero(shown, as_tuple=True)
                if not len(down):
                    assert target["labels"].tolist() == [5]
                    dropped += 1
                    continue
                corners = [across.min(), down.min(), across.max() + 1, down.max() + 1]
                assert target["boxes"][0].tolist() == list(map(int, corners))
                assert target["labels"].tolist() == [4, 5]
    assert dropped


def test_each_view_has_what_a_loader_of_its_own_gives(places: Path) -> None:
    first, second = RandomResizedCrop((20, 12)), RandomResizedCrop(15, scale=(0.1, 0.4))
    fields = ("image", "mask.png", "near.jpg?", Boxes("json", labels="labels"), "json", "index")
    together = epoch(places, views=[[first], [second]], fields=fields)
    alone = [
        epoch(places, transforms=[first], fields=fields),
        epoch(places, transforms=[Skip(first), second], fields=fields),
    ]
    for batch, *single in zip(together, *alone, strict=True):
        for view, expected in enumerate(single):
            found = [*(field[view] for field in batch[:4]), *batch[4:]]
            torch.testing.assert_close(found, list(expected), rtol=0, atol=0)


def test_map_sample_changes_each_view_and_may_make_one_of_them(places: Path) -> None:
    options: dict[str, Any] = {
        "transforms": [RandomPart(5, 20)],
        "views": 2,
        "fields": ("image", "mask.png", Boxes("json")),
    }
    plain = epoch(places, **options)
    same = epoch(places, map_sample=lambda sample: sample, **options)
    torch.testing.assert_close(same[0][1:], plain[0][1:], rtol=0, atol=0)

    def change(sample: dict[str, Any]) -> dict[str, Any]:
        first, second = sample["image"]
        masks = np.stack(sample["mask.png"])
        return {**sample, "image": [first[:, :7] // 2, second], "mask.png": masks}

    ((images, masks, _),) = epoch(places, map_sample=change, **options)
    assert [tuple(image.shape) for image in images] == [(8, 3, 5, 7), (8, 3, 5, 20)]
    assert torch.equal(images[0], plain[0][0][0][..., :7] // 2)
    assert torch.equal(masks, torch.stack(plain[0][1], dim=1))


def test_a_sample_that_map_sample_leaves_without_its_views_is_named(packed: Path) -> None:
    def change(sample: dict[str, Any]) -> dict[str, Any]:
        return sample | {"image": sample["image"][: 2 - (sample["index"] == 5)]}

    with pytest.raises(SampleError, match=r"its image is not a list of 2 views.* collate_fn="):
        epoch(
            packed,
            transforms=[CenterCrop(8)],
            views=2,
            fields=("image", "index"),
            map_sample=change,
        )


def test_pad_collate_batches_each_view(places: Path) -> None:
    options: dict[str, Any] = {
        "transforms": [RandomPart(8, 9)],
        "views": 2,
        "fields": ("image", "mask.png", Boxes("json"), "near.jpg?", "index"),
    }
    plain = epoch(places, **options)
    padded = epoch(places, collate_fn=reader.pad_collate, **options)
    torch.testing.assert_close(padded, plain, rtol=0, atol=0)
