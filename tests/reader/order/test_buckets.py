"""Batches of like aspect ratio: every sample once, in another order each epoch, little padding."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from delivered import load
from made_images import encode, make_image, turned

import reader
from reader import AspectBuckets
from reader.order.buckets import Bucketed


def test_a_batch_has_like_ratios_and_an_epoch_has_an_order_of_its_own() -> None:
    sizes = np.random.default_rng(0).integers(100, 400, (2, 4096))
    ratios = sizes[1] / sizes[0]
    order = Bucketed(sizes, AspectBuckets(32, window=64), 0)
    epochs = [order.samples(np.arange(4096), epoch) for epoch in range(2)]
    assert (epochs[0] != epochs[1]).mean() > 0.9
    batches = ratios[epochs[0]].reshape(-1, 32)
    assert np.ptp(batches, axis=1).mean() < 0.06 * np.ptp(ratios)
    assert np.abs(np.corrcoef(batches.mean(axis=1), np.arange(128))[0, 1]) < 0.3


def test_what_drop_last_leaves_out_differs_from_epoch_to_epoch() -> None:
    sizes = np.stack([np.full(35, 10), np.arange(1, 36)])
    order = Bucketed(sizes, AspectBuckets(8), 0)  # one window of four batches
    left_out = [order.samples(np.arange(32, 35), epoch).tolist() for epoch in range(40)]
    assert len({number for numbers in left_out for number in numbers}) > 20


@pytest.fixture
def pictures(make_dataset: Callable[..., Path]) -> Path:
    sizes = np.random.default_rng(1).integers(20, 90, (64, 2)).tolist()
    return make_dataset(
        {f"{n:02d}.png": encode(make_image(n, *size), "PNG") for n, size in enumerate(sizes)}
    )


def test_bucketed_batches_waste_less_when_they_are_padded(pictures: Path) -> None:
    options = {"transforms": [reader.Resize(longest=64)], "collate_fn": reader.pad_collate}
    wasted = []
    for shuffle in (True, AspectBuckets(8)):
        given = {"batch_size": 8, "fields": ("image", "index"), "shuffle": shuffle, **options}
        with load(pictures, **given) as loader:
            batches = list(loader)
            assert sorted(n for _, index in batches for n in index.tolist()) == list(range(64))
            assert max(max(image.shape[2:]) for image, _ in batches) == 64
            room = sum(image[:, 0].numel() for image, _ in batches)
            sizes = np.array([loader.dataset[number][0].shape[:2] for number in range(64)])
            shown = (sizes * 64 / sizes.max(axis=1, keepdims=True)).round().prod(axis=1).sum()
            assert loader.padding_waste() == pytest.approx(1 - shown / room)
            wasted.append(loader.padding_waste())
    assert wasted[1] < 0.5 * wasted[0]


def test_the_ratios_are_those_of_the_upright_images(make_dataset: Callable[..., Path]) -> None:
    files = {}
    for number in range(16):  # all are lying rectangles, seen upright
        size, exif = ((40, 20), turned(6)) if number % 2 else ((20, 40), turned(1))
        files[f"{number:02d}.png"] = encode(make_image(number, *size), "PNG", exif=exif)
    with load(make_dataset(files), shuffle=AspectBuckets(4), transforms=()) as loader:
        assert loader.padding_waste() == 0
