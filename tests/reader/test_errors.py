"""Samples that cannot be read, under each policy."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reader import CenterCrop, Dataset, Loader, ReaderError, SampleError

COUNT = 39
BAD = [4, 17, 18, 38]


@pytest.fixture
def damaged(packed_copy: Path) -> Path:
    """A data set in which the samples `BAD` do not decode."""
    dataset = Dataset(packed_copy)
    for number in BAD:
        shard, row = dataset.locate(number)
        offset, size = (int(shard.index.columns[name][row]) for name in ("offset", "size"))
        with shard.path.open("r+b") as file:
            file.seek(offset)
            file.write(bytes(size))
    return packed_copy


def load(folder: Path, **options: Any) -> Loader:
    fields = ("image", "label", "index", "valid")
    arguments = {"batch_size": 8, "workers": 2, "transforms": [CenterCrop(16)], "fields": fields}
    return Loader(folder, **{**arguments, **options})


def test_masked_samples_are_black_and_not_valid(damaged: Path) -> None:
    with load(damaged, on_error="mask", max_bad=0.2) as loader:
        rows = [row for batch in loader for row in zip(*batch, strict=True)]
        assert [int(index) for _, _, index, _ in rows] == list(range(COUNT))
        for image, label, index, valid in rows:
            is_bad = int(index) in BAD
            assert bool(valid) is not is_bad
            assert (int(label) == -1) is is_bad
            assert bool(image.any()) is not is_bad
        assert sorted(loader.bad_samples) == BAD
        assert loader.statistics().bad == len(BAD)
        for number, reason in loader.bad_samples.items():
            assert repr(loader.dataset.keys[number]) in reason


def test_substitutes_are_the_next_samples_that_can_be_read(damaged: Path) -> None:
    with load(damaged, on_error="substitute", max_bad=0.2) as loader:
        batches = list(loader)
        index = np.concatenate([batch[2].numpy() for batch in batches])
        labels = np.concatenate([batch[1].numpy() for batch in batches])
        expected = [{4: 5, 17: 19, 18: 19, 38: 0}.get(n, n) for n in range(COUNT)]
        assert index.tolist() == expected
        assert labels.tolist() == loader.dataset.labels[expected].tolist()
        assert all(batch[3].all() for batch in batches)
        assert sorted(loader.bad_samples) == BAD


@pytest.mark.parametrize("policy", ["mask", "substitute"])
def test_policies_give_the_same_with_any_number_of_workers(damaged: Path, policy: str) -> None:
    def epoch(workers: int) -> list[bytes]:
        with load(damaged, on_error=policy, max_bad=0.2, workers=workers, shuffle=True) as loader:
            return [array.numpy().tobytes() for batch in loader for array in batch]

    assert epoch(1) == epoch(3)


def test_more_bad_samples_than_allowed_are_an_error(damaged: Path) -> None:
    with (
        load(damaged, on_error="mask", max_bad=0.05) as loader,
        pytest.raises(SampleError, match="more than max_bad"),
    ):
        list(loader)


def test_by_default_a_bad_sample_is_raised(damaged: Path) -> None:
    with load(damaged) as loader, pytest.raises(SampleError, match="shard-"):
        list(loader)


def test_an_unknown_policy_is_refused(packed: Path) -> None:
    with pytest.raises(ReaderError, match="ignore"):
        load(packed, on_error="ignore")
