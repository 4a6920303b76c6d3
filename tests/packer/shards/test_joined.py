"""Many indexes are one file: few requests open them, and every writer keeps it right."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damage import flip
from finished import repair, verify
from made_images import make_image, write_files
from s3_server import S3Server
from store_server import serving

import packer
from packer.inspect.index import index
from reader import Dataset
from reader.format import Manifest
from reader.format.manifest import JOINED

MANY = 16  # shards
OPTIONS: dict[str, Any] = {"shard_samples": 1, "jobs": 1, "progress": False}

pytest.importorskip("obstore", reason="reading from a store needs shardfeed[remote]")


def write(dst: Path | str, count: int, **options: Any) -> None:
    """Write a dataset of `count` shards."""
    with packer.Writer(dst, raw=(2, 2), progress=False, shard_samples=1, **options) as writer:
        for number in range(count):
            writer.write({"image": np.full((2, 2, 3), number, np.uint8), "label": number % 3})


def indexes(folder: Path) -> bytes:
    """Return the indexes of a dataset, back to back."""
    shards = Manifest.load(folder).shards
    return b"".join((folder / shard.index).read_bytes() for shard in shards)


def requests(folder: Path, cache: Path, split: str | None = None) -> list[str]:
    """Return the names that are asked for to open a dataset, whose samples are as they should."""
    with serving(folder) as server:
        dataset = Dataset(server.url, split=split, cache_dir=cache)
        asked = [name.rpartition("/")[2] for name, _, _ in server.asked]
        assert dataset.labels.tolist() == Dataset(folder, split=split).labels.tolist()
        dataset.fetching.close()
    return asked


@pytest.fixture(scope="module", autouse=True)
def joined_from_many_on() -> Iterator[None]:
    """Have the indexes of so many shards joined, and not only those of 64."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("packer.shards.joined._SHARDS", MANY)
        yield


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A dataset with joined indexes; not to be changed."""
    folder = tmp_path_factory.mktemp("many") / "shards"
    write(folder, MANY)
    return folder


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """A folder of as many images."""
    files = {f"class{n % 2}/{n:03d}.png": make_image(4 + n, 5) for n in range(MANY)}
    return write_files(tmp_path / "images", files)


def test_many_shards_are_opened_by_two_requests(many: Path, tmp_path: Path) -> None:
    assert (many / JOINED).read_bytes() == indexes(many)
    assert requests(many, tmp_path / "cache") == ["dataset.json", JOINED]
    write(tmp_path / "few", MANY - 1)
    assert not (tmp_path / "few" / JOINED).exists()
    assert len(requests(tmp_path / "few", tmp_path / "cache")) == MANY


def test_a_split_is_opened_by_the_part_that_has_its_indexes(pictures: Path, tmp_path: Path) -> None:
    packer.pack(pictures, tmp_path / "shards", split={"train": 0.75, "val": 0.25}, **OPTIONS)
    asked = requests(tmp_path / "shards", tmp_path / "cache", "val")
    assert asked == ["dataset.json", JOINED]
    with serving(tmp_path / "shards") as server:
        Dataset(server.url, split="train", cache_dir=tmp_path / "another").fetching.close()
        entries = [s for s in Manifest.load(tmp_path / "shards").shards if s.split == "train"]
        assert server.asked[1][2] - server.asked[1][1] == sum(s.index_bytes for s in entries)


@pytest.mark.parametrize("what", ["missing", "cut short", "of another dataset"])
def test_where_the_file_is_not_sound_each_index_is_fetched(tmp_path: Path, what: str) -> None:
    folder = tmp_path / "shards"
    write(folder, MANY)
    joined = folder / JOINED
    if what == "missing":
        joined.unlink()
    else:
        content = joined.read_bytes()
        joined.write_bytes(content[:-1] if what == "cut short" else bytes(len(content)))
    asked = requests(folder, tmp_path / "cache")
    # A range that does not come is requested by the network library again.
    assert asked.count(JOINED) == {"missing": 0, "cut short": 2, "of another dataset": 1}[what]
    assert len(set(asked) - {JOINED, "dataset.json"}) == MANY


def test_what_is_damaged_is_named_and_made_again(pictures: Path, tmp_path: Path) -> None:
    folder = tmp_path / "shards"
    packer.pack(pictures, folder, **OPTIONS)
    content = (folder / JOINED).read_bytes()
    assert verify(folder, jobs=1).damages == []
    flip(folder / JOINED, 50)
    (folder / "shard-000002.safetensors").unlink()
    found = {damage.file for damage in verify(folder, jobs=1).damages}
    assert found == {JOINED, "shard-000002.safetensors"}
    assert JOINED in repair(folder, pictures, jobs=1).repaired
    assert (folder / JOINED).read_bytes() == content
    (folder / JOINED).unlink()
    assert repair(folder, pictures, jobs=1).repaired == [JOINED]
    assert verify(folder, jobs=1).damages == []


def test_append_overwrite_and_index_keep_it_right(pictures: Path, tmp_path: Path) -> None:
    folder = tmp_path / "shards"
    write(folder, MANY - 1)
    write(folder, 2, append=True)
    assert (folder / JOINED).read_bytes() == indexes(folder)
    write(folder, 3, append=True)
    assert (folder / JOINED).read_bytes() == indexes(folder)
    assert len(requests(folder, tmp_path / "cache")) == 2
    write(folder, 3, overwrite=True)
    assert not (folder / JOINED).exists()
    packer.pack(pictures, tmp_path / "tars", **OPTIONS)
    for path in [*(tmp_path / "tars").iterdir()]:
        if path.suffix != ".tar":
            path.unlink()
    index(tmp_path / "tars", jobs=1)
    assert (tmp_path / "tars" / JOINED).read_bytes() == indexes(tmp_path / "tars")


def test_a_run_that_was_cut_off_before_dataset_json_goes_on(
    pictures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*_: object) -> None:
        raise KeyboardInterrupt

    folder = tmp_path / "shards"
    with monkeypatch.context() as patch:
        patch.setattr("packer.shards.joined.write_file", fails)
        with pytest.raises(KeyboardInterrupt):
            packer.pack(pictures, folder, **OPTIONS)
    assert (folder / JOINED).exists()
    assert not (folder / "dataset.json").exists()
    packer.pack(pictures, folder, **OPTIONS)
    assert verify(folder, jobs=1).damages == []


def test_a_store_has_what_a_folder_has(store: S3Server, tmp_path: Path) -> None:
    given = {"scratch": tmp_path / "scratch", "storage_options": store.options}
    write("s3://bucket/shards", MANY, **given)
    write("s3://bucket/shards", 2, append=True, **given)
    write(tmp_path / "local", MANY)
    write(tmp_path / "local", 2, append=True)
    found = store.objects("shards")
    assert found[JOINED] == (tmp_path / "local" / JOINED).read_bytes()
    assert found["dataset.json"] == (tmp_path / "local" / "dataset.json").read_bytes()
    assert not list((tmp_path / "scratch").iterdir())
