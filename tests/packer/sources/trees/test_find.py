"""Archives by split, ``train.zip`` beside ``val.tar``, are what they unpack to."""

import io
import re
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from called_packer import call_packer

FilesOf = Callable[[Path], dict[str, bytes]]
NAMES = [f"{animal}/{number}" for animal in ("cat", "dog") for number in range(3)]


@pytest.fixture(params=["class folders", "a text in each", "a table beside", "masks"])
def files(request: pytest.FixtureRequest, make_jpegs: Callable[..., dict[str, bytes]]) -> Any:
    """The files of a dataset by path, whose images are in train and val."""
    splits = ("train", "val")
    if request.param == "class folders":
        return make_jpegs(*(f"{split}/{name}.jpg" for split in splits for name in NAMES))
    flat = [f"{split}{number}.jpg" for split in splits for number in range(6)]
    images = {f"{name[:-5]}/{name}": data for name, data in make_jpegs(*flat).items()}
    if request.param == "masks":
        masks = {p.replace("/", "/masks/").replace(".jpg", ".png"): d for p, d in images.items()}
        return {path.replace("/", "/images/"): data for path, data in images.items()} | masks
    rows = {path: f"{path[-10:]},{'cat' if n % 2 else 'dog'}" for n, path in enumerate(images)}
    rows = {path: row.removeprefix("/") for path, row in rows.items()}
    if request.param == "a table beside":
        each = {split: [row for row in rows.values() if row.startswith(split)] for split in splits}
        tables = {f"{split}.csv": "\n".join(["file,label", *each[split], ""]) for split in splits}
        return images | {name: text.encode() for name, text in tables.items()}
    texts = dict.fromkeys((f"{split}/labels.txt" for split in splits), b"")
    for path, row in rows.items():
        texts[f"{path.split('/')[0]}/labels.txt"] += row.replace(",", " ").encode() + b"\n"
    return images | texts


def write(root: Path, files: Mapping[str, bytes], archives: Mapping[str, str]) -> Path:
    """Write files, those in some folders into archives of the folder's name."""
    for path, data in files.items():
        top, _, rest = path.partition("/")
        kind = archives.get(top) if rest else None
        there = root / (f"{top}.{kind}" if kind else path)
        there.parent.mkdir(parents=True, exist_ok=True)
        if kind == "zip":
            with zipfile.ZipFile(there, "a") as zipped:
                zipped.writestr(rest, data)
        elif kind:
            with tarfile.open(there, "a") as tar:
                info = tarfile.TarInfo(rest)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
        else:
            there.write_bytes(data)
    return root


@pytest.mark.parametrize(
    "packed", [{"train": "zip", "val": "zip"}, {"train": "tar", "val": "zip"}, {"val": "tar"}]
)
def test_archives_by_split_are_packed_as_the_folders_that_they_unpack_to(
    tmp_path: Path,
    files: dict[str, bytes],
    packed: dict[str, str],
    files_of: FilesOf,
) -> None:
    for name, kinds in (("folders", {}), ("archives", packed)):
        src = write(tmp_path / name, files, kinds)
        done = call_packer("pack", src, tmp_path / f"{name}.dst", "--jobs", 1)
        assert done.returncode == 0, done.stderr
    assert "train 6, val 6" in done.stdout
    archives, folders = (files_of(tmp_path / f"{name}.dst") for name in ("archives", "folders"))
    del archives["dataset.json"], folders["dataset.json"]  # which tell when the source was written
    assert archives == folders


def test_tars_of_samples_beside_another_split_are_refused_with_a_command_for_one(
    tmp_path: Path, make_jpegs: Callable[..., dict[str, bytes]]
) -> None:
    images = make_jpegs("a.jpg", "b.jpg")
    files = {f"val/cat/{name}": data for name, data in images.items()}
    for name, data in images.items():
        files |= {f"train/{name}": data, f"train/{name[0]}.cls": b"1"}
    src = write(tmp_path / "src", files, {"train": "tar", "val": "zip"})
    done = call_packer("pack", src, tmp_path / "dst")
    assert done.returncode == 2
    assert "train.tar has samples in tars, and val.zip has none" in done.stderr
    (command,) = re.findall(r"such as packer (pack .*)$", done.stderr, re.MULTILINE)
    assert call_packer(*command.replace("DST", str(tmp_path / "dst")).split()).returncode == 0
