"""Files that name the numbers of classes, or the values of masks."""

import shutil
from pathlib import Path

import numpy as np
import pytest
from called_packer import call_packer
from made_images import encode, make_image, png

from reader.format import Manifest

_NAMES = '{"0": "background", "1": "ant", "2": "bee"}'


def _masks(folder: Path, values: int) -> Path:
    for seed in range(3):
        for name in ("images", "masks"):
            (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / f"images/im{seed}.png").write_bytes(encode(make_image(seed, 8, 8), "PNG"))
        mask = (np.arange(64).reshape(8, 8) % values).astype(np.uint8)
        (folder / f"masks/im{seed}.png").write_bytes(png(mask))
    return folder


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("classes.json", _NAMES),
        ("_classes.csv", "Pixel Value, Class\n0, background\n1, ant\n2, bee\n"),
        ("labels.txt", "background\nant\nbee\n"),
        ("classes.yaml", "names: [background, ant, bee]\n"),
    ],
)
def test_values_of_masks_have_the_names_of_a_file(name: str, text: str, tmp_path: Path) -> None:
    source = _masks(tmp_path / "source", 3)
    (source / name).write_text(text)
    call_packer("pack", source, tmp_path / "dst", "-j", 1, code=0)
    assert list(Manifest.load(tmp_path / "dst").classes) == ["background", "ant", "bee"]


def test_names_of_fewer_values_than_masks_have_are_not_taken(tmp_path: Path) -> None:
    source = _masks(tmp_path / "source", 5)
    (source / "classes.json").write_text(_NAMES)
    call_packer("pack", source, tmp_path / "dst", "-j", 1, code=0)
    assert not Manifest.load(tmp_path / "dst").classes


def test_an_append_keeps_the_names_of_folders_that_are_numbers(tmp_path: Path) -> None:
    source, dst = tmp_path / "source", tmp_path / "dst"
    for seed, name in enumerate(("1/a", "1/b", "2/c", "2/d")):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / f"{name}.png").write_bytes(encode(make_image(seed, 16, 16), "PNG"))
    (source / "cat_to_name.json").write_text('{"1": "ant", "2": "bee", "3": "cow"}')
    call_packer("pack", source, dst, "-j", 1, code=0)
    assert list(Manifest.load(dst).classes) == ["ant", "bee"]
    (source / "3").mkdir()
    (source / "3/e.png").write_bytes(encode(make_image(9, 16, 16), "PNG"))
    call_packer("pack", source, dst, "-j", 1, "--append", code=0)
    assert list(Manifest.load(dst).classes) == ["ant", "bee", "cow"]


def test_numbers_stay_where_two_files_name_them_differently(tmp_path: Path) -> None:
    source = tmp_path / "source"
    for seed, name in enumerate(("1/a", "1/b", "2/c", "2/d")):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / f"{name}.png").write_bytes(encode(make_image(seed, 16, 16), "PNG"))
    (source / "names.json").write_text('{"1": "ant", "2": "bee"}')
    shutil.copy(source / "names.json", source / "more_names.json")
    (source / "other_names.json").write_text('{"1": "bee", "2": "ant"}')
    call_packer("pack", source, tmp_path / "dst", "-j", 1, code=0)
    assert list(Manifest.load(tmp_path / "dst").classes) == ["1", "2"]
