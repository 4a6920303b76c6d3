"""Samples as webdataset has them, written by a loop or read by a pipeline."""

from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

import packer
import reader


@pytest.fixture
def jpegs(make_image: Callable[..., Image.Image], encode: Callable[..., bytes]) -> list[bytes]:
    return [encode(make_image(seed, 16, 16), "JPEG") for seed in range(3)]


def test_the_dicts_of_a_shard_writer_are_taken_as_they_are(
    tmp_path: Path, jpegs: list[bytes]
) -> None:
    with packer.Writer(tmp_path / "dst", jpeg="verbatim", progress=False) as sink:
        for number, data in enumerate(jpegs):
            sink.write(
                {"__key__": f"a/{number}", "jpg": data, "cls": number, "json": {"n": number}}
            )
    packed = reader.Dataset(tmp_path / "dst")
    assert list(packed.keys) == ["a/0", "a/1", "a/2"]
    assert packed.targets == [0, 1, 2]
    assert [bytes(packed.read(row, "jpg")) for row in range(3)] == jpegs
    assert packed.read(2, "json") == b'{"n":2}'


@pytest.mark.filterwarnings("ignore")  # webdataset's own
def test_a_pipeline_of_webdatasets_is_packed(tmp_path: Path, jpegs: list[bytes]) -> None:
    wds = pytest.importorskip("webdataset")
    with packer.Writer(tmp_path / "first", jpeg="verbatim", progress=False) as sink:
        for number, data in enumerate(jpegs):
            sink.write({"image": data, "label": number, "key": f"s{number}"})
    [tar] = (tmp_path / "first").glob("*.tar")
    pipeline = wds.WebDataset(str(tar), shardshuffle=False)
    report = packer.pack(pipeline, tmp_path / "dst", progress=False)
    assert report.samples == 3
    assert reader.Dataset(tmp_path / "dst").targets == [0, 1, 2]
