"""What `packer info` counts, against what is known of the dataset."""

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from called_packer import call_packer
from finished import info
from made_images import write_files
from PIL import Image

from reader.format import FormatError, Index, Manifest, safetensors


def test_everything_is_counted(packed: Path) -> None:
    found = info(packed)
    assert (found.samples, found.shards, found.tiled, found.unlabeled) == (39, 4, 39, 0)
    assert found.classes == {"class0": 13, "class1": 13, "class2": 13}
    assert found.formats == {"jpg": 39}
    assert found.members == {"cls": 39}
    assert found.bytes == sum(path.stat().st_size for path in packed.glob("*.tar"))
    assert found.index_bytes == sum(p.stat().st_size for p in packed.glob("*.safetensors"))
    assert sum(found.short_sides.values()) == sum(found.aspects.values()) == 39
    assert found.short_sides == {"32 up to 64": 16, "64 up to 128": 23}


def test_the_decoded_size_is_that_of_the_pixels(packed: Path) -> None:
    pixels = 0
    for shard in Manifest.load(packed).shards:
        columns = Index(packed / shard.index).columns
        for height, width in zip(
            columns["height"].tolist(), columns["width"].tolist(), strict=True
        ):
            pixels += height * width
    found = info(packed)
    assert found.decoded_bytes == 3 * pixels
    assert found.batch_bytes["at 224"] == 256 * 224 * 224 * 3
    assert found.gpu_batch_bytes["float32"] == 4 * 256 * 224 * 224 * 3


def test_an_index_that_is_cut_short_meanwhile_is_counted_as_it_was_read(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = shutil.copytree(packed, tmp_path / "copy")
    first = copy / Manifest.load(copy).shards[0].index
    count = Index.__len__

    def cut_first(index: Index) -> int:
        os.truncate(first, 8)
        return count(index)

    monkeypatch.setattr(Index, "__len__", cut_first)
    assert replace(info(copy), dataset="") == replace(info(packed), dataset="")


def test_splits_and_members_are_counted(with_sidecars: Path) -> None:
    found = info(with_sidecars)
    assert {name: split.samples for name, split in found.splits.items()} == {"train": 3, "val": 1}
    assert found.members == {"cls": 4, "json": 3, "seg.png": 4}
    assert found.formats == {"jpg": 2, "png": 1, "gif": 1}


def test_a_dataset_may_be_empty(tmp_path: Path, write_dataset: Callable[..., Path]) -> None:
    found = info(write_dataset(tmp_path, {}))
    assert (found.samples, found.short_sides, found.decoded_bytes) == (0, {}, 0)


def test_the_command_prints_text_or_json(packed: Path) -> None:
    done = call_packer("info", packed, code=0)
    assert "39 samples in 4 shards" in done.stdout
    assert "154.1 MB float32" in done.stdout
    assert "usual shard size: 10 MB (smaller shards would cost more" in done.stdout
    done = call_packer("info", packed, "--json")
    assert json.loads(done.stdout)["samples"] == 39


def test_classes_of_boxes_are_said_to_be_such(tmp_path: Path, packed: Path) -> None:
    texts = {"labels/a.txt": "1 0.5 0.5 1 1\n", "classes.txt": "cat\ndog\n"}
    source = write_files(tmp_path / "yolo", texts | {"images/a.png": Image.new("RGB", (8, 8))})
    call_packer("pack", source, tmp_path / "dst", code=0)
    told = call_packer("info", tmp_path / "dst").stdout
    assert "2 classes, those of boxes: cat, dog; no sample has one of its own\n" in told
    assert "3 classes, 0 samples without one:\n  class0" in call_packer("info", packed).stdout


@pytest.mark.parametrize(("name", "value"), [("label", 2**60), ("label", 3), ("height", 0)])
def test_impossible_values_are_refused(packed: Path, tmp_path: Path, name: str, value: int) -> None:
    folder = shutil.copytree(packed, tmp_path / "copy")
    opened = Index(folder / "shard-000000.safetensors")
    columns = {name: column.copy() for name, column in opened.columns.items()}
    columns[name][1] = value
    content = safetensors.serialize(columns, opened.metadata)
    (folder / "shard-000000.safetensors").write_bytes(content)
    with pytest.raises(FormatError, match=f"row 1 has the {name} {value}, but "):
        info(folder)
