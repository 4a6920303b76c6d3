"""Batch samplers: lists of sample numbers, of varying length, decide what is in each batch."""

import itertools
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from delivered import AUGMENT, COUNT, damage
from torch.utils.data import BatchSampler, DataLoader, Dataset, DistributedSampler

import reader
from reader import ArgumentError, Loader


class Growing:
    """Another cut of another order in every epoch, its batches of 1 to 8 samples, 10 of them."""

    def __init__(self) -> None:
        self.epoch = 0

    def set_epoch(self, epoch: int) -> None:
        self.epoch = epoch

    def __len__(self) -> int:
        return 10

    def __iter__(self) -> Iterator[list[int]]:
        rng = np.random.default_rng(self.epoch)
        cuts = np.sort(rng.choice(np.arange(1, COUNT), len(self) - 1, replace=False))
        yield from (part.tolist() for part in np.split(rng.permutation(COUNT), cuts))


def load(folder: Any, batch_sampler: Any, **options: Any) -> Loader:
    given = {"workers": 0, "transforms": AUGMENT, "fields": ("index", "image"), **options}
    return Loader(folder, batch_sampler=batch_sampler, **given)


def numbers(loader: Any) -> list[list[int]]:
    return [index.tolist() for index, *_ in loader]


class Numbers(Dataset[int]):
    """Sample i is i."""

    def __len__(self) -> int:
        return COUNT

    def __getitem__(self, number: int) -> int:
        return number


def test_a_loader_reads_the_batches_that_a_data_loader_reads(packed: Path) -> None:
    theirs, sampler = DataLoader(Numbers(), batch_sampler=Growing()), Growing()
    with load(packed, sampler, batch_size=COUNT) as loader:
        assert (len(loader), loader.batch_size, loader.drop_last) == (len(theirs), None, False)
        assert loader.batch_sampler is sampler
        assert "10 steps of up to 39 samples, batch_sampler=Growing of 10 batches" in repr(loader)
        for epoch in (0, 1, 5, 2):
            theirs.batch_sampler.set_epoch(epoch)
            sampler.set_epoch(epoch)
            expected = [batch.tolist() for batch in theirs]
            assert [len(batch) for batch in expected] != [len(expected[0])] * len(expected)
            assert list(loader.sampler) == list(itertools.chain(*expected))
            assert numbers(loader) == expected


@pytest.mark.parametrize(("done", "workers"), [(4, 2), (13, 0)])
def test_it_goes_on_in_mid_epoch_with_the_same_pixels(
    packed: Path, done: int, workers: int
) -> None:
    options = {"workers": workers, "batch_size": COUNT, "seed": 3}
    with load(packed, Growing(), **options) as loader:
        whole = [batch for _ in range(2) for batch in loader]
    with load(packed, Growing(), **options) as loader:
        batches = itertools.chain.from_iterable(loader for _ in range(2))
        first = list(itertools.islice(batches, done))
        state = loader.state_dict()
        assert state["epoch"] == done // 10
    with load(packed, Growing(), **options) as loader:
        loader.load_state_dict(state)
        rest = [batch for _ in range(2 - done // 10) for batch in loader]
    for (index, image), (expected, pixels) in zip([*first, *rest], whole, strict=True):
        assert index.tolist() == expected.tolist()
        assert torch.equal(image, pixels)


def test_what_it_gives_is_what_this_rank_reads(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen = []
    for rank in range(2):
        monkeypatch.setenv("RANK", str(rank))
        monkeypatch.setenv("WORLD_SIZE", "2")
        shares = DistributedSampler(range(COUNT), num_replicas=2, rank=rank)
        sampler = BatchSampler(shares, batch_size=3, drop_last=False)
        with load(packed, sampler) as loader:
            for epoch in (3, 0, 1):  # which the sampler in the batch sampler is told
                loader.set_epoch(epoch)
                found = numbers(loader)
                twin = DistributedSampler(range(COUNT), num_replicas=2, rank=rank)
                twin.set_epoch(epoch)
                assert found == list(BatchSampler(twin, batch_size=3, drop_last=False))
            seen += list(itertools.chain(*found))
    assert set(seen) == set(range(COUNT))
    assert len(seen) == COUNT + 1  # padded by the sampler


class Changing:
    """In the second epoch it gives what is wrong."""

    def __init__(self, second: Sequence[Any]) -> None:
        self._epochs = [[[1], [2, 3]], second]

    def __len__(self) -> int:
        return 2

    def __iter__(self) -> Iterator[Any]:
        return iter(self._epochs.pop(0) if len(self._epochs) > 1 else self._epochs[0])


@pytest.mark.parametrize(
    ("second", "reason"),
    [
        ([[1], [2, 3, 4]], "a batch of 3 samples, .* Set batch_size=3"),
        ([[1]], "The batch_sampler has length 2 and gave 1"),
        ([[1], [2], [3]], "The batch_sampler has length 2 and gave more"),
        ([[1], [COUNT]], f"The batch_sampler yields sample {COUNT}"),
    ],
    ids=str,
)
def test_a_later_epoch_that_is_wrong_is_refused_when_it_begins(
    packed: Path, second: Sequence[Any], reason: str
) -> None:
    with load(packed, Changing(second)) as loader:
        assert numbers(loader) == [[1], [2, 3]]
        for _ in range(2):
            with pytest.raises(ArgumentError, match=reason):
                iter(loader)


def test_batch_size_makes_room_for_longer_batches(packed: Path) -> None:
    with load(packed, Changing([[1], [2, 3, 4]]), batch_size=3) as loader:
        assert [numbers(loader) for _ in range(2)] == [[[1], [2, 3]], [[1], [2, 3, 4]]]


def test_a_bad_sample_is_replaced_by_one_that_follows(packed_copy: Path) -> None:
    damage(packed_copy, 7)
    options = {"on_error": "substitute", "max_bad": 0.2}
    with load(packed_copy, [[1, 2, 3], [7], [8], [9, 10]], **options) as loader:
        assert numbers(loader) == [[1, 2, 3], [8], [8], [9, 10]]


def test_padding_is_counted_in_the_batches_as_they_are(packed: Path) -> None:
    dataset = reader.Dataset(packed)
    areas = np.array([np.prod(dataset[number][0].shape[:2]) for number in range(COUNT)])
    options: dict[str, Any] = {"collate_fn": reader.pad_collate, "workers": 0}
    with Loader(dataset, batch_sampler=[[n] for n in range(COUNT)], **options) as loader:
        assert loader.padding_waste() == 0
    with Loader(dataset, batch_sampler=[[0, 1], [2]], **options) as loader:
        room = sum(image.shape[0] * image.shape[2] * image.shape[3] for image, _ in loader)
        assert loader.padding_waste() == pytest.approx(1 - areas[:3].sum() / room)
