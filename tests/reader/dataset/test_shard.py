"""Shards that were damaged, truncated, exchanged or lost are errors that say which and where."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from made_images import encode, make_image

from reader import Dataset, FormatError, ReaderError, SampleError

Span = tuple[Path, int, int]  # tar, offset, size


def span_of(dataset: Dataset, number: int) -> Span:
    """Where the image of a sample lies."""
    shard, row = dataset.locate(number)
    columns = shard.index.columns
    return shard.path, int(columns["offset"][row]), int(columns["size"][row])


def overwrite(path: Path, offset: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(data)


def test_a_damaged_sample_is_named_with_shard_key_and_offset(packed_copy: Path) -> None:
    dataset = Dataset(packed_copy)
    path, offset, _ = span_of(dataset, 12)
    overwrite(path, offset, bytes(255 - byte for byte in dataset.read(12, "jpg")))
    with pytest.raises(SampleError) as caught:
        dataset[12]
    text = str(caught.value)
    assert str(path) in text
    assert repr(dataset.keys[12]) in text
    assert re.search(rf"\b{offset}\b", text)
    assert dataset[11][0].any()
    assert dataset[13][0].any()


def test_an_image_of_another_size_than_the_index_says_is_an_error(
    make_dataset: Callable[..., Path],
) -> None:
    for kind, name in (("JPEG", "a.jpg"), ("PNG", "a.png"), ("BMP", "a.bmp")):
        small, large = (encode(make_image(0, *size), kind) for size in ((20, 30), (40, 30)))
        dataset = Dataset(make_dataset({name: large}, jpeg="verbatim"))
        path, offset, _ = span_of(dataset, 0)
        overwrite(path, offset, small)
        with pytest.raises(SampleError, match="30"):
            dataset[0]


def test_a_header_that_claims_a_gigantic_image_is_an_error(
    make_dataset: Callable[..., Path],
) -> None:
    dataset = Dataset(make_dataset({"a.gif": encode(make_image(0), "GIF")}))
    path, offset, _ = span_of(dataset, 0)
    overwrite(path, offset + 6, b"\xff\xff\xff\xff")  # width and height
    with pytest.raises(SampleError):
        dataset[0]


HARMS: dict[str, Callable[[Path, Path], object]] = {
    "its tar is cut short": lambda tar, _: os.truncate(tar, tar.stat().st_size - 512),
    "its tar is another's": lambda tar, other: tar.write_bytes(other.read_bytes()),
    "it is another": lambda tar, other: [
        other.with_suffix(suffix).replace(tar.with_suffix(suffix))
        for suffix in (".tar", ".safetensors")
    ],
    "its tar is lost": lambda tar, _: tar.unlink(),
    "its index is lost": lambda tar, _: tar.with_suffix(".safetensors").unlink(),
    "its index is damaged": lambda tar, _: overwrite(tar.with_suffix(".safetensors"), 8, b"garb"),
}


@pytest.mark.parametrize("harm", HARMS.values(), ids=list(HARMS))
def test_a_shard_that_is_not_what_it_was_is_an_error_that_names_it(
    packed_copy: Path, harm: Callable[[Path, Path], object]
) -> None:
    _, tar, other, _ = sorted(packed_copy.glob("*.tar"))
    harm(tar, other)
    dataset = Dataset(packed_copy)
    assert dataset[9][0].any()
    with pytest.raises((ReaderError, FormatError), match=re.escape(str(tar.with_suffix("")))):
        dataset[10]


def test_a_tar_that_is_cut_short_while_it_is_read_is_an_error(packed_copy: Path) -> None:
    dataset = Dataset(packed_copy)
    path, offset, size = span_of(dataset, 5)
    os.truncate(path, offset + size // 2)
    assert dataset[4][0].any()
    with pytest.raises(SampleError, match="truncated"):
        dataset[5]


def test_a_lost_shard_is_found_again_when_it_comes_back(packed_copy: Path) -> None:
    path = sorted(packed_copy.glob("*.tar"))[0]
    dataset = Dataset(packed_copy)
    path.rename(path.with_suffix(".away"))
    with pytest.raises(ReaderError):
        dataset[0]
    path.with_suffix(".away").rename(path)
    assert dataset[0][0].any()


def test_an_open_shard_is_closed_when_the_interpreter_ends(
    packed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = Dataset(packed)
    tar = dataset.locate(0)[0].tar
    assert dataset[0]
    monkeypatch.setattr("reader.dataset.tar_bytes.os", None)  # as modules are then
    descriptor = tar._file  # type: ignore[attr-defined]
    tar.__del__()  # type: ignore[attr-defined]
    del tar.__dict__["_file"]
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)
