"""Folders with an array for each image are packed by one command, and lose no value."""

import re
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

import packer
import reader

pytestmark = pytest.mark.usefixtures("in_process")

SIZE = (40, 60)


def array(number: int, dtype: str, *bands: int) -> NDArray[Any]:
    return np.random.default_rng(number).integers(0, 250, (*SIZE, *bands)).astype(dtype)


def write(folder: Path, *places: str, dtype: str = "uint8", bands: tuple[int, ...] = ()) -> Path:
    for number, place in enumerate(f"{place}/{at}" for place in places for at in range(2)):
        (folder / place).parent.mkdir(parents=True, exist_ok=True)
        np.save(folder / f"{place}.npy", array(number, dtype, *bands))
    return folder


def pack(src: Path, to: Path, **options: Any) -> packer.PackReport:
    return packer.pack(src, to, progress=False, jobs=1, **options)


@pytest.mark.parametrize("bands", [(), (1,), (3,)])
def test_class_folders_of_arrays_of_pixels_are_packed_as_their_pictures(
    tmp_path: Path, bands: tuple[int, ...]
) -> None:
    report = pack(write(tmp_path / "src", "cat", "dog", bands=bands), tmp_path / "dst")
    assert (report.samples, dict(report.dropped)) == (4, {})
    dataset = reader.Dataset(tmp_path / "dst", channels=3 if bands == (3,) else 1)
    assert list(dataset.classes) == ["cat", "dog"]
    found = {key: number for number, key in enumerate(dataset.keys)}
    for number, key in enumerate(["cat/0", "cat/1", "dog/0", "dog/1"]):
        image, label = dataset[found[key]]
        assert label == number // 2
        assert np.array_equal(image.squeeze(), array(number, "uint8", *bands).squeeze())


@pytest.mark.parametrize(
    ("dtype", "bands"), [("uint16", (12,)), ("float32", (4,)), ("uint8", (5,))]
)
def test_all_bands_are_kept_beside_a_picture_of_them(
    tmp_path: Path, dtype: str, bands: tuple[int, ...]
) -> None:
    src = write(tmp_path / "src", "train/a", "train/b", "val/a", "val/b", dtype=dtype, bands=bands)
    report = pack(src, tmp_path / "dst")
    ((said, count),) = report.dropped.items()
    assert said == f"{bands[0]} bands of {dtype}, kept as npy; the picture is made of bands 1 to 3"
    assert count == 8
    fields = ("key", "label", reader.Bands("npy"))
    with reader.Loader(
        tmp_path / "dst", split="val", batch_size=4, shuffle=False, workers=0, fields=fields
    ) as loader:
        ((keys, labels, found),) = loader
    for key, label, one in zip(keys, labels.tolist(), found.numpy(), strict=True):
        number = 4 + 2 * label + int(key[-1])
        assert np.array_equal(one, np.moveaxis(array(number, dtype, *bands), -1, 0))


def test_the_picture_goes_from_the_least_value_to_the_most(tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    values = np.linspace(-5, 5, 1024, dtype=np.float32).reshape(32, 32)
    values[0, 0], values[0, 1] = np.nan, np.inf
    np.save(tmp_path / "src/0.npy", values)
    report = pack(tmp_path / "src", tmp_path / "dst", images=["{key}.npy"])
    assert list(report.dropped) == [
        "1 band of float32, kept as npy; the picture is made of the band"
    ]
    image = reader.Dataset(tmp_path / "dst", channels=1)[0][0].squeeze()
    scaled = (values - values[0, 2]) / (5 - values[0, 2]) * 255
    assert np.array_equal(image.ravel()[2:], scaled.ravel()[2:].round())
    assert (image[0, :2] == 0).all()


def test_arrays_that_may_be_others_are_asked_about_and_the_command_packs_them(
    tmp_path: Path, run_packer: Callable[..., Any]
) -> None:
    src = write(tmp_path / "src", "a", "b", dtype="float32")
    refused = run_packer("pack", src, tmp_path / "dst")
    command = re.search(r"if each is one image: packer (.*)", refused.stderr)
    assert command is not None
    done = run_packer(*shlex.split(command[1]))
    assert not done.returncode, done.stderr
    assert reader.Dataset(tmp_path / "dst").read(0, "npy") == (src / "a/0.npy").read_bytes()


def test_files_named_after_an_array_are_its_members_also_in_a_zip(tmp_path: Path) -> None:
    src = write(tmp_path / "src", "a", "b")
    for path in src.rglob("*.npy"):
        path.with_suffix(".txt").write_text(path.stem)
    shutil.make_archive(str(tmp_path / "src"), "zip", src)
    for source in (src, tmp_path / "src.zip"):
        report = pack(source, tmp_path / "dst", overwrite=True)
        assert (report.samples, len(report.rejected)) == (4, 0)
        dataset = reader.Dataset(tmp_path / "dst")
        assert {dataset.read(number, "txt") for number in range(4)} == {b"0", b"1"}


def test_an_array_beside_an_image_stays_its_member(tmp_path: Path) -> None:
    src = write(tmp_path / "src", "a", "b", dtype="uint16", bands=(12,))
    for path in src.rglob("*.npy"):
        Image.new("RGB", SIZE[::-1]).save(path.with_suffix(".png"))
    assert pack(src, tmp_path / "dst").samples == 4
    assert reader.Dataset(tmp_path / "dst").read(0, "npy")


def test_one_folder_of_alike_arrays_is_packed_and_other_arrays_are_not(tmp_path: Path) -> None:
    source = write(tmp_path / "src", "a", "b", bands=(3,))
    for number, path in enumerate(sorted(source.glob("*/*.npy"))):
        path.rename(source / f"{number:03d}.npy")
    assert pack(source, tmp_path / "dst").samples == 4
    np.save(source / "004.npy", array(9, "uint8"))  # the mask of one of them
    with pytest.raises(packer.UnusableInput):
        pack(source, tmp_path / "other")
