"""A dataset that is packed again while it is open is not taken for a damaged one."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

import packer
import reader


@pytest.fixture
def pack_again(source: Path, packed_copy: Path) -> Callable[[], None]:
    """`pack_again()`: what is open becomes shards of other samples."""

    def pack() -> None:
        packer.pack(source, packed_copy, overwrite=True, shard_samples=12, jobs=1, progress=False)

    return pack


@pytest.mark.parametrize("fields", [("image",), ("key",)])
@pytest.mark.parametrize("workers", [0, 1])
def test_a_loader_says_that_its_dataset_was_packed_again(
    packed_copy: Path, pack_again: Callable[[], None], workers: int, fields: tuple[str, ...]
) -> None:
    transforms = [reader.Resize((8, 8))]
    more = {"workers": workers, "batches_ahead": 2, "fields": fields}
    with reader.Loader(packed_copy, batch_size=5, transforms=transforms, **more) as loader:
        batches = iter(loader)
        next(batches)
        pack_again()
        told = r"was packed again .* make a new reader.D"
        if workers:  # they read ahead, also while it is packed
            told += "|is not a dataset yet: .* is still running"
        with pytest.raises(reader.SampleError, match=told):
            list(batches)
    assert reader.Dataset(packed_copy)[38]


def test_a_dataset_says_that_it_was_packed_again(
    packed_copy: Path, pack_again: Callable[[], None]
) -> None:
    dataset = reader.Dataset(packed_copy)
    pack_again()
    for look in (lambda: dataset[0], lambda: dataset.labels):
        with pytest.raises(reader.ReaderError, match="was packed again") as caught:
            look()
        assert "packer repair" not in str(caught.value)


def test_a_dataset_says_that_it_is_being_packed_again(packed_copy: Path) -> None:
    dataset = reader.Dataset(packed_copy)
    (packed_copy / "dataset.json").rename(packed_copy / ".packing.json")
    for path in packed_copy.glob("shard-*"):
        path.unlink()
    wanted = rf"{re.escape(str(packed_copy))} is not a dataset yet: .* is still running"
    with pytest.raises(reader.ReaderError, match=wanted):
        dataset[0]
