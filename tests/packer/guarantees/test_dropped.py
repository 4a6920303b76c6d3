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


@pytest.fixture(scope="module")
def odd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Images with what no reader shows, in two classes, among plain ones."""
    root = tmp_path_factory.mktemp("odd")
    for name in "ab":
        (root / "src" / name).mkdir(parents=True)
    of_a, of_b = root / "src" / "a", root / "src" / "b"
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
    return root / "src"


def dropped(dataset: Path) -> dict[str, int]:
    return dict(Manifest.load(dataset).dropped)


def test_each_kind_is_printed_and_kept_also_by_indexed_tars(odd: Path, tmp_path: Path) -> None:
    dst = tmp_path / "dst"
    done = call_packer("pack", odd, dst, "--shard-samples", 3, "--jobs", 2)
    lines = ["3 images have 3 pages; the first is used", "1 image has several frames; the first"]
    for printed in (done.stdout, call_packer("info", dst).stdout):
        assert all(line in printed for line in lines), printed
    for command in (["pack", odd, dst, "--shard-samples", 3], ["info", dst]):
        assert json.loads(call_packer(*command, "--json").stdout)["dropped"] == COUNTS
    assert dropped(dst) == COUNTS
    (tmp_path / "tars").mkdir()
    for path in dst.glob("*.tar"):
        shutil.copy(path, tmp_path / "tars")
    call_packer("index", tmp_path / "tars", code=0)
    assert dropped(tmp_path / "tars") == COUNTS


@pytest.mark.parametrize("options", [["--quality", 90], ["--raw", "20x20"]])
def test_the_counts_depend_on_no_option(odd: Path, dst: Path, options: list[object]) -> None:
    call_packer("pack", odd, dst, "--jobs", 1, *options, code=0)
    assert dropped(dst) == COUNTS


def test_parts_and_a_run_that_joins_them_count_the_same(odd: Path, dst: Path) -> None:
    command = "pack", odd, dst, "--shard-samples", 3, "--jobs", 1
    for part in (["--part", "1/2"], ["--part", "2/2"], []):
        call_packer(*command, *part, code=0)
    assert dropped(dst) == COUNTS


def test_an_append_adds_its_own(odd: Path, tmp_path: Path) -> None:
    src = shutil.copytree(odd, tmp_path / "src")
    (src / "a" / "pages0.tif").unlink()
    call_packer("pack", src, tmp_path / "dst", "--jobs", 1)
    assert dropped(tmp_path / "dst") == COUNTS | {"3 pages; the first is used": 2}
    shutil.copy2(odd / "a" / "pages0.tif", src / "a")
    call_packer("pack", src, tmp_path / "dst", "--append", "--jobs", 1, code=0)
    assert dropped(tmp_path / "dst") == COUNTS


def test_pictures_of_a_loop_count_and_plain_ones_record_nothing(packed: Path, dst: Path) -> None:
    with packer.Writer(dst) as writer:
        writer.write({"image": make_image(1, mode="RGBA"), "label": 0})
        writer.write({"image": make_image(2), "label": 1})
    assert dropped(dst) == {"transparency, which is dropped": 1}
    assert "dropped" not in json.loads((packed / "dataset.json").read_text())
