"""The lines that `packer pack` prints for datasets of other libraries, run with these libraries."""

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import packer
from reader import Dataset

COUNT = 4


def library(name: str) -> Any:
    """Return a module, or skip the test where it is missing or does not work here."""
    return pytest.importorskip(name, exc_type=ImportError)


def jpegs(folder: Path) -> list[Path]:
    paths = [folder / f"{number}.jpg" for number in range(COUNT)]
    for number, path in enumerate(paths):
        Image.new("RGB", (40, 30), (50 * number, 0, 0)).save(path)
    return paths


def mds(path: Path) -> Path:
    streaming = library("streaming")
    with streaming.MDSWriter(out=str(path), columns={"image": "jpeg", "label": "int"}) as writer:
        for label, file in enumerate(jpegs(path.parent)):
            writer.write({"image": Image.open(file), "label": label})
    return path


def opened(sample: tuple[Path, int]) -> dict[str, Any]:
    return {"image": Image.open(sample[0]), "label": sample[1]}


def litdata(path: Path) -> Path:
    lightning = library("litdata")
    library("torchvision")  # by which it decodes JPEGs
    samples = [(file, label) for label, file in enumerate(jpegs(path.parent))]
    lightning.optimize(opened, samples, str(path), chunk_bytes="64MB", num_workers=1)
    return path


def tfrecord(path: Path) -> Path:
    writer = library("tfrecord").TFRecordWriter(str(path / "train.tfrecord"))
    for label, file in enumerate(jpegs(path.parent)):
        data = {"image/encoded": (file.read_bytes(), "byte"), "image/class/label": (label, "int")}
        writer.write(data)
    writer.close()
    return path


def lmdb(path: Path) -> Path:
    with library("lmdb").open(str(path)) as database, database.begin(write=True) as transaction:
        for number, file in enumerate(jpegs(path.parent)):
            transaction.put(b"%d" % number, file.read_bytes())
    return path


def hdf5(path: Path) -> Path:
    with library("h5py").File(path / "train.h5", "w") as file:
        file["images"], file["labels"] = PIXELS, LABELS
    return path / "train.h5"


def npz(path: Path) -> Path:
    np.savez(path / "train.npz", train_images=PIXELS, train_labels=LABELS)
    return path / "train.npz"


def matlab(path: Path) -> Path:
    contents = {"X": PIXELS, "y": LABELS[:, None]}
    importlib.import_module("scipy.io").savemat(path / "train.mat", contents)
    return path / "train.mat"


PIXELS = np.random.default_rng(0).integers(0, 255, (COUNT, 30, 40, 3), np.uint8)
LABELS = np.arange(COUNT)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # theirs
@pytest.mark.parametrize("make", [mds, litdata, tfrecord, lmdb, hdf5, npz, matlab])
def test_the_lines_that_are_printed_pack_the_dataset(
    make: Callable[[Path], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library("scipy" if make is matlab else "numpy")
    (tmp_path / "data").mkdir()
    source = make(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(packer.UnusableInput) as refused:
        packer.pack(source, "shards")
    lines = [line.strip() for line in str(refused.value).split("\n")[1:]]
    exec("\n".join(lines), {})
    dataset = Dataset("shards")
    assert len(dataset) == COUNT
    assert dataset[0][0].shape == (30, 40, 3)
    assert sorted(dataset.targets) == ([-1] * COUNT if make is lmdb else list(range(COUNT)))
