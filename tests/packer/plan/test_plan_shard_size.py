import json
from pathlib import Path

import numpy as np
import pytest
from called_packer import call_packer
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from packer.plan.plan import default_shard_size, plan_shards
from packer.samples.records import Sample
from packer.samples.table import SampleTable
from reader.format import Manifest

MB = 10**6
PLAIN = ("--png", "verbatim", "--jobs", 1)


@pytest.mark.parametrize(
    ("total", "size"),
    [
        *((0, 10 * MB), (MB, 10 * MB), (1280 * MB - 1, 10 * MB), (1280 * MB, 20 * MB)),
        *((10**10, 100 * MB), (64 * 10**9, 10**9), (10**15, 10**9)),
    ],
)
def test_larger_datasets_have_larger_shards_up_to_a_gigabyte(total: int, size: int) -> None:
    assert default_shard_size(total)[0] == size


@given(st.integers(0, 10**13))
def test_there_are_64_shards_unless_they_would_be_smaller_than_any(total: int) -> None:
    size, reason = default_shard_size(total)
    assert total // size >= 64 or size == 10 * MB
    assert total // size <= 160 or size == 10**9
    assert reason


def listing(count: int, size: int) -> SampleTable:
    made = SampleTable()
    for number in range(count):
        made.add(Sample(f"{number}.jpg", str(number), 0, size, 0))
    return made


def test_the_rule_counts_what_is_packed_and_what_it_is_added_to() -> None:
    samples = listing(100, MB)
    assert len(plan_shards(samples, None, None, 0)) > 10
    assert len(plan_shards(samples, None, None, 0, existing_bytes=10**11)) == 1
    assert len(plan_shards(samples, None, None, 0, image_bytes=3072)) == 1
    assert len(plan_shards(samples, 10**9, None, 0)) == 1


@pytest.fixture
def images(tmp_path: Path) -> Path:
    """14 MB."""
    rng = np.random.default_rng(0)
    folder = tmp_path / "images" / "noise"
    folder.mkdir(parents=True)
    for number in range(12):
        noise = Image.fromarray(rng.integers(0, 256, (624, 624, 3), np.uint8))
        noise.save(folder / f"{number:02}.png", compress_level=0)
    return folder.parent


def test_pack_info_and_a_dry_run_agree_on_the_shards(images: Path, dst: Path) -> None:
    planned = json.loads(
        call_packer("pack", images, dst, "--as", "folder", *PLAIN, "--dry-run", "--json").stdout
    )
    call_packer("pack", images, dst, "--as", "folder", *PLAIN, "--quiet", code=0)
    packed = Manifest.load(dst)
    assert [shard.file for shard in packed.shards] == [shard["file"] for shard in planned["shards"]]
    assert len(packed.shards) == 2
    found = json.loads(call_packer("info", dst, "--json").stdout)
    assert max(shard.bytes for shard in packed.shards) <= found["shard_size"] == 10 * MB
    Image.new("RGB", (8, 8)).save(images / "noise" / "new.png")
    call_packer("pack", images, dst, "--as", "folder", *PLAIN, "--quiet", "--append", code=0)
    assert len(Manifest.load(dst).shards) == 3
