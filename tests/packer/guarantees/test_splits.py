"""Splits and members, from the source's folders to the shards and the reader."""

from pathlib import Path

import pytest
from made_images import make_image, write_files
from packing import pack

from packer.errors import UnusableInput
from packer.options.declared import PackOptions, SourceOptions

NAMES = ["train/cat/a.b.jpg", "train/cat/with space.jpg", "train/dog/猫.jpg", "val/cat/x.jpg"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Split folders with odd names, sidecars, and masks in a folder of their own."""
    for seed, name in enumerate(NAMES):
        stem = name.removesuffix(".jpg")
        files = {name: make_image(seed), f"{stem}.json": f'{{"number": {seed}}}'}
        write_files(tmp_path / "src", files)
        write_files(tmp_path / "masks", {f"{stem}.png": make_image(seed, mode="L")})
    return tmp_path / "src"


def test_every_file_of_a_rejected_sample_is_named_by_its_own_path(source: Path, dst: Path) -> None:
    (source / "train/cat/a.b.jpg").write_bytes(b"no image")
    options = PackOptions(source=SourceOptions(pairs={"mask": "../masks"}))
    report = pack(source, dst, options, 1, skip_rejected=True)
    assert {name for name, _ in report.rejected} == {
        "train/cat/a.b.jpg",
        "train/cat/a.b.json",
        "../masks/train/cat/a.b.png",
    }


def test_shares_do_not_replace_splits_that_the_source_has(source: Path, dst: Path) -> None:
    with pytest.raises(UnusableInput, match=r"already has splits: train, val\. Remove --split"):
        pack(source, dst, PackOptions(split={"train": 0.5, "val": 0.5}), 1)
    assert not (dst).exists()


def test_shares_divide_the_first_split_and_leave_others(source: Path, tmp_path: Path) -> None:
    own = pack(source, tmp_path / "own", PackOptions(), 1).splits
    (source / "val").rename(source / "test")
    found = pack(source, tmp_path / "dst", PackOptions(split={"train": 0.5, "val": 0.5}), 1).splits
    assert found["test"] == own["val"]
    assert found.get("train", 0) + found.get("val", 0) == own["train"]


def test_overwriting_removes_the_folders_of_former_splits(source: Path, dst: Path) -> None:
    pack(source / "train", dst, PackOptions(split={"a": 0.5, "b": 0.5}), 1)
    pack(source, dst, PackOptions(), 1, overwrite=True)
    assert {path.name for path in (dst).iterdir()} == {"dataset.json", "train", "val"}
