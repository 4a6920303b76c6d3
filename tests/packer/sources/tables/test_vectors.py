"""Which cells are vectors of 0 and 1, and which are anything else."""

from pathlib import Path

import pytest
from called_packer import call_packer
from made_images import encode, make_image

from packer.sources.tables.vectors import are_vectors, classes_in, fractions_in
from reader.format import Index, Manifest


@pytest.mark.parametrize(
    "texts",
    [
        ["[1, 0, 0]", "[0, 0, 1]"],
        ["[1. 0. 0.]", "[0. 1. 0.]"],
        ["(1, 0, 0)", "(0, 1, 0)"],
        ["1 0 0", "1 1 0"],
        ["1;0;0", "0;0;0"],
        ["[True, False]", "[False, True]"],
        ["tensor([1, 0, 0])", "tensor([0, 1, 0])"],
        ["array([1., 0.], dtype=float32)", "array([0., 1.], dtype=float32)"],
        ["100", "010", "001"],
    ],
)
def test_vectors_are_of_one_length_and_hold_0_and_1(texts: list[str]) -> None:
    assert are_vectors(texts)
    assert classes_in(texts[0])[0] == "0"


@pytest.mark.parametrize(
    "texts",
    [
        ["cat", "dog"],
        ["0", "1"],
        ["[3, 5]", "[1, 5]"],
        ["[0, 1]"],  # two classes, as well
        ["[0, 1]", "[0]"],
        ["100", "10", "1"],
        ["110", "011", "100"],  # as numbers have them
        ["1 0 0", "1 0"],
        ["[0.9, 0.1]", "[0.2, 0.8]"],
        [],
    ],
)
def test_names_numbers_and_lists_of_classes_are_no_vectors(texts: list[str]) -> None:
    assert not are_vectors(texts)


def test_lists_of_fractions_are_told_from_lists_of_classes() -> None:
    assert fractions_in(["[0.9, 0.1]", "[0.2, 0.8]"]) == "[0.9, 0.1]"
    assert fractions_in(["[3, 5]", "[1, 5]"]) == fractions_in(["0.5"]) == ""


@pytest.mark.parametrize("last", ["0, 0, 1", "0, 1, 0"])
def test_a_column_of_one_hot_vectors_has_the_labels_whatever_its_name(
    last: str, tmp_path: Path
) -> None:
    rows = ["1, 0, 0", "0, 1, 0", "1, 0, 0", last]
    for at in range(4):
        (tmp_path / f"source/im{at}.png").parent.mkdir(exist_ok=True)
        (tmp_path / f"source/im{at}.png").write_bytes(encode(make_image(at, 8, 8), "PNG"))
    text = "".join(f'im{at}.png,"[{row}]"\n' for at, row in enumerate(rows))
    (tmp_path / "source/all.csv").write_text(f"image,target_vector\n{text}")
    dst = tmp_path / "dst"
    call_packer("pack", tmp_path / "source", dst, "-j", 1, "--no-shuffle", code=0)
    manifest = Manifest.load(dst)
    index = Index.of_shard(dst, manifest.shards[0], len(manifest.classes), mapped=False)
    assert index.columns["label"].tolist() == [row.split(", ").index("1") for row in rows]
    assert list(manifest.classes) == ["0", "1", "2"]  # also one that no image has
