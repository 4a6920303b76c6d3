"""`Dataset.webdataset()`: what code written for the webdataset library finds."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from reader import Dataset

wds = pytest.importorskip("webdataset")
pytestmark = [
    pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning"),  # fewer cores
    pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning"),
]


def keys(samples: Any) -> list[str]:
    return [sample["__key__"] for sample in samples]


@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")  # which it leaves open
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_sample_is_what_webdataset_reads_from_the_tars(packed: Path) -> None:
    urls = sorted(map(str, packed.glob("*.tar")))
    theirs = {sample["__key__"]: sample for sample in wds.WebDataset(urls, shardshuffle=False)}
    for sample in Dataset(packed).webdataset():
        other = theirs.pop(sample["__key__"])
        other.pop("__local_path__")
        assert sample == other
    assert not theirs


def test_decoding_is_webdatasets_own(packed: Path) -> None:
    dataset = Dataset(packed)
    pairs = dataset.webdataset().decode("rgb8").to_tuple("jpg;png", "cls")
    for (image, label), (expected, number) in zip(pairs, dataset, strict=True):
        assert label == number
        assert image.shape == expected.shape
        assert np.abs(image.astype(int) - expected).mean() < 2  # another decoder


def test_a_subset_has_its_own_samples_in_its_own_order(packed: Path) -> None:
    dataset = Dataset(packed)
    chosen = [30, 2, 17]
    assert keys(dataset.subset(chosen).webdataset()) == [dataset.keys[n] for n in chosen]


@pytest.mark.parametrize("shuffle", [False, True])
def test_every_sample_comes_once_over_two_nodes_with_two_workers_each(
    packed: Path, monkeypatch: pytest.MonkeyPatch, shuffle: bool
) -> None:
    dataset = Dataset(packed).subset(range(10))  # fewer shards than workers
    monkeypatch.setenv("WORLD_SIZE", "2")
    epochs: list[list[str]] = []
    for _ in range(2):
        found = []
        for rank in ("0", "1"):
            monkeypatch.setenv("RANK", rank)
            loader = wds.WebLoader(dataset.webdataset(shuffle), batch_size=None, num_workers=2)
            found.append(keys(loader))
        assert [len(own) for own in found] == [6, 4]
        epochs.append([*found[0], *found[1]])
    assert all(sorted(epoch) == sorted(dataset.keys) for epoch in epochs)
    assert any(epoch != epochs[0] for epoch in epochs) is shuffle


def test_an_epoch_may_have_another_length_as_webdataset_sets_it(packed: Path) -> None:
    pipeline = Dataset(packed).webdataset().with_epoch(50)
    assert len(keys(pipeline)) == 50
