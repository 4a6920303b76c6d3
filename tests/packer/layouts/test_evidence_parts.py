"""Texts within archives by split that annotate the images there."""

import re
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.fixture
def zips(tmp_path: Path, make_jpegs: Callable[..., dict[str, bytes]]) -> Path:
    """A folder of a zip of images for each split, with a text that names them."""
    (tmp_path / "zips").mkdir()
    for split in ("train", "val"):
        names = [f"{split}{number}.jpg" for number in range(6)]
        with zipfile.ZipFile(tmp_path / "zips" / f"{split}.zip", "w") as archive:
            for name, image in make_jpegs(*names).items():
                archive.writestr(name, image)
            lines = (
                f"{name} {'cat' if number % 2 else 'dog'}\n" for number, name in enumerate(names)
            )
            archive.writestr("labels.txt", "".join(lines))
    return tmp_path / "zips"


def test_a_text_in_archives_by_split_is_refused_and_unpacked_it_is_read(
    zips: Path, run_packer: Run
) -> None:
    done = run_packer("pack", zips, zips.parent / "dst")
    assert done.returncode == 2
    assert "train.zip/labels.txt names 6 of the 6 images there" in done.stderr
    commands = re.findall(r"^  (python .*|packer .*)$", done.stderr, re.MULTILINE)
    *unpacking, packing = [one.replace("FOLDER", f"{zips.parent}/all") for one in commands]
    for one in unpacking:
        subprocess.run(one, shell=True, check=True)
    done = run_packer(*packing.split()[1:])
    assert done.returncode == 0, done.stderr
    assert "2 classes (cat, dog); splits train 6, val 6" in done.stdout
