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


def opened(sample: tuple[Path, int]) -> dict[str, Any]:
    return {"image": Image.open(sample[0]), "label": sample[1]}


def litdata(path: Path) -> Path:
    lightning = library("litdata")
    library("torchvision")  # by which it decodes JPEGs
    samples = [(file, label) for label, file in enumerate(jpegs(path.parent))]
    lightning.optimize(opened, samples, str(path), chunk_bytes="64MB", num_workers=1)
    return path


def npz(path: Path) -> Path:
    np.savez(path / "train.npz", train_images=PIXELS, train_labels=LABELS, sources=LABELS)
    return path / "train.npz"


def npy(path: Path) -> Path:
    np.save(path / "train.npy", PIXELS)
    return path / "train.npy"


def dicom(path: Path) -> Path:
    pydicom = library("pydicom")
    for number, pixels in enumerate(PIXELS[..., 0].astype(np.uint16) * 100):
        meta = pydicom.dataset.FileMetaDataset()
        meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
        meta.MediaStorageSOPClassUID = pydicom.uid.CTImageStorage
        meta.MediaStorageSOPInstanceUID = pydicom.uid.generate_uid()
        slice = pydicom.Dataset()
        slice.file_meta = meta
        slice.Rows, slice.Columns = pixels.shape
        slice.SamplesPerPixel, slice.PhotometricInterpretation = 1, "MONOCHROME2"
        slice.BitsAllocated = slice.BitsStored = 16
        slice.HighBit, slice.PixelRepresentation = 15, 0
        slice.PixelData = pixels.tobytes()
        slice.save_as(path / f"{number}.dcm", enforce_file_format=True)
    return path


def emnist(path: Path) -> Path:
    part = {"images": FLAT, "labels": LABELS[:, None]}
    contents = {"dataset": {"train": part, "test": part}}
    importlib.import_module("scipy.io").savemat(path / "emnist-letters.mat", contents)
    return path


def matlab(path: Path) -> Path:
    contents = {"X": PIXELS, "y": LABELS[:, None]}
    importlib.import_module("scipy.io").savemat(path / "train.mat", contents)
    return path / "train.mat"


def several(path: Path) -> Path:
    for name in "ab":
        np.savez(path / f"{name}.npz", train_images=PIXELS, train_labels=LABELS, sources=LABELS)
    return path


def matlabs(path: Path) -> Path:
    for name in "ab":
        contents = {"X": PIXELS, "y": LABELS[:, None]}
        importlib.import_module("scipy.io").savemat(path / f"{name}.mat", contents)
    return path


PIXELS = np.random.default_rng(0).integers(0, 255, (COUNT, 30, 40, 3), np.uint8)
LABELS = np.arange(COUNT)
FLAT = PIXELS.reshape(COUNT, -1)[:, :784]
UNLABELLED = {"npy", "dicom"}
SHAPES = {"emnist": (28, 28, 3)}


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # theirs
@pytest.mark.parametrize(
    "make",
    [litdata, npz, npy, dicom, matlab, emnist, several, matlabs],
)
def test_the_lines_that_are_printed_pack_the_dataset(
    make: Callable[[Path], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library("scipy" if make in (matlab, matlabs, emnist) else "numpy")
    (tmp_path / "data").mkdir()
    source = make(tmp_path / "data")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(packer.UnusableInput) as refused:
        packer.pack(source, "shards")
    lines = [line.strip() for line in str(refused.value).split("\n")[1:]]
    exec("\n".join(lines), {})
    dataset = Dataset("shards", split="test" if make is emnist else None)
    count = COUNT * (2 if make in (several, matlabs) else 1)
    assert len(dataset) == count
    assert dataset[0][0].shape == SHAPES.get(make.__name__, (30, 40, 3))
    labels = [-1] * COUNT if make.__name__ in UNLABELLED else LABELS.tolist()
    assert sorted(dataset.targets) == sorted(labels * (count // COUNT))
