from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from packer.packing import pack
from packer.planning.options import PackOptions
from packer.sources.unlabelled import remarks


@pytest.fixture
def remark(images: Path, opened: Callable[..., Any]) -> Callable[[str, str], str]:
    """`remark("l.csv", text)`: what is told of a manifest whose samples have no labels."""

    def tell(name: str, text: str) -> str:
        (images / name).write_text(text)
        (told,) = remarks(opened(images / name))
        return told

    return tell


def test_the_columns_that_could_be_labels_are_named(remark: Callable[[str, str], str]) -> None:
    rows = [f"{n},{n}.jpg,{'ab'[n % 2]},text {n},{n / 7},{n % 3},\n" for n in range(50)]
    told = remark("l.csv", "".join([",path,breed,caption,score,size,empty\n", *rows]))
    assert told == (
        "No sample has a label: no column of l.csv is named as labels are. "
        "These could be it: 'breed', 'size' (--label-column)."
    )


def test_where_no_column_could_be_the_label_that_is_told(remark: Callable[[str, str], str]) -> None:
    assert remark("l.csv", "path\n0.jpg\n").endswith("None could be it.")
    assert remark("l.jsonl", '{"path": "0.jpg", "x": [1]}').endswith("None could be it.")


def test_a_label_column_that_is_empty_throughout_is_told(remark: Callable[[str, str], str]) -> None:
    assert "'cls' is empty in every row" in remark("l.csv", "path,cls\n0.jpg,\n")


def test_the_report_has_it_for_tables_without_labels_alone(images: Path, tmp_path: Path) -> None:
    for column, count in (("breed", 1), ("label", 0)):
        (images / "l.csv").write_text(f"path,{column}\n0.jpg,pug\n1.jpg,pug\n")
        report = pack(images / "l.csv", tmp_path / column, PackOptions(), 1)
        assert len(report.remarks) == count
