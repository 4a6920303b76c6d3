"""Sizes with units."""

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import click
import pytest

from packer.cli.params import ByteSize

RunPacker = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.mark.parametrize(
    ("text", "size"),
    [
        *(("1", 1), ("500", 500), ("10MB", 10**7), ("1GB", 10**9), ("1GiB", 2**30)),
        *(("2kb", 2000), ("1.5k", 1500), ("64KiB", 2**16), ("0.5 GB", 5 * 10**8), ("7b", 7)),
        *((" 3TB ", 3 * 10**12), ("1G", 10**9), ("500mb", 5 * 10**8), ("2gib", 2**31)),
    ],
)
def test_sizes_may_have_units(text: str, size: int) -> None:
    assert ByteSize().convert(text, None, None) == size


@pytest.mark.parametrize(
    "text",
    ["", "ten", "MB", "B", "1XB", "1M5", "0", "0.1", "-1MB", "nan", "inf", "1e400", "1MBB", "1 2"],
)
def test_what_is_no_size_is_refused(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a size"):
        ByteSize().convert(text, None, None)


@pytest.mark.parametrize(
    ("text", "told"),
    [("10", "'10' is 10 bytes, which is too little. Say 10MB"), ("9.9k", "9900 bytes, .* 9.9MB")],
)
def test_a_shard_size_whose_unit_was_forgotten_is_refused_with_what_was_meant(
    tmp_path: Path, source: Path, run_packer: RunPacker, text: str, told: str
) -> None:
    done = run_packer("pack", source, tmp_path / "dst", "--shard-size", text)
    assert done.returncode == 2
    assert re.search(told, done.stderr)
    assert not (tmp_path / "dst").exists()
