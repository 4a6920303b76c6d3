"""Hostile arrays are rejected with their reason, before memory is reserved."""

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from made_images import write_files

import packer

SIZE = (40, 60)


def npy(array: Any) -> bytes:
    np.save(file := io.BytesIO(), array, allow_pickle=True)
    return file.getvalue()


SOUND = npy(np.zeros(SIZE, np.uint8))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (npy(np.array([[{}]], object)), "cannot be read"),
        (SOUND.replace(b"(40, 60)", b"(49, 60)"), "cannot be read"),
        (SOUND[:-1], "cannot be read"),
        (SOUND[:40], "cannot be read"),
        (SOUND.replace(b"'fortran", b"(fortran"), "cannot be read"),
        (npy(np.zeros((300, 300), np.uint8)), "--max-pixels"),
        (npy(np.zeros((3, 4, 5, 6), np.uint8)), "required"),
        (npy(np.zeros((0, 4), np.uint8)), "required"),
        (npy(np.zeros(SIZE, complex)), "required"),
        (npy(np.zeros(SIZE, "S0")), "required"),
        (npy(np.zeros(SIZE, [("x", "u1")])), "required"),
        (pickle.dumps([0]), "not an image"),
    ],
)
def test_only_a_hostile_array_is_rejected(tmp_path: Path, content: bytes, reason: str) -> None:
    src = write_files(tmp_path / "src", {"a/0.npy": SOUND, "a/1.npy": content})
    given: Any = {"images": ["{label}/{key}.npy"], "on_error": "skip", "max_pixels": 50_000}
    report = packer.pack(src, tmp_path / "dst", **given, progress=False, jobs=1)
    assert report.samples == 1
    assert {name for name, _ in report.rejected} == {"a/1.npy"}
    assert reason in report.rejected[0][1]


def test_an_array_in_place_of_an_image_file_loses_no_band_in_silence(dst: Path) -> None:
    items = [{"image": content} for content in (SOUND, npy(np.zeros((*SIZE, 12), np.uint16)))]
    report = packer.pack(items, dst, on_error="skip", progress=False, jobs=1)
    assert report.samples == 1
    assert "which a picture does not hold" in report.rejected[0][1]
