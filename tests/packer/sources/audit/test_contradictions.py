"""Where a table and the folders disagree, both are offered; what an answer ignores is said."""

from collections.abc import Callable
from pathlib import Path

import pytest

import packer

Write = Callable[..., Path]


def _packed(src: Path, **options: object) -> packer.PackReport:
    dst = src.with_name(f"{src.name}-{options.get('kind')}")
    report = packer.pack(src, dst, progress=False, jobs=1, **options)
    assert isinstance(report, packer.PackReport)
    return report


@pytest.fixture
def classes(tmp_path: Path, make_jpegs: Callable[..., Path], write_files: Write) -> Path:
    names = (f"{kind}/{kind[0]}{n:02}.jpg" for kind in ("cat", "dog") for n in range(60))
    return write_files(tmp_path, make_jpegs(*names))


def _write(src: Path, **values: Callable[[Path], str]) -> None:
    paths = sorted(src.rglob("*.jpg"))
    rows = [[str(path.relative_to(src)), *(of(path) for of in values.values())] for path in paths]
    lines = map(",".join, [["image", *values], *rows])
    (src / "labels.csv").write_text("".join(f"{line}\n" for line in lines))


def test_a_label_that_contradicts_its_folder_is_asked_with_its_row(classes: Path) -> None:
    _write(classes, label=lambda path: "cat" if path.stem == "d07" else path.parent.name)
    with pytest.raises(packer.UnusableInput) as asked:
        _packed(classes)
    said = "disagree on the class of 1 image: labels.csv:69 has 'cat' for dog/d07.jpg."
    assert said in str(asked.value)
    assert _packed(classes, kind="folder", ignore=["labels.csv"]).classes == 2
    assert _packed(classes, kind="table").classes == 2


def test_splits_that_contradict_their_folders_are_asked_with_two_rows(
    tmp_path: Path, make_jpegs: Callable[..., Path], write_files: Write
) -> None:
    names = (f"{split}/{n}.jpg" for split in ("train", "val") for n in range(6))
    src = write_files(tmp_path, make_jpegs(*names))
    _write(src, split=lambda path: "train" if path.stem in "234" else path.parent.name)
    with pytest.raises(packer.UnusableInput) as asked:
        _packed(src)
    said = "the split of 3 images: labels.csv:10 has 'train' for val/2.jpg; labels.csv:11 has"
    assert said in str(asked.value)
    assert _packed(src, kind="table").splits == {"train": 9, "val": 3}


def test_a_table_of_other_words_that_an_answer_ignores_is_named(classes: Path) -> None:
    _write(classes, label=lambda path: {"cat": "katze", "dog": "hund"}[path.parent.name])
    with pytest.raises(packer.UnusableInput, match="has the label 'katze', and is in the folder"):
        _packed(classes)
    said = " ".join(_packed(classes, kind="folder").remarks)
    assert "labels.csv names 120 of 120 images and is ignored" in said
    assert "as in 'cat/c00.jpg,katze'" in said
