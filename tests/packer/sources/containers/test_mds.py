"""MDS: the encodings of its columns, damage, missing shards."""

import io
import json
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from layouts.huggingface import image
from layouts.records import mds
from PIL import Image

import packer
from reader import Dataset

PIXELS = np.arange(8 * 6 * 3, dtype=np.uint8).reshape(8, 6, 3)


def write(path: Path, items: list[dict[str, Any]], encodings: Any = None) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(mds(items, encodings))
    return path


def pack(source: Path, **options: Any) -> Dataset:
    packer.pack(source, source.parent / "shards", jobs=1, shuffle=False, **options)
    return Dataset(source.parent / "shards")


@pytest.mark.parametrize(
    ("encoding", "data", "expected"),
    [
        ("str", b"a dog", "a dog"),
        ("str_int", b"12", 12),
        ("str_float", b"0.5", 0.5),
        ("json", b'{"a": 1}', {"a": 1}),
        ("float32", struct.pack("<f", 0.5), 0.5),
        ("ndarray:float32:2", struct.pack("<2f", 1, 2), [1, 2]),
        ("ndarray:int16", b"\x04\x02" + struct.pack("<2h", 1, 2), [1, 2]),
        ("ndarray", b"\x11\x04\x02" + struct.pack("<2h", 1, 2), [1, 2]),
        ("pkl", pickle.dumps({"a": [1, "b"]}), {"a": [1, "b"]}),
    ],
)
def test_a_value_of_each_encoding_is_in_the_json(
    encoding: str, data: bytes, expected: Any, tmp_path: Path
) -> None:
    kinds = {"image": "png", "label": "int", "more": encoding}
    items = [{"image": image(number), "label": number, "more": data} for number in range(2)]
    dataset = pack(write(tmp_path / "data/shard.00000.mds", items, kinds).parent)
    assert json.loads(dataset.read(0, "json")) == {"more": expected}
    assert dataset.targets == [0, 1]


@pytest.mark.parametrize(
    ("encoding", "data"),
    [
        ("pil", struct.pack("<III", 6, 8, 3) + b"RGB" + PIXELS.tobytes()),
        ("ndarray:uint8:8,6,3", PIXELS.tobytes()),
        ("ndarray:uint8", b"\x0c\x08\x06\x03" + PIXELS.tobytes()),
        ("ndarray", b"\x08\x0c\x03\x08\x06" + PIXELS.transpose(2, 0, 1).tobytes()),
    ],
)
def test_pixels_of_each_form_are_images(encoding: str, data: bytes, tmp_path: Path) -> None:
    kinds = {"image": encoding, "label": "int"}
    items = [{"image": data, "label": 3}]
    dataset = pack(write(tmp_path / "data/shard.00000.mds", items, kinds).parent)
    assert np.array_equal(dataset[0][0], PIXELS)


def test_other_arrays_are_members(tmp_path: Path) -> None:
    depth = np.ones((8, 9), np.float32)
    items = [{"image": image(1), "depth": depth.tobytes()}]
    kinds = {"image": "bytes", "depth": "ndarray:float32:8,9"}
    dataset = pack(write(tmp_path / "data/shard.00000.mds", items, kinds).parent)
    assert np.array_equal(np.load(io.BytesIO(dataset.read(0, "depth.npy"))), depth)


def test_missing_and_damaged_shards_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    for number in range(3):
        write(folder / f"shard.0000{number}.mds", [{"image": image(number), "label": 1}] * 2)
    shards = [{"raw_data": {"basename": f"shard.0000{number}.mds"}} for number in range(4)]
    (folder / "index.json").write_text(json.dumps({"shards": shards}))
    cut = folder / "shard.00001.mds"
    cut.write_bytes(cut.read_bytes()[:-20])
    (folder / "shard.00002.mds").write_bytes(b"no shard")
    report = packer.pack(folder, tmp_path / "shards", jobs=1, on_error="skip")
    named = {name for name, _ in report.rejected}
    assert named == {"shard.00003.mds", "shard.00002.mds", "shard.00001.mds: sample 1"}
    assert len(Dataset(tmp_path / "shards")) == 3


def test_modes_and_encodings_that_are_not_read_are_named(tmp_path: Path) -> None:
    data = struct.pack("<III", 6, 8, 4) + b"CMYK" + bytes(192)
    kinds = {"image": "pil", "label": "int"}
    write(tmp_path / "data/shard.00000.mds", [{"image": data, "label": 3}], kinds)
    with pytest.raises(packer.UnusableInput, match="CMYK"):
        pack(tmp_path / "data")
    picture = io.BytesIO()
    Image.fromarray(PIXELS).save(picture, "JPEG")
    several = struct.pack("<III", 2, len(picture.getvalue()), len(picture.getvalue()))
    several += 2 * picture.getvalue()
    kinds = {"image": "list[jpeg]", "main": "png"}
    items = [{"image": several, "main": image(1)}]
    write(tmp_path / "data/shard.00000.mds", items, kinds)
    with pytest.raises(packer.NothingToPack, match="several images"):
        pack(tmp_path / "data")
