"""What holds for every source that is read from a list: it is packed by one command, whole."""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from packer.errors import UnusableInput
from packer.samples.records import Source
from reader.format import Index, Manifest

RunPacker = Callable[..., "subprocess.CompletedProcess[str]"]
StartPacker = Callable[..., "subprocess.Popen[str]"]
FilesOf = Callable[[Path], dict[str, bytes]]

COUNT = 40
OPTIONS = ("--shard-samples", 1, "--jpeg", "verbatim")


def table(images: Path) -> dict[str, list[Any]]:
    return {
        "path": [f"{number}.jpg" for number in range(COUNT)],
        "label": [["cat", "dog"][number % 2] for number in range(COUNT)],
        "text": [f"image {number}" for number in range(COUNT)],
    }


def write_csv(images: Path) -> Path:
    rows = [",".join(row) for row in zip(*table(images).values(), strict=True)]
    path = images / "list.csv"
    path.write_text("\n".join(["path,label,text", *rows]))
    return path


def write_jsonl(images: Path) -> Path:
    columns = table(images)
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    path = images / "list.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def write_parquet(images: Path) -> Path:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table(table(images)), images / "list.parquet", row_group_size=7)
    return images / "list.parquet"


def write_coco(images: Path) -> Path:
    content = {
        "images": [{"id": number, "file_name": f"{number}.jpg"} for number in range(COUNT)],
        "annotations": [
            {
                "id": number,
                "image_id": number * 7 % COUNT,
                "category_id": 1,
                "bbox": [0, 0, 1, 1 + number],
            }
            for number in range(2 * COUNT)
        ],
        "categories": [{"id": 1, "name": "cat"}],
    }
    path = images / "instances.json"
    path.write_text(json.dumps(content))
    return path


def write_hugging_face(images: Path) -> Path:
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = table(images)
    names = columns.pop("path")
    columns["image"] = [{"bytes": (images / name).read_bytes(), "path": name} for name in names]
    (images / "hf").mkdir()
    path = images / "hf" / "train-00000-of-00001.parquet"
    pq.write_table(pa.table(columns), path, row_group_size=7)
    return path.parent


every_source = pytest.mark.parametrize(
    "write", [write_csv, write_jsonl, write_parquet, write_coco, write_hugging_face]
)
Write = Callable[[Path], Path]


@pytest.fixture
def images(tmp_path: Path, jpegs: list[bytes]) -> Path:
    folder = tmp_path / "images"
    folder.mkdir()
    for number in range(COUNT):
        (folder / f"{number}.jpg").write_bytes(jpegs[number % len(jpegs)])
    return folder


@every_source
def test_each_list_is_packed_with_its_images_and_json(
    tmp_path: Path, images: Path, jpegs: list[bytes], run_pack: Callable[..., Any], write: Write
) -> None:
    run_pack(write(images), tmp_path / "dst", shard_samples=9, jpeg="verbatim")
    found = {}
    for shard in Manifest.load(tmp_path / "dst").shards:
        index, tar = Index(tmp_path / "dst" / shard.index), (tmp_path / "dst" / shard.file)
        data = tar.read_bytes()
        for row in range(len(index)):
            image, text = index.span("jpg", row), index.span("json", row)
            assert image is not None
            assert text is not None
            number = int(index.key(row).rpartition("-")[2])
            assert data[image[0] : sum(image)] == jpegs[number % len(jpegs)]
            found[number] = json.loads(data[text[0] : sum(text)])
    assert sorted(found) == list(range(COUNT))
    if write is write_coco:
        assert all(item["categories"] == [0, 0] for item in found.values())
    else:
        assert all(item == {"text": f"image {number}"} for number, item in found.items())


@pytest.mark.slow
@every_source
def test_two_processes_write_what_one_writes(
    tmp_path: Path, images: Path, run_pack: Callable[..., Any], files_of: FilesOf, write: Write
) -> None:
    path = write(images)
    run_pack(path, tmp_path / "one", jobs=1, shard_samples=9)
    run_pack(path, tmp_path / "two", jobs=2, shard_samples=9)
    assert files_of(tmp_path / "one") == files_of(tmp_path / "two")


@pytest.mark.slow
@every_source
def test_a_run_that_is_killed_goes_on_to_the_same_bytes(
    tmp_path: Path,
    images: Path,
    run_packer: RunPacker,
    start_packer: StartPacker,
    run_pack: Callable[..., Any],
    files_of: FilesOf,
    write: Write,
) -> None:
    path, dst = write(images), tmp_path / "dst"
    with start_packer("pack", path, dst, "--jobs", 1, *OPTIONS) as process:
        while len(list(dst.rglob("shard-*.safetensors"))) < 3 and process.poll() is None:
            time.sleep(0.001)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert not (dst / "dataset.json").exists(), "it was too fast to be killed"
    done = run_packer("pack", path, dst, "--jobs", 1, "--json", *OPTIONS)
    assert done.returncode == 0, done.stderr
    assert 0 < json.loads(done.stdout)["shards_written"] < COUNT
    run_pack(path, tmp_path / "whole", shard_samples=1, jpeg="verbatim")
    assert files_of(dst) == files_of(tmp_path / "whole")


def test_what_is_added_to_a_list_is_appended(
    tmp_path: Path, images: Path, run_packer: RunPacker
) -> None:
    path, dst = write_csv(images), tmp_path / "dst"
    lines = path.read_text().splitlines()
    path.write_text("\n".join(lines[:31]))
    command = ("pack", path, dst, "--jobs", 1, "--jpeg", "verbatim", "--json")
    assert json.loads(run_packer(*command).stdout)["samples"] == 30
    path.write_text("\n".join(lines))
    added = json.loads(run_packer(*command, "--append").stdout)
    assert (added["samples"], added["shards_written"]) == (40, 1)


def test_a_file_that_may_describe_the_images_and_cannot_be_read_is_named(
    images: Path, opened: Callable[..., Source]
) -> None:
    (images / "instances.json").symlink_to("nowhere")
    with pytest.raises(
        UnusableInput, match=r"instances\.json: it is a symbolic link that leads no"
    ):
        opened(images)


def test_a_stray_parquet_file_makes_no_parquet_dataset(
    images: Path, opened: Callable[..., Source], scanned: Callable[..., Any]
) -> None:
    (images / "cat").mkdir()
    (images / "0.jpg").rename(images / "cat" / "0.jpg")
    (images / "meta.parquet").write_bytes(b"x")
    source = opened(images, kind="folder")
    assert source.classes == ("cat",)
