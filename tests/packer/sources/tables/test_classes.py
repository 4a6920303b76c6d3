"""What the cells of a column of labels hold: one label, several, a number, or nothing."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from packer.errors import UnusableInput

Opened = Callable[..., Any]
Scanned = Callable[..., Any]
Write = Callable[[list[str]], Path]


@pytest.fixture
def labelled(images: Path) -> Write:
    """`labelled(labels)`: a CSV beside the images, with a label for each of the first ones."""

    def write(labels: list[str]) -> Path:
        rows = ['{}.jpg,"{}"'.format(n, x.replace('"', '""')) for n, x in enumerate(labels)]
        path = images / "labels.csv"
        path.write_text("\n".join(["path,label", *rows]) + "\n", "utf-8")
        return path

    return write


@pytest.mark.parametrize(
    ("labels", "separator"),
    [
        (["scab", "scab frog_eye_leaf_spot complex", "complex"], "' '"),
        (["16 0", "5", "7 1"], "' '"),
        (["Cardiomegaly|Effusion", "Hernia", "No Finding"], "'|'"),
        (["a;b", "c", "d"], "';'"),
        (["cat,dog", "dog", "cat"], ","),
        (["clear", "agriculture clear", "haze"], "' '"),
    ],
)
def test_cells_that_look_like_several_labels_are_refused_with_both_commands(
    labelled: Write, opened: Opened, labels: list[str], separator: str
) -> None:
    path = labelled(labels)
    with pytest.raises(UnusableInput) as error:
        opened(path)
    message, several, *one = str(error.value).splitlines()
    assert f"--label-separator {separator} for several labels" in message
    assert "--label-separator none for one" in message
    assert several.endswith(f": packer pack {path} DST --label-separator {separator}")
    if separator != "'|'":  # which is no part of a name
        assert one[0].endswith(f": packer pack {path} DST --label-separator none")


@pytest.mark.parametrize(
    "labels",
    [
        ["ice cream", "apple", "hot dog"],
        ["ice cream", "ice tea", "hot dog"],
        ["salt, pepper", "sugar", "flour"],
        ["fried rice with egg", "rice", "soup"],
    ],
)
def test_words_and_commas_are_part_of_a_label(
    labelled: Write, opened: Opened, scanned: Scanned, labels: list[str]
) -> None:
    source = opened(labelled(labels))
    assert source.classes == tuple(sorted(labels))
    samples, _ = scanned(source)
    assert [source.classes[sample.label] for sample in samples.values()] == labels


def test_a_label_that_the_list_of_classes_has_is_one(
    labelled: Write, opened: Opened, scanned: Scanned
) -> None:
    source = opened(labelled(["a|b", "a", "b"]), classes=["a", "b", "a|b"])
    assert [sample.label for sample in scanned(source)[0].values()] == [2, 0, 1]


@pytest.mark.parametrize(
    "cells", [['["cat", "dog"]', "[]", '["dog"]'], ["['cat', 'dog']", "[]", "['dog']"]]
)
def test_lists_as_json_or_python_write_them_are_several_labels(
    labelled: Write,
    opened: Opened,
    scanned: Scanned,
    json_of: Callable[..., Any],
    cells: list[str],
) -> None:
    source = opened(labelled(cells))
    assert source.classes == ("cat", "dog")
    samples, _ = scanned(source)
    found = [json_of(source, sample)["labels"] for sample in samples.values()]
    assert found == [[0, 1], [], [1]]


def test_lists_of_one_label_each_are_labels(
    labelled: Write, opened: Opened, scanned: Scanned
) -> None:
    source = opened(labelled(["['cat']", "['dog']", "[]"]))
    assert [sample.label for sample in scanned(source)[0].values()] == [0, 1, -1]


def test_spaces_and_marks_around_labels_are_cleaned_and_counted(
    labelled: Write, opened: Opened, scanned: Scanned
) -> None:
    source = opened(
        labelled(["caf\u00e9", "cafe\u0301", "\u00a0caf\u00e9 ", "the\u0301\u200b", "\ufeff"])
    )
    assert source.classes == ("caf\u00e9", "th\u00e9")
    assert [sample.label for sample in scanned(source)[0].values()] == [0, 0, 0, 1, -1]
    assert source.facts.remarks[0].startswith("3 labels had spaces or invisible marks")


@pytest.mark.parametrize("cells", [["0.5", "1.25", "3"], ["0,37", "1,5", "7,25"]])
def test_numbers_with_fractions_are_targets(
    labelled: Write,
    opened: Opened,
    scanned: Scanned,
    json_of: Callable[..., Any],
    cells: list[str],
) -> None:
    path = labelled(cells)
    with pytest.raises(UnusableInput, match=f"packer pack {path} DST --label-column none"):
        opened(path)
    source = opened(path, label_column="none")
    samples, _ = scanned(source)
    assert [json_of(source, sample)["label"] for sample in samples.values()] == cells


def test_minus_one_beside_one_is_a_class_and_elsewhere_a_remark(
    labelled: Write, opened: Opened, scanned: Scanned
) -> None:
    source = opened(labelled(["1", "-1", "1"]))
    assert source.classes == ("-1", "1")
    assert [sample.label for sample in scanned(source)[0].values()] == [1, 0, 1]
    assert not source.facts.remarks
    source = opened(labelled(["0", "-1", "1"]))
    assert [sample.label for sample in scanned(source)[0].values()] == [0, -1, 1]
    assert "read as no label" in source.facts.remarks[0]
    source = opened(labelled(["0", "-1", "1"]), classes=["-1", "0", "1"])
    assert [sample.label for sample in scanned(source)[0].values()] == [1, 0, 2]
    assert not source.facts.remarks
