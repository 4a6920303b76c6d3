"""What notebooks show: small, escaped, and without harm where samples are damaged."""

import shutil
from pathlib import Path

from reader import Dataset
from reader.look.page import table


def test_names_are_escaped() -> None:
    page = table("<script>alert(1)</script>", [("<b>", '"&<img src=x onerror=y>')])
    assert "<script" not in page
    assert "<img" not in page
    assert "&lt;script&gt;" in page


def test_a_dataset_shows_its_numbers_and_some_samples(packed: Path) -> None:
    page = Dataset(packed)._repr_html_()
    assert "39 in 4 shards" in page
    assert "class0 13" in page
    assert "data:image/png;base64," in page
    assert page.count("max-width: 100%") == 2  # of the whole, and of the picture
    assert len(page) < 2_000_000
    assert "39 in" in Dataset(packed, channels=1)._repr_html_()


def test_samples_that_cannot_be_read_are_left_out(packed: Path, tmp_path: Path) -> None:
    shutil.copytree(packed, tmp_path / "shards")
    for tar in (tmp_path / "shards").glob("*.tar"):
        tar.write_bytes(bytes(tar.stat().st_size))
    page = Dataset(tmp_path / "shards")._repr_html_()
    assert "39 in 4 shards" in page
