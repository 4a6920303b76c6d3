"""The arrays of a batch, which a first sample tells in the consumer's own process."""

import random
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from delivered import CROP, EVERYTHING, epoch_of, only
from made_images import encode, make_image
from PIL import Image

from reader import CenterCrop, Dataset, Loader, Mask, RandomResizedCrop, Resize, WorkerError
from reader.batch.layout import BatchArrays
from reader.fields.columns import BatchSchema, ImageColumn, StoredBatch

pytestmark = pytest.mark.usefixtures("no_leftovers")


def test_images_lie_in_channels_last_memory_and_the_types_are_as_promised(packed: Path) -> None:
    with Loader(packed, batch_size=5, workers=0, transforms=[CROP], fields=EVERYTHING) as loader:
        image, label, index, valid, key = next(iter(loader))
    assert image.shape == (5, 3, 48, 64)
    assert image.is_contiguous(memory_format=torch.channels_last)
    assert (image.dtype, label.dtype, index.dtype) == (torch.uint8, torch.int64, torch.int64)
    assert (valid.dtype, valid.shape) == (torch.bool, (5,))
    assert isinstance(key, list)


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
    for transform in (CenterCrop((3, 16)), Resize((24, 24)), RandomResizedCrop(24, antialias=True)):
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


@pytest.fixture
def arrays() -> BatchArrays:
    layout = BatchSchema.of_images(3, (4, 6)).layout
    return layout.arrays(np.zeros(layout.slot_bytes, np.uint8))


def test_an_image_smaller_than_its_row_is_given_in_its_own_shape(
    arrays: BatchArrays, packed: Path
) -> None:
    column = ImageColumn.of("image", (4, 6), is_listed=True)
    for row, (height, width) in enumerate([(2, 3), (4, 6), (6, 4)]):
        out = column.out(arrays, row, (height, width))
        assert out is not None
        out[:] = row + 1
        arrays["shape"][row] = height, width
    images = column.deliver(StoredBatch(3, arrays, {}, Dataset(packed)))
    assert [tuple(image.shape) for image in images] == [(3, 2, 3), (3, 4, 6), (3, 6, 4)]
    assert [int(image.min()) for image in images] == [1, 2, 3]
    assert [int(image.max()) for image in images] == [1, 2, 3]


def test_an_image_larger_than_its_row_is_refused(arrays: BatchArrays) -> None:
    with pytest.raises(ValueError, match="5 x 6"):
        ImageColumn.of("image", (4, 6)).out(arrays, 0, (5, 6))
