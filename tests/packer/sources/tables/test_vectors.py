"""Which cells are vectors of 0 and 1, and which are anything else."""

import pytest

from packer.sources.tables.vectors import are_vectors, classes_in, fractions_in


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
