"""What is left over beside layouts, and the sentence that says how a source was read."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from reader.format import Manifest, manifest

Write = Callable[..., Path]


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
