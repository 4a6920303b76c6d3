"""RecordIO: labels, lists, objects, records in parts, damage."""

import json
import struct
from pathlib import Path
from typing import Any

import pytest
from layouts.huggingface import image
from layouts.records import recordio

import packer
from reader import Dataset

MAGIC = struct.pack("<I", 0xCED7230A)


def write(path: Path, items: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(recordio(items))
    return path


def pack(source: Path, **options: Any) -> Dataset:
    packer.pack(source, source.parent / "shards", jobs=1, shuffle=False, **options)
    return Dataset(source.parent / "shards")


def test_labels_and_numbers_are_those_of_the_headers(tmp_path: Path) -> None:
    items = [{"image": image(n), "label": n % 2, "id": 10 + n} for n in range(4)]
    dataset = pack(write(tmp_path / "data/train.rec", items))
    assert dataset.targets == [0, 1, 0, 1]
    assert list(dataset.keys) == ["00000010", "00000011", "00000012", "00000013"]
    assert dataset.read(3, "png") == image(3)


def test_a_record_in_parts_is_whole(tmp_path: Path) -> None:
    data = image(1)
    data += bytes(-len(data) % 4) + MAGIC + b"abc" + MAGIC * 2 + b"d"  # behind the image
    dataset = pack(write(tmp_path / "data/train.rec", [{"image": data, "label": 1}]))
    assert dataset.read(0, "png") == data


def test_insightfaces_identities_are_no_samples(tmp_path: Path) -> None:
    items = [{"image": b"", "label": [4.0, 6.0], "id": 0}]
    items += [{"image": image(n), "label": n // 2, "id": n} for n in (1, 2, 3)]
    items += [{"image": b"", "label": [1.0, 2.0], "id": n} for n in (4, 5)]
    source = write(tmp_path / "data/train.rec", items).parent
    (source / "property").write_text("2,112,112")
    report = packer.pack(source, tmp_path / "shards", jobs=1)
    assert len(Dataset(tmp_path / "shards")) == 3
    assert len(report.ignored) == 4


def test_objects_of_a_label_with_two_widths_are_boxes(tmp_path: Path) -> None:
    label = [2.0, 5.0, 1.0, 0.25, 0.25, 0.5, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0]
    items = [{"image": image(1), "label": label}, {"image": image(2), "label": [2.0, 5.0]}]
    dataset = pack(write(tmp_path / "data/train.rec", items))
    found = json.loads(dataset.read(0, "json"))
    assert found["boxes"] == [[0.25, 0.25, 0.5, 1], [0, 0, 1, 1]]
    assert found["categories"] == [1, 0]
    assert json.loads(dataset.read(1, "json"))["boxes"] == []


def test_several_numbers_are_kept_in_the_json(tmp_path: Path) -> None:
    items = [{"image": image(1), "label": [0.5, 7.0, 3.0]}]
    dataset = pack(write(tmp_path / "data/train.rec", items))
    assert json.loads(dataset.read(0, "json")) == {"labels": [0.5, 7, 3]}


@pytest.mark.parametrize("cut", [1, 20, 60])
def test_a_cut_file_is_named_and_the_rest_is_packed(cut: int, tmp_path: Path) -> None:
    items = [{"image": image(n), "label": n} for n in range(3)]
    path = write(tmp_path / "data/train.rec", items)
    path.write_bytes(path.read_bytes().rstrip(b"\0")[:-cut])
    report = packer.pack(path, tmp_path / "shards", jobs=1, on_error="skip")
    assert report.rejected[0][0] == "train.rec: record 2"
    assert len(Dataset(tmp_path / "shards")) == 2
