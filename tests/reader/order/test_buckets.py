"""Batches of like aspect ratio: every sample once, in another order each epoch, little padding."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

import reader
from reader import (
    AspectBuckets,
    Loader,
    ReaderError,
)
from reader.order.buckets import Bucketed


@given(
    count=st.integers(1, 300),
    batch_size=st.integers(1, 40),
    window=st.integers(1, 10),
    seed=st.integers(0, 2**32),
)
@settings(deadline=None, max_examples=60)
def test_every_sample_comes_once_an_epoch_however_it_is_asked_for(
    count: int, batch_size: int, window: int, seed: int
) -> None:
    sizes = np.random.default_rng(seed).integers(100, 400, (2, count))
    order = Bucketed(sizes, AspectBuckets(batch_size, window), seed)
    whole = order.samples(np.arange(count), 3)
    assert sorted(whole.tolist()) == list(range(count))
    parts = [order.samples(part, 3) for part in np.array_split(np.arange(count), 4)]
    assert np.concatenate(parts).tolist() == whole.tolist()


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
def pictures(make_dataset: Callable[..., Path], make_image: Any, encode: Any) -> Path:
    sizes = np.random.default_rng(1).integers(20, 90, (64, 2)).tolist()
    return make_dataset(
        {f"{n:02d}.png": encode(make_image(n, *size), "PNG") for n, size in enumerate(sizes)}
    )


def test_bucketed_batches_waste_less_when_they_are_padded(pictures: Path) -> None:
    options: dict[str, Any] = {
        "batch_size": 8,
        "workers": 0,
        "transforms": [reader.Resize(longest=64)],
        "collate_fn": reader.pad_collate,
        "fields": ("image", "index"),
    }
    wasted = []
    for shuffle in (True, AspectBuckets(8)):
        with Loader(pictures, shuffle=shuffle, **options) as loader:
            batches = list(loader)
            assert sorted(n for _, index in batches for n in index.tolist()) == list(range(64))
            assert max(max(image.shape[2:]) for image, _ in batches) == 64
            pixels = sum(image[:, 0].numel() for image, _ in batches)
            shown = 0
            for number in range(64):
                height, width = loader.dataset[number][0].shape[:2]
                scale = 64 / max(height, width)
                shown += round(height * scale) * round(width * scale)
            assert loader.padding_waste() == pytest.approx(1 - shown / pixels)
            wasted.append(loader.padding_waste())
    assert wasted[1] < 0.5 * wasted[0]


def test_the_ratios_are_those_of_the_upright_images(
    make_dataset: Callable[..., Path], make_image: Any, encode: Any
) -> None:
    files = {}
    for number in range(16):
        exif = Image.Exif()
        exif[0x0112] = 6 if number % 2 else 1
        size = (40, 20) if number % 2 else (20, 40)  # all are lying rectangles, seen upright
        files[f"{number:02d}.png"] = encode(make_image(number, *size), "PNG", exif=exif)
    options: dict[str, Any] = {"batch_size": 4, "workers": 0, "shuffle": AspectBuckets(4)}
    with Loader(make_dataset(files), **options) as loader:
        assert loader.padding_waste() == 0


def test_buckets_that_make_no_sense_are_refused(packed: Path) -> None:
    for batch_size in (0, 4.0, "4"):
        with pytest.raises(ReaderError, match="at least 1"):
            AspectBuckets(batch_size)
    with pytest.raises(ReaderError, match="AspectBuckets"):
        Loader(packed, shuffle="aspect")  # type: ignore[arg-type]
