"""The arrays of a batch, which a first sample tells in the consumer's own process."""

import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from delivered import COUNT, CROP, EVERYTHING, epoch_of, indexes, only
from made_images import encode, make_image
from PIL import Image

from reader import CenterCrop, Dataset, Loader, Mask, RandomResizedCrop, Resize, WorkerError

pytestmark = pytest.mark.usefixtures("no_leftovers")


def test_images_lie_in_channels_last_memory_and_the_types_are_as_promised(packed: Path) -> None:
    with Loader(packed, batch_size=5, workers=0, transforms=[CROP], fields=EVERYTHING) as loader:
        image, label, index, valid, key = next(iter(loader))
    assert image.shape == (5, 3, 48, 64)
    assert image.is_contiguous(memory_format=torch.channels_last)
    assert (image.dtype, label.dtype, index.dtype) == (torch.uint8, torch.int64, torch.int64)
    assert (valid.dtype, valid.shape) == (torch.bool, (5,))
    assert isinstance(key, list)


def test_images_of_different_sizes_come_as_a_list(packed: Path) -> None:
    dataset = Dataset(packed)
    seen = epoch_of(packed, batch_size=8, workers=2, shuffle=True, fields=EVERYTHING)
    assert sorted(indexes(seen, 2)) == list(range(COUNT))
    for images, _, index, _, _ in seen:
        assert isinstance(images, list)
        for image, number in zip(images, index.tolist(), strict=True):
            assert np.array_equal(image.permute(1, 2, 0).numpy(), dataset[number][0])


def test_images_of_one_size_come_as_one_tensor_without_transforms(
    make_dataset: Callable[..., Path],
) -> None:
    images = [make_image(seed, 20, 30) for seed in range(5)]
    folder = make_dataset({f"{n}.png": encode(image, "PNG") for n, image in enumerate(images)})
    seen, label = only(folder, batch_size=5)
    assert torch.equal(seen, torch.from_numpy(np.stack(images)).permute(0, 3, 1, 2))
    assert label.tolist() == [-1] * 5


def test_a_map_sample_that_hangs_in_the_constructor_is_ended_by_the_timeout(packed: Path) -> None:
    let_go = threading.Event()
    options = {"map_sample": lambda sample: let_go.wait() and sample, "timeout": 0.2}
    before, threads = random.getstate(), set(threading.enumerate())
    try:
        with pytest.raises(WorkerError, match=r"sample 0 '.*' of .* longer than timeout=0\.2"):
            Loader(packed, transforms=[CROP], workers=1, **options)
        assert random.getstate() == before
    finally:
        let_go.set()
        for thread in set(threading.enumerate()) - threads:
            thread.join()  # which closes the shard that it has open


def test_a_timeout_leaves_what_map_sample_gives_and_raises_as_it_is(packed: Path) -> None:
    def throw(sample: dict[str, Any]) -> dict[str, Any]:
        return sample | {"label": sample["label"] + random.random()}

    def fail(sample: dict[str, Any]) -> dict[str, Any]:
        raise TimeoutError("of its own")

    seen = []
    for timeout in (0, 60):
        options: dict[str, Any] = {"timeout": timeout, "transforms": [CROP], "workers": 1}
        with Loader(packed, batch_size=39, map_sample=throw, **options) as loader:
            seen.append(next(iter(loader))[1].tolist())
        with pytest.raises(TimeoutError, match="of its own"):
            Loader(packed, map_sample=fail, **options)
    assert seen[0] == seen[1]


def test_a_batch_of_one_sample_is_a_tensor_whatever_its_size(varied_pictures: Path) -> None:
    fields = ("image", "mask.png", "right.png", "label")
    single = epoch_of(varied_pictures, fields=fields)
    images, masks, rights, _ = only(varied_pictures, batch_size=5, fields=fields)
    assert all(isinstance(values, list) for values in (images, masks, rights))
    assert len({image.shape for image in images}) == 5
    for number, (image, mask, right, label) in enumerate(single):
        assert image.shape == (1, 3, 20 + number, 30)
        assert torch.equal(image[0], images[number])
        assert mask.shape == (1, 20 + number, 30)
        assert torch.equal(mask[0], masks[number])
        assert torch.equal(right[0], rights[number])
        assert label.shape == (1,)

    def halved(sample: dict[str, Any]) -> dict[str, Any]:
        return sample | {"image": sample["image"][::2]}

    with Loader(varied_pictures, workers=0, map_sample=halved) as loader:
        assert [image.shape[:2] for image, _ in loader] == [(1, 3)] * 5


def test_further_pictures_arrive_as_the_image_does(varied_pictures: Path) -> None:
    fields = ("image", "right.png", "near.jpg", "far.webp?", "depth.png")
    options: dict[str, Any] = {"batch_size": 5, "workers": 0, "fields": fields}
    for transform in (CenterCrop((3, 16)), Resize((24, 24)), RandomResizedCrop(24)):
        image, right, near, far, depth = only(varied_pictures, transforms=[transform], **options)
        assert image.shape == right.shape == near.shape
        assert [picture.shape for picture in far] == [image.shape[1:]] * 5
        assert torch.equal(right, image), "the same picture, resized in the same way"
        assert depth.shape == (5, *image.shape[2:])
        assert depth.dtype == torch.uint16
    same = [CenterCrop(16)]
    image, right, *_ = only(varied_pictures, transforms=same, map_sample=lambda s: s, **options)
    assert right.shape == (5, 3, 16, 16)
    assert torch.equal(right, image)
    _, rights, *_ = only(varied_pictures, transforms=same, views=2, **options)
    assert [view.shape for view in rights] == [(5, 3, 16, 16)] * 2
    masks: Any = {**options, "fields": (Mask("right.png"), "labels.png")}
    right, labels = only(varied_pictures, transforms=same, **masks)
    assert right.shape == labels.shape == (5, 16, 16, 3), "a Mask holds values, whatever colours"


@pytest.fixture
def varied_pictures(write_samples: Callable[..., Path]) -> Path:
    """Five PNGs of different heights, each with pictures beside it."""
    samples = {}
    for number in range(5):
        image = make_image(number, 20 + number, 30)
        grey = image.convert("L")
        depth = Image.fromarray(np.asarray(grey).astype(np.uint16) * 200)
        samples[f"s{number}"] = {
            "png": encode(image, "PNG"),
            "right.png": encode(image, "PNG"),
            "near.jpg": encode(image, "JPEG"),
            "far.webp": encode(image, "WEBP"),
            "mask.png": encode(grey, "PNG"),
            "depth.png": encode(depth, "PNG"),
            "labels.png": encode(image, "PNG"),
        }
    return write_samples(samples)
