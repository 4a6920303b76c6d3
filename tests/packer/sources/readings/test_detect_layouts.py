"""What is left over beside layouts, and the sentence that says how a source was read."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from packer.errors import UnusableInput
from reader.format import Manifest, manifest

Write = Callable[..., Path]

COCO = b"""{"images": [{"id": 1, "file_name": "1.jpg"}], "categories": [{"id": 7, "name": "cat"}],
"annotations": [{"image_id": 1, "category_id": 7, "bbox": [0, 0, 2, 2]}]}"""


def test_what_cocos_annotations_do_not_list_is_named(
    tmp_path: Path, jpegs: list[bytes], write_files: Write, scan: Callable[..., Any]
) -> None:
    files = {"annotations/instances_train2017.json": COCO, "README.md": b"x"}
    files |= {"train2017/1.jpg": jpegs[0], "train2017/2.jpg": jpegs[1], "train2017/notes.md": b"x"}
    found = scan(write_files(tmp_path / "coco", files | {"test2017/3.jpg": jpegs[2]}))
    assert [(s.key, s.split) for s in found.samples] == [("train2017/1", "train")]
    assert found.skipped == {"train2017/2.jpg": "it is in no list"}
    assert found.ignored == {"README.md", "train2017/notes.md", "test2017/"}


def test_images_of_which_no_list_speaks_are_no_leftovers(
    tmp_path: Path, jpegs: list[bytes], write_files: Write, scan: Callable[..., Any]
) -> None:
    files = {f"{folder}/{n}.jpg": jpegs[n] for folder in ("JPEGImages", "more") for n in range(2)}
    files |= {"ImageSets/Segmentation/train.txt": b"0\n", "SegmentationClass/0.png": jpegs[2]}
    found = scan(write_files(tmp_path / "voc", files))
    assert [sample.name for sample in found.samples] == ["JPEGImages/0.jpg"]
    assert "JPEGImages/1.jpg" in found.ignored
    assert found.skipped.keys() == {"more/0.jpg", "more/1.jpg"}


def test_images_in_the_folder_of_another_split_are_not_those_of_a_table(
    tmp_path: Path, jpegs: list[bytes], write_files: Write, scan: Callable[..., Any]
) -> None:
    names = ["train/1.jpg", "train/2.jpg", "test/1.jpg", "test/3.jpg"]
    files = {name: jpegs[n % 3] for n, name in enumerate(names)}
    rows = b"id,label\n1,cat\n2,dog\n3,cat\n"
    found = scan(write_files(tmp_path / "kaggle", files | {"trainLabels.csv": rows}))
    assert {s.name: s.split for s in found.samples} == {n: n.split("/")[0] for n in names}
    assert found.labels == {"train/1": 0, "train/2": 1, "test/1": -1, "test/3": -1}
    assert list(found.skipped.values()) == ["'3': no image has that name"]


def test_parquet_that_holds_bytes_is_not_passed_over(
    tmp_path: Path, jpegs: list[bytes], write_files: Write, scan: Callable[..., Any]
) -> None:
    files = {f"{kind}/{n}.jpg": jpegs[n] for kind, n in zip("abcabc", range(6), strict=True)}
    src = write_files(tmp_path / "src", files)
    pyarrow, parquet = (pytest.importorskip(n) for n in ("pyarrow", "pyarrow.parquet"))
    parquet.write_table(pyarrow.table({"key": ["a"], "jpg": [jpegs[0]]}), src / "0.parquet")
    assert "0.parquet" in scan(src).skipped
    parquet.write_table(pyarrow.table({"mean": [0.5]}), src / "0.parquet")
    assert "0.parquet" in scan(src).ignored


def test_series_of_tars_named_as_splits_are_splits(
    tmp_path: Path, jpegs: list[bytes], write_tar: Write, scan: Callable[..., Any]
) -> None:
    for name in ("set-train-000", "set-train-001", "set-val-000"):
        write_tar(tmp_path / f"{name}.tar", {f"{name}.jpg": jpegs[0], f"{name}.cls": b"0"})
    found = scan(tmp_path)
    assert {s.key: s.split for s in found.samples} == {
        "set-train-000": "train",
        "set-train-001": "train",
        "set-val-000": "val",
    }
    write_tar(tmp_path / "more.tar", {"1.jpg": jpegs[0], "1.cls": b"0"})
    with pytest.raises(UnusableInput, match=r"more\.tar does not"):
        scan(tmp_path)


def test_the_sentence_is_kept_and_one_without_it_still_loads(
    tmp_path: Path, make_jpegs: Write, write_files: Write, run_pack: Callable[..., Any]
) -> None:
    files = make_jpegs("Training/cat/1.jpg", "Testing/dog/2.jpg")
    report = run_pack(write_files(tmp_path / "src", files), tmp_path / "dst")
    assert report.reading == (
        "Read as folders of images: 2 images; 2 classes (cat, dog); splits test 1, train 1."
    )
    path = tmp_path / "dst" / "dataset.json"
    assert Manifest.load(path.parent).reading == report.reading
    content = json.loads(path.read_text())
    del content["reading"], content["checksum"]
    path.write_text(json.dumps({**content, "checksum": manifest.own_checksum(content)}))
    assert Manifest.load(path.parent).reading == ""
    again = run_pack(tmp_path / "src", tmp_path / "dst")
    assert again.shards_written == 0
