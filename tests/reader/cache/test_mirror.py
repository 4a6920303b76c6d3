"""The folder in the cache: what it has when, and what several processes do to a shard in it."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from store_server import StoreServer, serving

from reader import Dataset, FormatError, SampleError
from reader.cache.files import CachedFiles
from reader.cache.mirror import Mirror
from reader.cache.quota import DiskQuota
from reader.format import Manifest

pytestmark = pytest.mark.usefixtures("needs_store")

Opened = Callable[..., Dataset]
COUNT = 39


@pytest.mark.parametrize("beside", [1, -1])
def test_what_is_evicted_leaves_the_bytes_of_what_lies_beside_it(
    packed: Path, opened: Callable[..., Dataset], tmp_path: Path, beside: int
) -> None:
    dataset = opened(cache_dir=tmp_path)
    for number in range(len(dataset)):
        dataset[number]
    entry = Manifest.load(packed).shards[0]
    quota = DiskQuota(tmp_path, 10**8)
    shard = Mirror(CachedFiles.of(dataset.folder, Manifest.load(packed)), quota).shard(0)
    begin, end = shard.spans
    kept = 4 + beside
    for row in (4 - beside, 4, 4):  # now `kept` is alone there beside it
        shard.evict([row], quota)
    span = slice(int(begin[kept]), int(end[kept]))
    assert shard.rows.present().tolist() == [row not in (4, 4 - beside) for row in range(10)]
    in_cache = (dataset.folder / entry.file).read_bytes()
    assert in_cache[span] == (packed / entry.file).read_bytes()[span]


def test_opening_creates_no_tar_before_a_sample_of_it_is_read(opened: Opened) -> None:
    dataset = opened()
    assert len(dataset.columns("key")["key"]) == COUNT
    found = {path.name for path in dataset.folder.iterdir()}
    assert found == {
        "lease",
        "boot",
        "turn",
        "socket",
        "waiting",
        "cached.indexes",
        "cached.rows",
        "cached.window",
        "cached.places",
        "dataset.json",
    }
    dataset[0]
    assert {path.name for path in dataset.folder.glob("*.tar")} == {"shard-000000.tar"}
    offline = Dataset(dataset.folder)
    with pytest.raises(SampleError, match=r"is not in this cache.* its URL"):
        offline[COUNT - 1]
    dataset[COUNT - 1]
    assert (offline[COUNT - 1][0] == dataset[COUNT - 1][0]).all()
    assert offline.fingerprint == dataset.fingerprint  # what is in the cache is a dataset


def test_a_shard_is_opened_without_its_tar_and_without_the_fetching_process(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = opened()
    monkeypatch.setattr(type(dataset.fetching), "want", None)
    for number in range(COUNT):
        dataset.locate(number)
    assert not list(dataset.folder.rglob("*.tar"))
    monkeypatch.undo()
    assert len(list(dataset)) == COUNT  # the same open shards wait for their rows


def test_indexes_that_came_before_an_opening_failed_are_kept(
    packed: Path, server: StoreServer, opened: Opened, tmp_path: Path
) -> None:
    def others_came() -> bool:
        maps = [path.read_bytes() for path in tmp_path.rglob("cached.rows")]
        return any(sum(map(bool, rows[:4])) == 3 for rows in maps)

    def fail(handler: Any) -> int | None:
        if not handler.path.endswith("2.safetensors"):
            return None
        while not others_came():
            time.sleep(0.01)
        return 404

    server.fault = fail
    with pytest.raises(FormatError, match=r"shard-000002\.safetensors does not exist"):
        opened(cache_dir=tmp_path)
    server.fault = lambda _: None
    before = len(server.asked)
    dataset = opened(cache_dir=tmp_path)
    again = {path for path, _, _ in server.asked[before:]}
    assert again == {"/dataset.json", "/shard-000002.safetensors"}
    assert dataset.targets == Dataset(packed).targets


def test_a_split_is_fetched_into_the_folder_of_another_and_read_from_there(
    make_dataset: Callable[..., Path],
    encode: Callable[..., bytes],
    make_image: Callable[..., Image.Image],
    tmp_path: Path,
) -> None:
    files = {
        f"{split}/{number}.png": encode(make_image(number, 8, 8), "PNG")
        for split in ("train", "val")
        for number in range(5)
    }
    folder = make_dataset(files, shard_samples=2)
    with serving(folder) as server:
        for split in ("val", "train", None):
            dataset = Dataset(server.url, split, cache_dir=tmp_path / "cache")
            local = Dataset(folder, split)
            assert list(dataset.keys) == list(local.keys)
            for number in range(len(local)):
                assert (dataset[number][0] == local[number][0]).all()
            dataset.fetching.close()
        indexes = [path for path, _, _ in server.asked if path.endswith(".safetensors")]
    assert len(indexes) == len(set(indexes)) == 6
