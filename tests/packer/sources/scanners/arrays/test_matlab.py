"""MATLAB files: what is read of them, and that damage is refused in a sentence."""

import random

import numpy as np
import pytest
from layouts.matlab import mat

from packer.errors import UnusableInput
from packer.sources.scanners.arrays.matlab import load_matlab


@pytest.mark.parametrize("packed", [False, True])
def test_numbers_texts_cells_and_structs_are_read(packed: bool) -> None:
    people = [{"name": "Ada", "born": 1815}, {"name": "Blé", "born": 1900}]
    found = load_matlab(mat(packed=packed, n=[1, 2.5], t="x y", c=("a", "bc"), s=people), "x.mat")
    assert found["n"].tolist() == [[1, 2.5]]
    assert (found["t"], found["c"]) == ("x y", ["a", "bc"])
    assert [(item["name"], item["born"].item()) for item in found["s"]] == [
        ("Ada", 1815),
        ("Blé", 1900),
    ]


def test_what_is_no_matlab_file_of_version_5_is_refused() -> None:
    for data in (b"", b"\x89HDF\r\n\x1a\n" + bytes(200), b"MATLAB 7.3 MAT-file".ljust(200)):
        with pytest.raises(UnusableInput, match=r"x\.mat is not a MATLAB file of version 5"):
            load_matlab(data, "x.mat")


def test_damage_is_refused_and_never_more_than_a_sentence() -> None:
    whole = mat(packed=False, n=[1, 2], s=[{"name": "Ada", "born": 1815}], c=("a", "b"))
    refused = 0
    for seed in range(400):
        rng = random.Random(seed)
        data = bytearray(whole[: rng.randint(128, len(whole))])
        for _ in range(rng.randint(0, 4)):
            data[rng.randrange(128, len(data)) if len(data) > 128 else 0] = rng.randrange(256)
        try:
            found = load_matlab(bytes(data), "x.mat")
        except UnusableInput:
            refused += 1
        else:
            assert all(isinstance(value, (np.ndarray, str, list)) for value in found.values())
    assert refused
