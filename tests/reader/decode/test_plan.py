"""Several views of each image: independent augmentations of one read."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from made_images import encode, make_image, turned

import reader
from reader import (
    Boxes,
    CenterCrop,
    Geometry,
    Loader,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResizedCrop,
    SampleError,
    Transform,
)
from reader.rng import SampleRandom


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


@pytest.fixture
def places(write_samples: Callable[..., Path]) -> Path:
    """Images of each orientation, with all that may be over them, and one without a picture."""
    image, mask = make_image(0, 24, 32), make_image(1, 24, 32, "L")
    content = {"boxes": [[4, 3, 28, 21], [0, 0, 32, 24]], "labels": [4, 5]}
    members = {"mask.png": encode(mask, "PNG"), "json": json.dumps(content).encode()}
    samples: dict[str, dict[str, bytes]] = {}
    for number in range(1, 9):
        upright = encode(image, "PNG", exif=turned(number))
        samples[f"s{number}"] = {"png": upright, "near.jpg": encode(image, "JPEG"), **members}
    del samples["s3"]["near.jpg"]
    return write_samples(samples, shard_samples=5)


def test_each_view_has_what_a_loader_of_its_own_gives(places: Path) -> None:
    # Three rows are not channels.
    first, second = RandomResizedCrop((20, 12)), RandomResizedCrop((3, 19), scale=(0.1, 0.4))
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
        "transforms": [RandomCrop((5, 20))],
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
        "transforms": [RandomCrop((8, 9))],
        "views": 2,
        "fields": ("image", "mask.png", Boxes("json"), "near.jpg?", "index"),
    }
    plain = epoch(places, **options)
    padded = epoch(places, collate_fn=reader.pad_collate, **options)
    torch.testing.assert_close(padded, plain, rtol=0, atol=0)
