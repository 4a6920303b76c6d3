"""Datasets of torchvision, torch and Hugging Face: labels by name, and bytes kept."""

import io
import pickle
import tarfile
from collections.abc import Callable
from hashlib import md5
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import packer
import reader
from packer.sources.scanners.python.known import is_map_style

Encode = Callable[..., bytes]


@pytest.fixture
def jpegs(make_image: Callable[..., Image.Image], encode: Encode) -> list[bytes]:
    return [encode(make_image(seed, 20, 24), "JPEG") for seed in range(6)]


@pytest.fixture
def image_folder(tmp_path: Path, jpegs: list[bytes]) -> Path:
    for number, data in enumerate(jpegs):
        path = tmp_path / "images" / "ab"[number % 2] / f"{number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return tmp_path / "images"


def pack(src: Any, dst: Path, **options: Any) -> packer.PackReport:
    return packer.pack(src, dst, **{"jobs": 1, "progress": False, "jpeg": "verbatim", **options})


def stored(dst: Path, split: str | None = None) -> dict[int, bytes]:
    """Each sample's JPEG, by the number of its item."""
    packed = reader.Dataset(dst, split=split)
    numbers = [int(key.rpartition("/")[2]) for key in packed.keys]
    return {number: bytes(packed.read(row, "jpg")) for row, number in enumerate(numbers)}


def test_the_pixels_of_fake_data_come_back(tmp_path: Path) -> None:
    datasets = pytest.importorskip("torchvision.datasets", exc_type=Exception)
    dataset = datasets.FakeData(8, (3, 16, 20))
    report = pack(dataset, tmp_path / "dst")
    assert report.reading == "Read as torchvision's FakeData: 8 images; labels that are numbers."
    packed = reader.Dataset(tmp_path / "dst")
    for row, key in enumerate(packed.keys):
        image, label = dataset[int(key)]
        assert np.array_equal(packed[row][0], image)
        assert packed.targets[row] == label


def test_cifar_has_its_classes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    datasets = pytest.importorskip("torchvision.datasets", exc_type=Exception)
    cifar = datasets.CIFAR10
    folder = tmp_path / cifar.base_folder
    folder.mkdir()
    rng = np.random.default_rng(0)
    batch = {"data": rng.integers(0, 256, (4, 3072), np.uint8), "labels": [3, 1, 2, 0]}
    names = [f"class{number}" for number in range(10)]
    for name in [*(name for name, _ in cifar.train_list), "test_batch", "batches.meta"]:
        content = {"label_names": names} if name == "batches.meta" else batch
        (folder / name).write_bytes(pickle.dumps(content))
    sums = {file.name: md5(file.read_bytes()).hexdigest() for file in folder.iterdir()}
    monkeypatch.setattr(cifar, "train_list", [(name, sums[name]) for name, _ in cifar.train_list])
    monkeypatch.setattr(cifar, "test_list", [("test_batch", sums["test_batch"])])
    monkeypatch.setattr(cifar, "meta", {**cifar.meta, "md5": sums["batches.meta"]})
    with tarfile.open(tmp_path / cifar.filename, "w:gz") as archive:
        archive.add(folder, cifar.base_folder)
    dataset = cifar(tmp_path)
    pack(dataset, tmp_path / "dst")
    packed = reader.Dataset(tmp_path / "dst")
    assert packed.classes == names
    for row, key in enumerate(packed.keys):
        image, label = dataset[int(key)]
        assert np.array_equal(packed[row][0], image)
        assert packed.targets[row] == label


def test_an_image_folder_without_transforms_gives_its_files(
    tmp_path: Path, image_folder: Path, jpegs: list[bytes]
) -> None:
    datasets = pytest.importorskip("torchvision.datasets", exc_type=Exception)
    dataset = datasets.ImageFolder(image_folder)
    report = pack(dataset, tmp_path / "dst")
    assert "the files of torchvision's ImageFolder" in report.reading
    assert stored(tmp_path / "dst") == dict(enumerate([*jpegs[::2], *jpegs[1::2]]))
    assert reader.Dataset(tmp_path / "dst").classes == ["a", "b"]
    part = torch.utils.data.Subset(dataset, [4, 1])
    assert "a part of the files of" in pack(part, tmp_path / "part").reading
    assert stored(tmp_path / "part") == {0: jpegs[3], 1: jpegs[2]}


def test_an_image_folder_with_a_transform_gives_what_that_makes(
    tmp_path: Path, image_folder: Path
) -> None:
    datasets = pytest.importorskip("torchvision.datasets", exc_type=Exception)
    dataset = datasets.ImageFolder(image_folder, transform=lambda image: image.resize((8, 8)))
    assert pack(dataset, tmp_path / "dst").reading.startswith("Read as torchvision's ImageFolder")
    packed = reader.Dataset(tmp_path / "dst")
    for row, key in enumerate(packed.keys):
        assert np.array_equal(packed[row][0], dataset[int(key)][0])


def test_hugging_faces_images_keep_their_bytes_and_features_say_what_is_what(
    tmp_path: Path, jpegs: list[bytes]
) -> None:
    datasets = pytest.importorskip("datasets")
    features = datasets.Features(
        img=datasets.Image(),
        mask=datasets.Image(),
        kind=datasets.ClassLabel(names=["y", "x"]),
        caption=datasets.Value("string"),
    )
    rows = {
        "img": [{"bytes": data, "path": None} for data in jpegs],
        "mask": [Image.new("L", (24, 20), number) for number in range(6)],
        "kind": [number % 2 for number in range(6)],
        "caption": [f"number {number}" for number in range(6)],
    }
    dataset = datasets.Dataset.from_dict(rows, features=features)
    with pytest.raises(packer.UnusableInput, match=r"several images: 'img', 'mask'.*image_column="):
        pack(dataset, tmp_path / "dst")
    report = pack(dataset, tmp_path / "dst", image_column="img", jobs=2, shard_samples=2)
    assert "2 classes (y, x)" in report.reading
    assert stored(tmp_path / "dst") == dict(enumerate(jpegs))
    packed = reader.Dataset(tmp_path / "dst")
    row = packed.keys.index("00000003")
    mask = Image.open(io.BytesIO(packed.read(row, "mask.png")))
    assert (packed.targets[row], np.unique(mask).tolist()) == (1, [3])
    assert packed.read(row, "json") == b'{"caption":"number 3"}'
    again = datasets.Dataset.from_dict({**rows, "caption": ["other"] * 6}, features=features)
    with pytest.raises(packer.UnusableInput, match="the source has changed since"):
        pack(again, tmp_path / "dst", image_column="img", shard_samples=2)


def test_a_stream_of_hugging_faces_keeps_bytes_and_classes_too(
    tmp_path: Path, jpegs: list[bytes]
) -> None:
    datasets = pytest.importorskip("datasets")
    features = datasets.Features(
        image=datasets.Image(), label=datasets.ClassLabel(names=["y", "x"])
    )
    rows = {"image": [{"bytes": data, "path": None} for data in jpegs], "label": [0, 1] * 3}
    stream = datasets.Dataset.from_dict(rows, features=features).to_iterable_dataset()
    report = pack(stream, tmp_path / "dst", classes=["x", "y"])
    assert report.reading.startswith("Read as Hugging Face's IterableDataset, in turn: 6 images")
    assert stored(tmp_path / "dst") == dict(enumerate(jpegs))
    assert reader.Dataset(tmp_path / "dst").targets == [1, 0] * 3


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (
            lambda: {"image": [np.zeros((4, 4), np.uint8)], "label": [1]},
            r"give list\(zip\(",
        ),
        (
            lambda: torch.utils.data.DataLoader([torch.zeros(4, 4, dtype=torch.uint8)]),
            "give its dataset, loader.dataset",
        ),
        (
            lambda: pytest.importorskip("pandas").DataFrame({"image": ["a.jpg"]}),
            r'give frame.to_dict\("records"\)',
        ),
    ],
    ids=["columns", "DataLoader", "DataFrame"],
)
def test_what_has_columns_or_batches_for_items_is_refused_with_what_to_give(
    tmp_path: Path, make: Callable[[], Any], told: str
) -> None:
    with pytest.raises(packer.UnusableInput, match=told):
        pack(make(), tmp_path / "dst")


def test_a_dataset_dict_has_its_splits(tmp_path: Path, jpegs: list[bytes]) -> None:
    datasets = pytest.importorskip("datasets")
    features = datasets.Features(image=datasets.Image(), label=datasets.ClassLabel(names=["a"]))
    parts = {
        name: datasets.Dataset.from_dict(
            {"image": [{"bytes": data, "path": None} for data in part], "label": [0] * len(part)},
            features=features,
        )
        for name, part in (("train", jpegs[:4]), ("validation", jpegs[4:]))
    }
    report = pack(datasets.DatasetDict(parts), tmp_path / "dst")
    assert report.splits == {"train": 4, "validation": 2}
    assert stored(tmp_path / "dst", "validation") == dict(enumerate(jpegs[4:]))


def test_a_stream_is_not_map_style_whatever_it_inherits() -> None:
    class Stream(torch.utils.data.IterableDataset):
        def __iter__(self) -> Any:
            return iter(())

        def __len__(self) -> int:
            return 3

    assert not is_map_style(Stream())
    assert not is_map_style(iter([1]))
    assert is_map_style([1])
    assert is_map_style(torch.utils.data.TensorDataset(torch.zeros(2)))
