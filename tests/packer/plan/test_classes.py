"""What is said of classes: their order, their sizes, and how splits share them."""

import re
import shlex
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from called_packer import call_packer
from PIL import Image

import packer
from packer.errors import UnusableInput
from packer.plan.classes import label_remarks
from packer.samples.records import Sample
from packer.samples.table import SampleTable
from reader import Dataset

Folders = Callable[..., Path]
TEXT_ORDER = ["0", "1", "10", "11", "2", "3", "4", "5", "6", "7", "8", "9"]
NUMERIC = sorted(TEXT_ORDER, key=int)


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """Make folders of two images each."""

    def make(*names: str) -> Path:
        for name in names:
            (tmp_path / "src" / name).mkdir(parents=True)
            for number in range(2):
                shade = (len(list(tmp_path.rglob("*"))) % 250, number, 0)
                path = tmp_path / "src" / name / f"{name.replace('/', '_')}_{number}.png"
                Image.new("RGB", (8, 8), shade).save(path)
        return tmp_path / "src"

    return make


def pack(src: Path, **options: Any) -> list[str]:
    packer.pack(src, src.parent / "out", progress=False, overwrite=True, **options)
    return Dataset(src.parent / "out").classes


@pytest.mark.parametrize(
    ("labels", "classes", "told"),
    [
        ([1, 1, 3, -1], "0123", "No sample has the label 0, 2: .* 4 in all"),
        ([1, 1, 3, -1], "abcd", None),
        ([0, 1, 2], "012", None),
        ([*range(12), 0], "abcdefghijkl", "11 of 12 classes have a single sample: "),
        ([*range(9), 0], "abcdefghi", None),
        ([-1], "012", None),
    ],
)
def test_odd_labels_are_doubted(labels: list[int], classes: str, told: str | None) -> None:
    listing = SampleTable()
    for number, label in enumerate(labels):
        listing.add(Sample(f"{number}.jpg", str(number), label, 9, 0))
    found = list(label_remarks(listing, tuple(classes)))
    assert bool(found) == bool(told)
    assert not told or re.match(told, found[0])


def test_of_numbers_the_command_that_orders_them_is_printed(folders: Folders) -> None:
    src = folders(*TEXT_ORDER)
    done = call_packer("pack", src, src.parent / "text")
    assert Dataset(src.parent / "text").classes == TEXT_ORDER
    [line] = [line for line in done.stdout.splitlines() if "as in torchvision" in line]
    assert "10 has the label 2" in line
    command = shlex.split(line.partition("To order them by number: ")[2])
    assert command[-2:] == ["--classes", "numeric"]
    command[3] = str(src.parent / "numbers")
    done = call_packer(*command[1:])
    ordered = Dataset(src.parent / "numbers")
    assert ordered.classes == NUMERIC
    assert all(name.split("/")[0] == str(label) for name, label in _labels(ordered))
    assert "as in torchvision" not in done.stdout


def _labels(dataset: Dataset) -> list[tuple[str, int]]:
    return list(zip(dataset.keys, map(int, dataset.targets), strict=True))


@pytest.mark.parametrize("names", [("0", "1", "2"), ("08", "09", "10", "11"), ("a", "b10", "b9")])
def test_an_order_that_is_the_same_is_not_mentioned(folders: Folders, names: Sequence[str]) -> None:
    src = folders(*names)
    done = call_packer("pack", src, src.parent / "out")
    assert Dataset(src.parent / "out").classes == list(names)
    assert "torchvision" not in done.stdout


def test_python_orders_by_number_too_and_appends_new_classes_behind(folders: Folders) -> None:
    src = folders("2", "10")
    assert pack(src, classes="numeric") == ["2", "10"]
    folders("1", "3")
    packer.pack(src, src.parent / "out", progress=False, append=True, classes="numeric")
    assert Dataset(src.parent / "out").classes == ["2", "10", "1", "3"]


def test_names_that_are_no_numbers_have_no_numeric_order(folders: Folders) -> None:
    with pytest.raises(UnusableInput, match=r"not whole numbers: cat\. .* classes="):
        pack(folders("1", "cat"), classes="numeric")


def test_a_file_named_numeric_is_a_list(folders: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    src = folders("1", "2")
    monkeypatch.chdir(src.parent)
    Path("numeric").write_text("2\n1\n")
    call_packer("pack", src, src.parent / "out", "--classes", "numeric", code=0)
    assert Dataset(src.parent / "out").classes == ["2", "1"]


def test_a_writer_takes_names_and_no_order(tmp_path: Path) -> None:
    writer = packer.Writer(tmp_path / "out", classes="numeric", progress=False)
    with pytest.raises(UnusableInput, match="Pass the names in label order"), writer:
        pass


@pytest.mark.parametrize(
    ("names", "lines"),
    [
        (["train/a", "train/b", "val/a"], ["The split val has no sample of 1 class of train: b."]),
        (
            ["train/a", "val/a", "val/b", "val/c"],
            ["The split train has no sample of 2 classes of val: b, c."],
        ),
        (["train/a", "train/b", "val/b", "val/a"], []),
        (["a", "b"], []),
    ],
)
def test_splits_whose_classes_differ_are_named(
    folders: Folders, names: Sequence[str], lines: Sequence[str]
) -> None:
    src = folders(*names)
    done = call_packer("pack", src, src.parent / "out", code=0)
    assert [line for line in done.stdout.splitlines() if "The split " in line] == lines


READINGS = [
    ("Each split has classes of its own", {"train", "val"}, ["a", "b", "c", "d"]),
    ("Folders are splits, and not classes", {"train", "val"}, []),
    ("Folders are classes, and not splits", set(), ["a", "b", "c", "d"]),
]


@pytest.mark.parametrize(("reading", "splits", "classes"), READINGS)
def test_splits_without_a_common_class_are_asked_and_each_answer_packs_all(
    folders: Folders, reading: str, splits: set[str], classes: list[str]
) -> None:
    src = folders("train/a", "train/b", "val/c", "val/d")
    done = call_packer("pack", src, src.parent / "out", code=2)
    assert "no class of val ('c', 'd') is one of train ('a', 'b')" in done.stderr
    offered = re.findall(r"^  (.*?): packer (pack .*)$", done.stderr, re.MULTILINE)
    first = [meaning for meaning, _ in offered[: len(READINGS)]]  # commands that keep all follow
    assert first == [meaning for meaning, *_ in READINGS]
    done = call_packer(*shlex.split(dict(offered)[reading]), code=0)
    found = Dataset(src.parent / "out")
    assert (set(found.splits), found.classes, len(found)) == (splits, classes, 8)
