import pytest

from packer.errors import UnusableInput
from packer.sources.readings.yolo.data_file import DataFile, of_lines, of_yaml

PARTS = {"train": ("images/train",), "val": ("images/val",)}


@pytest.mark.parametrize(
    ("names", "read"),
    [
        ("[person, bike]", ("person", "bike")),
        ("{0: person, 1: bike}", ("person", "bike")),
        ("{1: bike, 0: person}", ("person", "bike")),
        ("\n- person # the first\n- 'bike'", ("person", "bike")),
        ("[no, yes, 2020-01-01, 1.0]", ("no", "yes", "2020-01-01", "1.0")),  # no booleans, dates
    ],
)
def test_names_are_texts_in_the_order_of_their_numbers(names: str, read: tuple[str, ...]) -> None:
    text = f"path: .\ntrain: images/train\nval: images/val\ntest:\nnames: {names}\n"
    assert of_yaml(text, "data.yaml") == DataFile(read, PARTS, base=".")


def test_a_number_of_classes_alone_numbers_them() -> None:
    found = of_yaml("train: [a, b]\nval: null\nnc: 2\nkpt_shape: [17, 3]\n", "data.yaml")
    assert found == DataFile(("0", "1"), {"train": ("a", "b")}, keypoints=51)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("names: {0: a, 2: b}", "a gap: 1 is missing"),
        ("names: [a, a]", "two classes have the name 'a'"),
        ("names: a.txt", "neither a list of names"),
        ("names: [[a]]", "neither a list of names"),
        ("nc: 3\nnames: [a]", "nc is 3, and names has 1"),
        ("nc: many", "neither a list of names"),
        ("names: [a]\nval: {a: b}", "val is neither a path"),
        ("names: [a]\nkpt_shape: 17", "kpt_shape is not two numbers"),
    ],
)
def test_what_cannot_be_is_refused(text: str, reason: str) -> None:
    with pytest.raises(UnusableInput, match=rf"data\.yaml.*{reason}"):
        of_yaml(f"train: images\n{text}\n", "data.yaml")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "[1, 2]",
        "train: 1",
        "names: [a]",
        "{",
        "a: !!python/object:os.system x",
        "[" * 10**4,
    ],
)
def test_other_yaml_is_not_a_data_file(text: str) -> None:
    assert of_yaml(text, "a.yaml") is None


def test_darknets_lines_name_the_lists_and_the_file_of_names() -> None:
    text = "classes= 2\ntrain  = data/train.txt # all\nvalid = data/test.txt\nnames = obj.names"
    parts = {"train": ("data/train.txt",), "valid": ("data/test.txt",)}
    assert of_lines(text) == DataFile(parts=parts, names_file="obj.names")
    assert of_lines("a = b") is None
