"""What no reader shows of an image is counted, however the dataset was packed."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
from called_packer import call_packer
from made_images import make_image
from PIL import Image

import packer
from reader.format import Manifest

COUNTS = {
    "16 bits a value; the highest 8 are used": 4,
    "3 pages; the first is used": 3,
    "4 bands; the first 3 are used": 2,
    "several frames; the first is used": 1,
    "signed or floating-point values; they are clipped to 0 to 255": 2,
    "transparency, which is dropped": 3,
}


@pytest.fixture
def odd(tmp_path: Path) -> Path:
    """Images with what no reader shows, in two classes, among plain ones."""
    for name in "ab":
        (tmp_path / "src" / name).mkdir(parents=True)
    of_a, of_b = tmp_path / "src" / "a", tmp_path / "src" / "b"
    image = make_image(1, 40, 60)
    deep = np.arange(2400, dtype=np.uint16).reshape(40, 60) * 27
    for number in range(3):
        pages = [make_image(seed, 40, 60) for seed in range(2)]
        image.save(of_a / f"pages{number}.tif", save_all=True, append_images=pages)
        make_image(number, mode="RGBA").save(of_b / f"clear{number}.png")
        make_image(number).save(of_b / f"plain{number}.jpg")
        Image.fromarray(deep).save(of_a / f"deep{number}.png")
    Image.fromarray(deep.astype(np.float32)).save(of_a / "float.tif")
    Image.fromarray(deep.astype(np.int32)).save(of_b / "signed.tif")
    for number in range(2):
        make_image(number).convert("RGBX").save(of_a / f"infrared{number}.tif")
    image.save(of_b / "moving.gif", save_all=True, append_images=[make_image(2, 40, 60)])
    (of_b / "deep.ppm").write_bytes(b"P6 40 20 65535\n" + bytes(40 * 20 * 6))
    return tmp_path / "src"


def dropped(dataset: Path) -> dict[str, int]:
    return dict(Manifest.load(dataset).dropped)


def test_a_line_for_each_kind_is_printed_and_kept_in_the_dataset(odd: Path, tmp_path: Path) -> None:
    done = call_packer("pack", odd, tmp_path / "dst")
    lines = ["3 images have 3 pages; the first is used", "1 image has several frames; the first"]
    for printed in (done.stdout, call_packer("info", tmp_path / "dst").stdout):
        assert all(line in printed for line in lines), printed
    assert json.loads((tmp_path / "dst" / "dataset.json").read_text())["dropped"] == COUNTS
    again = call_packer("pack", odd, tmp_path / "dst", "--json")
    assert json.loads(again.stdout)["dropped"] == COUNTS
    info = call_packer("info", tmp_path / "dst", "--json")
    assert json.loads(info.stdout)["dropped"] == COUNTS


@pytest.mark.parametrize("options", [["--jobs", 2], ["--quality", 90], ["--raw", "20x20"]])
def test_the_counts_depend_on_no_option(odd: Path, tmp_path: Path, options: list[object]) -> None:
    assert not call_packer("pack", odd, tmp_path / "dst", "--shard-samples", 3, *options).returncode
    assert dropped(tmp_path / "dst") == COUNTS


def test_parts_and_a_resumed_run_count_the_same(odd: Path, tmp_path: Path) -> None:
    some = "pack", odd, tmp_path / "dst", "--shard-samples", 3
    for part in ("1/2", "2/2"):
        assert not call_packer(*some, "--part", part).returncode
    assert not call_packer(*some).returncode  # commits what the parts have written
    assert dropped(tmp_path / "dst") == COUNTS


def test_an_append_adds_its_own(odd: Path, tmp_path: Path) -> None:
    later = tmp_path / "later"
    shutil.move(odd / "a" / "pages0.tif", later)
    call_packer("pack", odd, tmp_path / "dst")
    assert dropped(tmp_path / "dst") == COUNTS | {"3 pages; the first is used": 2}
    shutil.move(later, odd / "a" / "pages0.tif")
    assert not call_packer("pack", odd, tmp_path / "dst", "--append").returncode
    assert dropped(tmp_path / "dst") == COUNTS


def test_tars_that_are_indexed_count_the_same(odd: Path, tmp_path: Path) -> None:
    call_packer("pack", odd, tmp_path / "dst", "--shard-samples", 3)
    (tmp_path / "tars").mkdir()
    for path in (tmp_path / "dst").glob("*.tar"):
        shutil.copy(path, tmp_path / "tars")
    assert not call_packer("index", tmp_path / "tars").returncode
    assert dropped(tmp_path / "tars") == COUNTS


def test_pictures_of_a_loop_are_counted(tmp_path: Path) -> None:
    with packer.Writer(tmp_path / "dst") as writer:
        writer.write({"image": make_image(1, mode="RGBA"), "label": 0})
        writer.write({"image": make_image(2), "label": 1})
    assert dropped(tmp_path / "dst") == {"transparency, which is dropped": 1}


def test_a_dataset_of_plain_images_records_nothing(packed: Path) -> None:
    assert "dropped" not in json.loads((packed / "dataset.json").read_text())
