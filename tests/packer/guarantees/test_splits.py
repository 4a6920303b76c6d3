"""Splits and members, from the source's folders to the shards and the reader."""

import io
import warnings
from pathlib import Path

import numpy as np
import pytest
import webdataset
from made_images import encode, make_image
from packing import pack
from PIL import Image

import reader
from packer.errors import UnusableInput
from packer.options.declared import PackOptions, SourceOptions
from reader.format import Manifest

NAMES = ["train/cat/a.b.jpg", "train/cat/with space.jpg", "train/dog/猫.jpg", "val/cat/x.jpg"]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """Split folders with odd names, sidecars, and masks in a folder of their own."""
    for seed, name in enumerate(NAMES):
        path = tmp_path / "src" / name
        mask = (tmp_path / "masks" / name).with_suffix(".png")
        for folder in (path.parent, mask.parent):
            folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(encode(make_image(seed), "JPEG"))
        path.with_suffix(".json").write_text(f'{{"number": {seed}}}')
        mask.write_bytes(encode(make_image(seed, mode="L"), "PNG"))
    return tmp_path / "src"


def test_split_folders_become_splits_with_shards_of_their_own(source: Path, tmp_path: Path) -> None:
    report = pack(source, tmp_path / "dst", PackOptions(), 1)
    assert report.splits == {"train": 3, "val": 1}
    shards = Manifest.load(tmp_path / "dst").shards
    assert [(s.split, s.file) for s in shards] == [
        ("train", "train/shard-000000.tar"),
        ("val", "val/shard-000000.tar"),
    ]
    assert len(reader.Dataset(tmp_path / "dst", split="train")) == 3
    assert reader.Dataset(tmp_path / "dst", split="val").keys[0] == "val/cat/x"


def test_stock_webdataset_reads_every_member(source: Path, tmp_path: Path) -> None:
    options = PackOptions(jpeg="verbatim", source=SourceOptions(pairs={"mask": "../masks"}))
    pack(source, tmp_path / "dst", options, 2)
    found = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)  # it leaves its files to be collected
        for url in map(str, (tmp_path / "dst").rglob("*.tar")):
            for sample in webdataset.WebDataset(url, shardshuffle=False):
                found[sample["__key__"]] = sample
    assert len(found) == len(NAMES)
    dataset = reader.Dataset(tmp_path / "dst", split="train")
    for number, key in enumerate(dataset.keys):
        for ext in ("jpg", "json", "mask.png"):
            assert found[key][ext] == dataset.read(number, ext)
    for seed, name in enumerate(NAMES):
        key = next(k for k, s in found.items() if s["json"] == b'{"number": %d}' % seed)
        assert found[key]["jpg"] == (source / name).read_bytes()
        mask = np.asarray(Image.open(io.BytesIO(found[key]["mask.png"])))
        assert mask.shape == (60, 80)


def test_every_file_of_a_rejected_sample_is_named_by_its_own_path(
    source: Path, tmp_path: Path
) -> None:
    (source / "train/cat/a.b.jpg").write_bytes(b"no image")
    options = PackOptions(source=SourceOptions(pairs={"mask": "../masks"}))
    report = pack(source, tmp_path / "dst", options, 1, skip_rejected=True)
    assert {name for name, _ in report.rejected} == {
        "train/cat/a.b.jpg",
        "train/cat/a.b.json",
        "../masks/train/cat/a.b.png",
    }


def test_shares_divide_the_samples_and_the_same_command_repeats_them(
    many: Path, tmp_path: Path
) -> None:
    options = PackOptions(split={"train": 0.75, "val": 0.25}, jpeg="verbatim")
    report = pack(many, tmp_path / "dst", options, 1)
    assert sum(report.splits.values()) == 160
    assert 25 < report.splits["val"] < 55
    assert pack(many, tmp_path / "dst", options, 1).shards_written == 0


def test_shares_do_not_replace_splits_that_the_source_has(source: Path, tmp_path: Path) -> None:
    with pytest.raises(UnusableInput, match=r"already has splits: train, val\. Remove --split"):
        pack(source, tmp_path / "dst", PackOptions(split={"train": 0.5, "val": 0.5}), 1)
    assert not (tmp_path / "dst").exists()


def test_shares_divide_the_first_split_that_the_source_has_and_leave_others(
    source: Path, tmp_path: Path
) -> None:
    own = pack(source, tmp_path / "own", PackOptions(), 1).splits
    (source / "val").rename(source / "test")
    found = pack(source, tmp_path / "dst", PackOptions(split={"train": 0.5, "val": 0.5}), 1).splits
    assert found["test"] == own["val"]
    assert found.get("train", 0) + found.get("val", 0) == own["train"]


def test_overwriting_removes_the_folders_of_former_splits(source: Path, tmp_path: Path) -> None:
    pack(source / "train", tmp_path / "dst", PackOptions(split={"a": 0.5, "b": 0.5}), 1)
    pack(source, tmp_path / "dst", PackOptions(), 1, overwrite=True)
    assert {path.name for path in (tmp_path / "dst").iterdir()} == {"dataset.json", "train", "val"}


def test_a_disk_that_is_too_small_is_told_before_anything_is_written(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from packer.errors import UnusableInput

    monkeypatch.setattr("packer.plan.work.shutil.disk_usage", lambda path: _Usage(free=1000))
    with pytest.raises(UnusableInput, match=r"up to .* kB, and the disk has 1 kB free"):
        pack(source, tmp_path / "dst", PackOptions(), 1)
    assert not list((tmp_path / "dst").rglob("*.tar"))
    monkeypatch.undo()
    assert pack(source, tmp_path / "dst", PackOptions(), 1).samples == 4


class _Usage:
    def __init__(self, free: int) -> None:
        self.free = free
