"""Datasets that other libraries write are packed as they are: run where these are installed."""

from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import packer
from reader import Dataset

COUNT = 40


def library(name: str) -> Any:
    """Return a module, or skip the test where it is missing or does not work here."""
    return pytest.importorskip(name, exc_type=ImportError)


def png(number: int) -> bytes:
    data = BytesIO()
    Image.fromarray(np.full((9, 9, 3), number, np.uint8)).save(data, "PNG")
    return data.getvalue()


def mds(path: Path) -> None:
    writer = library("streaming").MDSWriter
    columns = {"image": "png", "label": "int", "id": "str"}
    with writer(out=str(path), columns=columns, size_limit=4096) as shards:
        for number in range(COUNT):
            picture = Image.open(BytesIO(png(number)))
            shards.write({"image": picture, "label": number % 3, "id": f"k{number}"})


def tfrecord(path: Path) -> None:
    writer = library("tfrecord").TFRecordWriter
    path.mkdir()
    for file in range(4):
        records = writer(str(path / f"train-{file:05d}-of-00004"))
        for number in range(file, COUNT, 4):
            fields = {"image/encoded": (png(number), "byte"), "label": (number % 3, "int")}
            records.write({**fields, "id": (f"k{number}".encode(), "byte")})
        records.close()


def lmdb(path: Path) -> None:
    with library("lmdb").open(str(path)) as database, database.begin(write=True) as transaction:
        for number in range(COUNT):
            transaction.put(f"k{number}".encode(), png(number))
            transaction.put(f"k{number}.cls".encode(), str(number % 3).encode())


@pytest.mark.parametrize("make", [mds, tfrecord, lmdb])
def test_images_labels_and_keys_are_those_that_were_written(
    make: Callable[[Path], None], tmp_path: Path
) -> None:
    make(tmp_path / "data")
    packer.pack(tmp_path / "data", tmp_path / "shards", jobs=1)
    dataset = Dataset(tmp_path / "shards")
    keys = [key.rpartition("/")[2] for key in dataset.keys]
    assert sorted(keys) == sorted(f"k{number}" for number in range(COUNT))
    for number, key in enumerate(keys):
        image, label = dataset[number]
        assert (int(image[0, 0, 0]), label) == (int(key[1:]), int(key[1:]) % 3)
