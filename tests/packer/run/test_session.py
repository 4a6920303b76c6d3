"""What a loop leaves behind in the file system, beside shards."""

from pathlib import Path

import numpy as np
import pytest

import packer


def test_folders_above_the_dataset_go_with_it_if_they_were_made_for_it(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    for parts in (("new", "deep", "dst"), ("mine", "dst")):
        with pytest.raises(packer.Rejected):
            packer.pack(iter([3]), tmp_path.joinpath(*parts), progress=False)
    assert [path.name for path in tmp_path.rglob("*")] == ["mine"]


def test_a_folder_that_cannot_be_written_to_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(packer.UnusableInput, match=r"file/dst cannot be .*: Not a directory"):
        packer.pack(iter([np.zeros((4, 4), np.uint8)]), tmp_path / "file" / "dst", progress=False)


def test_members_that_no_reader_would_take_are_refused(dst: Path) -> None:
    samples = [{"image": np.zeros((4, 4), np.uint8), "txt": "x" * 500}]
    with pytest.raises(packer.Rejected, match=r"its members have 500 bytes; 400 .* \(max_bytes="):
        packer.pack(iter(samples), dst, max_bytes=400, progress=False)
