"""Shards that were damaged, truncated, exchanged or lost are errors that say which and where."""

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
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


@pytest.fixture(scope="module")
def one_of_each(make_dataset: Callable[..., Path]) -> Path:
    image = make_image(0, 30, 40)
    return make_dataset(
        {
            "a.jpg": encode(image, "JPEG"),
            "b.jpg": encode(image, "JPEG", progressive=True),
            "c.jpg": encode(image, "JPEG", restart_marker_blocks=1),
            "d.jpg": encode(image.convert("CMYK"), "JPEG"),
            "e.png": encode(image, "PNG"),
            "f.png": encode(image.convert("P"), "PNG"),
            "g.webp": encode(image, "WEBP"),
            "h.bmp": encode(image, "BMP"),
            "i.gif": encode(image, "GIF"),
            "j.tiff": encode(image, "TIFF"),
            "k.tiff": encode(image, "TIFF", compression="tiff_lzw"),
            "l.ppm": encode(image, "PPM"),
        }
    )


@given(
    number=st.integers(0, 11),
    position=st.floats(0, 1, exclude_max=True),
    is_in_the_header=st.booleans(),
    garbage=st.binary(min_size=1, max_size=40),
)
@settings(deadline=None, max_examples=200)
def test_whatever_is_damaged_the_pixels_come_or_a_sample_error(
    one_of_each: Path, number: int, position: float, is_in_the_header: bool, garbage: bytes
) -> None:
    dataset = Dataset(one_of_each)
    path, offset, size = span_of(dataset, number)
    whole = path.read_bytes()
    start = int(position * (min(size, 64) if is_in_the_header else size))
    try:
        overwrite(path, offset + start, garbage[: size - start])
        with suppress(SampleError):
            image, _ = dataset[number]
            assert image.shape == (30, 40, 3)
            assert image.dtype == np.uint8
    finally:
        path.write_bytes(whole)


def test_a_tar_that_was_cut_short_is_an_error(packed_copy: Path) -> None:
    path = sorted(packed_copy.glob("*.tar"))[1]
    os.truncate(path, path.stat().st_size - 512)
    dataset = Dataset(packed_copy)
    assert dataset[9][0].any()
    with pytest.raises(ReaderError, match=re.escape(str(path))):
        dataset[10]


def test_a_tar_that_is_cut_short_while_it_is_read_is_an_error(packed_copy: Path) -> None:
    dataset = Dataset(packed_copy)
    path, offset, size = span_of(dataset, 5)
    os.truncate(path, offset + size // 2)
    assert dataset[4][0].any()
    with pytest.raises(SampleError, match="truncated"):
        dataset[5]


def test_a_tar_in_anothers_place_is_an_error(packed_copy: Path) -> None:
    first, second = sorted(packed_copy.glob("*.tar"))[:2]
    assert first.stat().st_size != second.stat().st_size
    first.write_bytes(second.read_bytes())
    with pytest.raises(ReaderError, match=re.escape(str(first))):
        Dataset(packed_copy)[0]


def test_a_whole_shard_in_anothers_place_is_an_error(packed_copy: Path) -> None:
    first, second = sorted(packed_copy.glob("*.tar"))[:2]
    for suffix in (".tar", ".safetensors"):
        second.with_suffix(suffix).replace(first.with_suffix(suffix))
    with pytest.raises(FormatError, match=re.escape(str(first))):
        Dataset(packed_copy)[0]


@pytest.mark.parametrize("suffix", [".tar", ".safetensors"])
def test_a_lost_file_is_an_error_that_names_it(packed_copy: Path, suffix: str) -> None:
    lost = sorted(packed_copy.glob(f"*{suffix}"))[2]
    lost.unlink()
    with pytest.raises((ReaderError, FormatError), match=re.escape(str(lost))):
        Dataset(packed_copy)[25]


def test_a_damaged_index_is_an_error_that_names_it(packed_copy: Path) -> None:
    index = sorted(packed_copy.glob("*.safetensors"))[0]
    overwrite(index, 8, b"garbage!")
    with pytest.raises(FormatError, match=re.escape(str(index))):
        Dataset(packed_copy)[0]


def test_a_lost_shard_is_found_again_when_it_comes_back(packed_copy: Path) -> None:
    path = sorted(packed_copy.glob("*.tar"))[0]
    dataset = Dataset(packed_copy)
    path.rename(path.with_suffix(".away"))
    with pytest.raises(ReaderError):
        dataset[0]
    path.with_suffix(".away").rename(path)
    assert dataset[0][0].any()
