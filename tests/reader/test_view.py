"""Several views of each image: independent augmentations of one read."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from reader import (
    CenterCrop,
    Geometry,
    Loader,
    RandomHorizontalFlip,
    RandomResizedCrop,
    ReaderError,
    Resize,
    Transform,
)
from reader.order import SampleRandom


class RandomPart:
    """A part of the image in its own pixels, somewhere, maybe mirrored."""

    def __init__(self, height: int, width: int) -> None:
        self.size = height, width

    def apply(self, geometry: Geometry, dice: SampleRandom) -> None:
        height, width = self.size
        top, left = dice.integer(geometry.height - height + 1), dice.integer(geometry.width - width)
        geometry.crop(top, left, height, width)
        geometry.hflip = dice.uniform() < 0.5


class Skip:
    """Draws what another transform would, and leaves the image alone."""

    def __init__(self, transform: Transform) -> None:
        self.transform = transform

    def apply(self, geometry: Geometry, dice: SampleRandom) -> None:
        self.transform.apply(Geometry.of(geometry.height, geometry.width), dice)


class Outside:
    """A grey box far from the image."""

    def apply(self, geometry: Geometry, dice: SampleRandom) -> None:
        geometry.fill = 9
        geometry.crop(1000, 1000, 4, 4)


def epoch(dataset: Path, **options: Any) -> list[Any]:
    with Loader(dataset, batch_size=8, workers=1, **options) as loader:
        return list(loader)


@pytest.mark.parametrize("height", [8, 30])
def test_each_view_is_the_image_under_its_own_augmentation(packed: Path, height: int) -> None:
    first, second = RandomPart(height, 31), RandomPart(20, 17)
    together = epoch(packed, views=[[first], [second]])
    alone = [epoch(packed, transforms=[first]), epoch(packed, transforms=[Skip(first), second])]
    for (views, label), *single in zip(together, *alone, strict=True):
        assert [tuple(view.shape[1:]) for view in views] == [(3, height, 31), (3, 20, 17)]
        for view, (image, expected_label) in zip(views, single, strict=True):
            assert torch.equal(view, image)
            assert torch.equal(label, expected_label)


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


def test_collate_fn_and_map_sample_get_the_views_of_each_sample(packed: Path) -> None:
    options: dict[str, Any] = {"transforms": [RandomPart(8, 9)], "views": 2}
    for map_sample in (None, lambda sample: sample):
        samples = epoch(packed, collate_fn=lambda s: s, map_sample=map_sample, **options)[0]
        assert len(samples) == 8
        for views, _ in samples:
            assert [tuple(view.shape) for view in views] == [(3, 8, 9)] * 2


@pytest.mark.parametrize(
    ("options", "reason"),
    [
        ({"views": 0}, "at least 1"),
        ({"views": [[Resize(8)]], "transforms": [CenterCrop(8)]}, "without transforms"),
        ({"views": 2}, "one size"),
        ({"views": [[CenterCrop(8)], [Resize(8)]]}, "one size"),
        ({"views": [CenterCrop(8)]}, "list of reader's transforms"),
    ],
)
def test_views_that_cannot_be_are_refused(
    packed: Path, options: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ReaderError, match=reason):
        Loader(packed, **options)


def test_masks_do_not_go_with_several_views(
    write_samples: Callable[..., Path], make_image: Any, encode: Any
) -> None:
    data = encode(make_image(0), "PNG")
    dataset = write_samples({"a": {"png": data, "mask.png": data}})
    with pytest.raises(ReaderError, match="one view"):
        Loader(dataset, transforms=[CenterCrop(8)], views=2, fields=("image", "mask.png"))
