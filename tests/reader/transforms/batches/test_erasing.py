"""Boxes are erased of float batches, with torchvision's law, the same in any batch."""

import math
import random
from typing import Any

import numpy as np
import pytest
import torch

from reader.transforms.batches.erasing import BatchErasing, Boxes, Rows

COUNT = 4000
SIZE = (32, 48)


def rows_of(count: int, first: int = 0, epoch: int = 3) -> Rows:
    return Rows(7, np.full(count, epoch), np.arange(first, first + count))


def drawn(erasing: BatchErasing, rows: Rows) -> list[Boxes]:
    return list(erasing.draw(np.tile(SIZE, (len(rows.positions), 1)), rows))


def theirs(erasing: BatchErasing, number: int) -> list[tuple[int, ...]]:
    """The boxes of one image, as torchvision and timm draw them."""
    rng = random.Random(number)
    if rng.random() >= erasing.p:
        return []
    height, width = SIZE
    count = rng.randint(*erasing.counts)
    found: list[tuple[int, ...]] = []
    for _ in range(count):
        for _ in range(10):
            area = rng.uniform(*erasing.scale) * height * width / count
            aspect = math.exp(rng.uniform(*map(math.log, erasing.ratio)))
            tall, wide = round(math.sqrt(area * aspect)), round(math.sqrt(area / aspect))
            if tall < height and wide < width:
                place = rng.randint(0, height - tall), rng.randint(0, width - wide)
                found.append((*place, tall, wide))
                break
    return found


@pytest.mark.parametrize("counts", [(1, 1), (1, 3)], ids=str)
def test_boxes_lie_and_measure_as_torchvisions_and_timms(counts: tuple[int, int]) -> None:
    erasing = BatchErasing(0.7, (0.05, 0.6), (0.3, 3.3), counts)
    boxes = drawn(erasing, rows_of(COUNT))
    places = np.concatenate([each.places for each in boxes])
    expected = [theirs(erasing, number) for number in range(COUNT)]
    of_theirs = np.array([box for each in expected for box in each])
    share = sum(map(bool, expected)) / COUNT
    assert abs(len(np.unique(np.concatenate([one.rows for one in boxes]))) / COUNT - share) < 0.03
    assert abs(len(places) / len(of_theirs) - 1) < 0.05
    for own, their in zip(places.T, of_theirs.T, strict=True):
        values = np.arange(max(SIZE))
        below = [
            np.searchsorted(np.sort(each), values, "right") / len(each) for each in (own, their)
        ]
        assert np.abs(below[0] - below[1]).max() < 1.95 * math.sqrt(2 / len(own))


def test_a_row_has_the_same_boxes_in_any_batch_and_others_in_another_epoch() -> None:
    erasing = BatchErasing(1.0, (0.02, 0.33), (0.3, 3.3), (1, 2))

    def of_position(rows: Rows) -> dict[int, list[Any]]:
        found: dict[int, list[Any]] = {}
        for boxes in drawn(erasing, rows):
            for row, *place in np.column_stack([boxes.rows, boxes.places, boxes.keys]).tolist():
                found.setdefault(int(rows.positions[row]), []).append(place)
        return found

    whole, part = of_position(rows_of(64)), of_position(rows_of(16, first=20))
    assert part == {position: whole[position] for position in range(20, 36)}
    assert of_position(rows_of(64, epoch=4)) != whole
    both = Rows(7, np.array([3, 4] * 8), np.arange(20, 36))
    mixed = of_position(both)
    assert [mixed[at] == part[at] for at in range(20, 36)] == [True, False] * 8


@pytest.mark.parametrize("is_per_pixel", [False, True])
@pytest.mark.parametrize("deviation", [(), (1.0,), (0.5, 1.0, 2.0)], ids=str)
def test_all_images_at_once_are_as_one_by_one(
    deviation: tuple[float, ...], is_per_pixel: bool
) -> None:
    erasing = BatchErasing(
        0.8, (0.02, 0.33), (0.3, 3.3), (2, 2), (0.5, -1.0, 2.0), deviation, is_per_pixel
    )
    singly, at_once = (torch.full((16, 3, *SIZE), 9.0) for _ in range(2))
    for boxes in drawn(erasing, rows_of(16)):
        erasing.apply(singly, boxes)
        erasing.apply_at_once(at_once, boxes)
    assert torch.equal(singly, at_once)
    assert (singly != 9).any()
    if deviation and not is_per_pixel:
        assert len(singly[0, 0].unique()) <= 3


def test_noise_is_standard_normal_in_each_channel_and_of_its_row() -> None:
    erasing = BatchErasing(1.0, (0.9, 0.9), (1.4, 1.5), deviation=(1.0,), is_per_pixel=True)
    images = torch.full((64, 3, 48, 32), math.nan)
    for boxes in erasing.draw(np.tile((48, 32), (64, 1)), rows_of(64)):
        erasing.apply(images, boxes)
    noise = images[~images.isnan().any(1, keepdim=True).expand(images.shape)].reshape(-1)
    assert len(noise) > 100_000
    assert abs(noise.mean()) < 0.01
    assert abs(noise.std() - 1) < 0.01
    assert abs((noise.abs() < 1).double().mean() - 0.6827) < 0.005
    first, second = (image[:, 20:28, 10:18].reshape(3, -1) for image in images[:2])
    pairs = torch.cat([first, second])
    assert torch.corrcoef(pairs).fill_diagonal_(0).abs().max() < 0.5
