"""Groups of samples that are alike."""

import numpy as np
import pytest

pytest.importorskip("scipy", reason="the extra `report` is not installed")

from packer.inspect.report.copies import alike, same


def test_samples_of_equal_columns_are_a_group() -> None:
    groups = same(np.array([5, 1, 5, 2, 1, 5]), np.array([0, 3, 0, 3, 4, 1]))
    assert [group.tolist() for group in groups] == [[0, 2]]


def test_a_group_tells_whether_its_samples_differ_in_something_else() -> None:
    groups = same(np.array([1, 2, 1, 2]))
    assert groups.differ(np.array([0, 7, 1, 7])).tolist() == [True, False]
    assert [group.tolist() for group in groups.where(np.array([False, True]))] == [[1, 3]]


def test_no_samples_are_no_groups() -> None:
    nothing = np.zeros(0, np.int64)
    assert len(same(nothing)) == 0
    hashes = np.zeros(0, np.uint64)
    assert len(alike(nothing, hashes, hashes, np.zeros((0, 256), np.uint8))) == 0


def test_every_pair_that_differs_in_four_bits_is_found() -> None:
    rng = np.random.default_rng(0)
    hashes = rng.integers(0, 2**63, 400).astype(np.uint64)
    copies = hashes.copy()
    for at in range(400):
        for bit in rng.choice(64, 4, replace=False).tolist():
            copies[at] ^= np.uint64(1 << bit)
    both = np.concatenate([hashes, copies])
    groups = alike(np.arange(800), both, ~both, np.zeros((800, 256), np.uint8))
    assert sorted(sorted(group.tolist()) for group in groups) == [[n, n + 400] for n in range(400)]


def test_equal_hashes_of_different_pictures_are_not_alike() -> None:
    tiny = np.stack([np.zeros(256, np.uint8), np.full(256, 90, np.uint8)])
    same = np.zeros(2, np.uint64)
    assert len(alike(np.arange(2), same, ~same, tiny)) == 0


def test_a_mirror_image_is_alike_and_one_that_is_like_its_own_is_no_pair() -> None:
    rng = np.random.default_rng(0)
    tiny = rng.integers(0, 255, (3, 16, 16)).astype(np.uint8)
    tiny[1], tiny[2, :, 8:] = tiny[0, :, ::-1], tiny[2, :, 7::-1]
    hashes = np.array([7, 2**40, 2**60], np.uint64)
    mirrored = hashes[[1, 0, 2]]
    groups = alike(np.arange(3), hashes, mirrored, tiny.reshape(3, -1))
    assert [sorted(group.tolist()) for group in groups] == [[0, 1]]
