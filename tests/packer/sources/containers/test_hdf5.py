"""HDF5: columns, splits, files of labels, images that are datasets, damage."""

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from layouts.huggingface import image

import packer
from reader import Dataset

h5py = pytest.importorskip("h5py")

PIXELS = np.random.default_rng(0).integers(0, 255, (6, 12, 10, 3), np.uint8)
LABELS = np.arange(6) % 2


def write(path: Path, contents: dict[str, Any], **options: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with h5py.File(path, "w") as file:
        for name, values in contents.items():
            is_array = isinstance(values, np.ndarray) and values.ndim > 2
            file.create_dataset(name, data=values, **(options if is_array else {}))
    return path


def pack(source: Path, **options: Any) -> Dataset:
    packer.pack(source, source.parent / "shards", jobs=1, shuffle=False, **options)
    return Dataset(source.parent / "shards")


@pytest.mark.parametrize(
    ("images", "options"),
    [
        (PIXELS, {}),
        (PIXELS, {"chunks": (4, 12, 10, 3), "compression": "gzip"}),
        (PIXELS.transpose(0, 3, 1, 2), {"chunks": (1, 3, 12, 10)}),
    ],
)
def test_pixels_of_each_storage_are_read(images: Any, options: Any, tmp_path: Path) -> None:
    contents = {"images": images, "labels": LABELS[:, None], "age": LABELS / 2}
    dataset = pack(write(tmp_path / "data/a.h5", contents, **options))
    assert dataset.targets == LABELS.tolist()
    assert all(np.array_equal(dataset[n][0], PIXELS[n]) for n in range(6))
    assert dataset.read(3, "json") == b'{"age":0.5}'


@pytest.mark.parametrize(
    "names",
    [
        ("train/images", "train/labels", "test/images", "test/labels"),
        ("x_train", "y_train", "x_test", "y_test"),
    ],
)
def test_groups_and_words_are_splits(names: Any, tmp_path: Path) -> None:
    values = PIXELS, LABELS, PIXELS[:2], LABELS[:2]
    write(tmp_path / "data/a.h5", dict(zip(names, values, strict=True)))
    pack(tmp_path / "data")
    assert len(Dataset(tmp_path / "shards", split="train")) == 6
    assert Dataset(tmp_path / "shards", split="test").targets == [0, 1]


def test_labels_in_a_file_of_their_own_are_kept_as_pcam_has_them(tmp_path: Path) -> None:
    for split in ("train", "valid"):
        write(tmp_path / f"data/camelyon_split_{split}_x.h5", {"x": PIXELS})
        labels = LABELS.astype(np.uint8).reshape(6, 1, 1, 1)
        write(tmp_path / f"data/camelyon_split_{split}_y.h5", {"y": labels})
    pack(tmp_path / "data")
    assert Dataset(tmp_path / "shards", split="valid").targets == LABELS.tolist()
    assert len(Dataset(tmp_path / "shards", split="train")) == 6


def test_names_of_classes_and_masks_are_kept(tmp_path: Path) -> None:
    contents = {"train_set_x": PIXELS, "train_set_y": LABELS, "list_classes": [b"no", b"cat"]}
    dataset = pack(write(tmp_path / "data/a.h5", {**contents, "train_set_mask": PIXELS[..., 0]}))
    assert dataset.classes == ["no", "cat"]
    assert dataset.targets == LABELS.tolist()
    assert np.array_equal(
        np.squeeze(np.load(_file(dataset.read(1, "mask.npy")))), PIXELS[1, ..., 0]
    )


def _file(data: bytes) -> Any:

    return io.BytesIO(data)


@pytest.mark.parametrize("is_encoded", [True, False])
def test_images_that_are_datasets_have_their_groups_as_classes(
    is_encoded: bool, tmp_path: Path
) -> None:
    stored = [np.frombuffer(image(n), np.uint8) if is_encoded else PIXELS[n] for n in range(3)]
    contents = {
        f"{split}/{kind}/{number}": stored[number]
        for split in ("train", "val")
        for kind in ("ant", "bee")
        for number in range(3)
    }
    dataset = pack(write(tmp_path / "data/a.h5", contents))
    assert dataset.classes == ["ant", "bee"]
    assert "train/ant/0" in list(dataset.keys)
    assert len(dataset) == 12


def test_encoded_images_of_any_length_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        images = file.create_dataset("jpeg", (4,), dtype=h5py.vlen_dtype(np.uint8))
        for number in range(4):
            images[number] = np.frombuffer(image(number), np.uint8)
        file["label"] = np.array(["ant", "bee", "ant", "bee"], dtype=object)
    dataset = pack(path)
    assert dataset.classes == ["ant", "bee"]
    assert [dataset.read(n, "png") for n in range(4)] == [image(n) for n in range(4)]


def test_what_is_not_used_and_what_is_damaged_is_named(tmp_path: Path) -> None:
    source = write(tmp_path / "a.h5", {"images": PIXELS, "scores": np.arange(5)})
    report = packer.pack(source, tmp_path / "shards", jobs=1, on_error="skip")
    assert [name for name, _ in report.rejected] == ["a.h5: /scores"]
    floats = write(tmp_path / "floats.h5", {"images": PIXELS.astype(np.float32)})
    with pytest.raises(packer.UnusableInput, match="uint8"):
        packer.pack(floats, tmp_path / "other")
    cut = tmp_path / "cut.h5"
    cut.write_bytes(source.read_bytes()[:900])
    with pytest.raises(packer.UnusableInput, match="cannot be read as HDF5"):
        packer.pack(cut, tmp_path / "other")
