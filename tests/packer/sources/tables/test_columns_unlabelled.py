import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from packing import pack

import packer
from packer.options.declared import PackOptions


@pytest.fixture
def remark(images: Path, opened: Callable[..., Any]) -> Callable[[str, str], str]:
    """`remark("l.csv", text)`: what is told of a manifest whose samples have no labels."""

    def tell(name: str, text: str) -> str:
        (images / name).write_text(text)
        (told,) = opened(images / name).facts.unlabelled()
        return told

    return tell


def test_the_columns_that_could_be_labels_are_named(remark: Callable[[str, str], str]) -> None:
    told = remark("l.csv", "path,kind,size\n0.jpg,a,1\n")
    assert told == (
        "No sample has a label: no column of l.csv has a usual name of labels. "
        "If one of kind, size is the label, choose it by --label-column."
    )


def test_where_no_column_could_be_the_label_that_is_told(remark: Callable[[str, str], str]) -> None:
    assert remark("l.csv", "path\n0.jpg\n").endswith("has a usual name of labels.")
    assert remark("l.jsonl", '{"path": "0.jpg", "x": [1]}').endswith("a usual name of labels.")


def test_a_label_column_that_is_empty_throughout_is_told(remark: Callable[[str, str], str]) -> None:
    assert "'cls' is empty in every row" in remark("l.csv", "path,cls\n0.jpg,\n")


def test_a_column_of_lists_that_is_named_as_labels_are_is_told_with_its_type(
    images: Path, opened: Callable[..., Any], remark: Callable[[str, str], str]
) -> None:
    table = pa.table({"path": ["0.jpg"], "labels": [[1, 2]]})
    pq.write_table(table, images / "l.parquet")
    (told,) = opened(images / "l.parquet").facts.unlabelled()
    told_type = re.search(r"'labels' of l.parquet holds list<\w+: int64>, and a label is", told)
    assert told_type
    assert told.endswith("The column is in each sample's JSON.")
    assert "'labels' of l.jsonl holds lists or" in remark("l.jsonl", '{"path": "0", "labels": []}')


def test_labels_that_some_samples_lack_are_counted(images: Path, tmp_path: Path) -> None:
    rows = "".join(f"{n}.jpg,{'pug' * (n % 2)}\n" for n in range(8))
    (images / "l.csv").write_text(f"path,label\n{rows}")
    report = pack(images / "l.csv", tmp_path / "dst", PackOptions(), 1)
    assert report.remarks == ["4 of 8 samples have no label: a Loader returns -1 for them."]
    source = tmp_path / "src"
    for number, place in enumerate(("train/cat", "test")):
        (source / place).mkdir(parents=True)
        (images / f"{number}.jpg").rename(source / place / "a.jpg")
    report = pack(source, tmp_path / "parts", PackOptions(), 1)
    assert report.remarks == ["1 of 2 samples has no label: a Loader returns -1 for them."]


@pytest.mark.parametrize("content", ["", "path,label\n", "\n\n"])
def test_a_table_without_rows_is_refused_as_such(images: Path, content: str) -> None:
    (images / "l.csv").write_text(content)
    with pytest.raises(packer.UnusableInput, match=r"l\.csv has no rows"):
        packer.pack(images / "l.csv", images / "dst", jobs=1)


def test_the_report_has_it_for_tables_without_labels_alone(images: Path, tmp_path: Path) -> None:
    for column, count in (("kind", 1), ("label", 0)):
        (images / "l.csv").write_text(f"path,{column}\n0.jpg,pug\n1.jpg,pug\n")
        report = pack(images / "l.csv", tmp_path / column, PackOptions(), 1)
        assert len(report.remarks) == count
