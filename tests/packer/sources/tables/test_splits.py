from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from packer.errors import UnusableInput

Opened = Callable[..., Any]
Scanned = Callable[..., Any]
TRAIN, VAL, TEST = "train", "val", "test"


def write(images: Path, head: str, rows: list[str]) -> Path:
    path = images / "list.csv"
    lines = [f"path,label,{head}", *(f"{n}.jpg,cat,{row}" for n, row in enumerate(rows))]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.parametrize(
    ("head", "rows", "splits"),
    [
        ("is_valid", ["True", "False", "False"], [VAL, TRAIN, TRAIN]),
        ("is_test", ["0", "1", "0"], [TRAIN, TEST, TRAIN]),
        ("is_train,is_test", ["1,0", "0,1", "1,0"], [TRAIN, TEST, TRAIN]),
        ("isTrain,isVal,isTest", ["1,0,0", "0,1,0", "0,0,1"], [TRAIN, VAL, TEST]),
        ("train,test", ["1,0", "0,1", "1,0"], [TRAIN, TEST, TRAIN]),
        ("partition", ["0", "1", "2"], [TRAIN, VAL, TEST]),
        ("is_train", ["1", "1", "1"], [TRAIN, TRAIN, TRAIN]),
        ("fold", ["0", "1", "2"], ["", "", ""]),
        ("is_blurred", ["0", "1", "0"], ["", "", ""]),
        ("is_test", ["0", "1", "maybe"], ["", "", ""]),
    ],
)
def test_splits_of_yes_and_no_and_of_numbers(
    images: Path,
    opened: Opened,
    scanned: Scanned,
    head: str,
    rows: list[str],
    splits: list[str],
) -> None:
    samples, skipped = scanned(opened(write(images, head, rows)))
    assert [sample.split for sample in samples.values()] == splits
    assert not skipped
    assert not any("json" in sample.members for sample in samples.values()) or splits[0] == ""


def test_columns_tell_the_split_where_there_is_no_label_or_a_column_for_each_class(
    images: Path, opened: Opened, scanned: Scanned
) -> None:
    (images / "list.csv").write_text("path,train,val,cat,dog\n0.jpg,1,0,1,0\n1.jpg,0,1,0,1\n")
    source = opened(images / "list.csv")
    samples, _ = scanned(source)
    assert source.classes == ("cat", "dog")
    assert [(one.split, one.label) for one in samples.values()] == [(TRAIN, 0), (VAL, 1)]
    (images / "list.csv").write_text("path,is_train,is_val,score\n0.jpg,1,0,2\n1.jpg,0,1,3\n")
    samples, _ = scanned(opened(images / "list.csv"))
    assert [one.split for one in samples.values()] == [TRAIN, VAL]


def test_names_of_splits_that_only_later_rows_have(
    images: Path, opened: Opened, scanned: Scanned
) -> None:
    path = write(images, "usage", ["Training", "PublicTest", "Training"])
    with pytest.raises(UnusableInput, match=r"--split-column usage\n.*--split-column none"):
        opened(path)
    samples, _ = scanned(opened(path, split_column="usage"))
    assert {sample.split for sample in samples.values()} == {"Training", "PublicTest"}
    samples, _ = scanned(opened(path, split_column="none"))
    assert {sample.split for sample in samples.values()} == {""}


@pytest.mark.parametrize(
    ("head", "rows"), [("is_train", ["1", "0", "1"]), ("partition", ["0", "1", "1"])]
)
def test_numbers_that_do_not_tell_the_splits_are_refused(
    images: Path,
    opened: Opened,
    scanned: Scanned,
    json_of: Callable[..., Any],
    head: str,
    rows: Any,
) -> None:
    path = write(images, head, rows)
    with pytest.raises(UnusableInput, match=f"packer pack {path} DST --split-column none"):
        opened(path)
    source = opened(path, split_column="none")
    samples, _ = scanned(source)
    assert [json_of(source, sample)[head] for sample in samples.values()] == rows


def test_a_row_of_two_splits_or_none_is_rejected(
    images: Path, opened: Opened, scanned: Scanned
) -> None:
    path = write(images, "is_train,is_test", ["1,1", "0,0", "1,0"])
    samples, skipped = scanned(opened(path))
    assert list(samples) == ["2.jpg"]
    assert all("do not define one split" in reason for reason in skipped.values())
