"""Each operation gives the pixels that Pillow gives, also for grey images."""

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from delivered import CROP, only
from numpy.typing import NDArray
from PIL import Image
from pillow_changes import CHANGES, turned_hue

import reader
from reader import Dataset

COUNT = 39


def shown(packed: Path, channels: Any, *transforms: Any) -> NDArray[np.int64]:
    """Return the images of a batch, (N, height, width, channels)."""
    dataset = Dataset(packed, channels=channels)
    images = only(dataset, batch_size=COUNT, transforms=[CROP, *transforms], fields=("image",))[0]
    return images.permute(0, 2, 3, 1).numpy().astype(np.int64)


@cache
def plain(packed: Path, channels: int) -> list[Image.Image]:
    pixels = shown(packed, channels).astype(np.uint8)
    return [Image.fromarray(one if channels == 3 else one[..., 0]) for one in pixels]


def changed(packed: Path, channels: int, change: Any) -> NDArray[np.int64]:
    found = np.stack([np.asarray(change(image), np.int64) for image in plain(packed, channels)])
    return found.reshape(*found.shape[:3], channels)


@pytest.mark.parametrize("channels", [3, 1])
@pytest.mark.parametrize("name", CHANGES)
def test_pixels_change_as_pillow_changes_them(packed: Path, name: str, channels: int) -> None:
    transform, change, levels = CHANGES[name]
    difference = np.abs(shown(packed, channels, transform) - changed(packed, channels, change))
    assert difference.max() <= levels


@pytest.mark.parametrize("factor", [-0.5, -0.1, 0.05, 0.3])
def test_a_hue_differs_from_pillows_by_about_a_level_in_the_mean(
    packed: Path, factor: float
) -> None:
    transform = reader.ColorJitter(hue=(factor, factor))
    difference = np.abs(shown(packed, 3, transform) - changed(packed, 3, turned_hue(factor)))
    assert difference.mean() < 1.3  # of photographs, which are less colourful, 0.3
    assert np.array_equal(shown(packed, 1, transform), shown(packed, 1))


def test_channels_change_their_places_in_every_order(packed: Path) -> None:
    before, after = shown(packed, 3), shown(packed, 3, reader.RandomChannelPermutation())
    orders = [(a, b, 3 - a - b) for a in range(3) for b in range(3) if a != b]
    found = [
        next(order for order in orders if np.array_equal(one[..., order], other))
        for one, other in zip(before, after, strict=True)
    ]
    assert len(set(found)) == len(orders)
    grey = shown(packed, 1, reader.RandomChannelPermutation())
    assert np.array_equal(grey, shown(packed, 1))
