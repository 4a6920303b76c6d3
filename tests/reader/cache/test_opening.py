"""The folder of a dataset in the cache: made by few calls, and used as far as it is sound."""

import asyncio
import os
import re
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from growth import assert_linear
from store_server import StoreServer, serving

from reader import Dataset, ReaderError, StoreError
from reader.cache.files import CachedFiles
from reader.cache.mirror import Mirror
from reader.cache.opening import opened
from reader.cache.own_files import check_own
from reader.cache.quota import DiskQuota
from reader.cache.space import Space
from reader.format import Manifest
from reader.format.manifest import JOINED
from reader.store.client import Store

pytestmark = pytest.mark.usefixtures("needs_store")


def test_indexes_that_come_together_are_written_together(
    grown_dataset: Callable[[str, int], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = grown_dataset("shards", 64)
    assert (folder / JOINED).exists()
    written, reported, pwrite = [], list[int](), os.pwrite

    def watched(file: int, content: bytes, offset: int) -> int:
        written.append(os.readlink(f"/proc/self/fd/{file}"))
        return pwrite(file, content, offset)

    async def run(url: str) -> Path:
        quota = DiskQuota(tmp_path / "cache", None)
        place = await opened(
            Store(url, {}, None), quota, None, lambda done, _: reported.append(done)
        )
        return place.folder

    with serving(folder) as server:
        monkeypatch.setattr(os, "pwrite", watched)
        cached = asyncio.run(run(server.url))
    assert len([name for name in written if name.endswith("cached.indexes")]) == 1
    assert reported == [64]
    content = Manifest.load(folder)
    files = CachedFiles.of(cached, content)
    for number, shard in enumerate(content.shards):
        assert files.is_packed_index(number)
        assert len(files.index(number)) == shard.samples


@pytest.mark.parametrize(
    "direction", [pytest.param("shards", marks=pytest.mark.slow), "samples", "splits"]
)
def test_the_fetching_process_opens_a_dataset(
    direction: str, grown_dataset: Callable[[str, int], Path], tmp_path: Path
) -> None:
    caches = count()

    def use(n: int) -> Callable[[], object]:
        store = Store(f"file://{grown_dataset(direction, n)}", {}, None)
        quota = DiskQuota(tmp_path / f"cache{next(caches)}", None)

        def run() -> None:
            place = asyncio.run(opened(store, quota, None, lambda *_: None))
            files = CachedFiles.of(place.folder, place.manifest)
            mirror = Mirror(files, quota)
            Space(quota, mirror).read(mirror.numbers(None))
            assert len(files.shards) == len(mirror.numbers(None))

        return run

    assert_linear(use, 64)  # packer joins the indexes of so many


Opened = Callable[..., Dataset]
COUNT = 39


def read_all(dataset: Dataset) -> list[bytes]:
    found = [dataset[number][0].tobytes() for number in range(COUNT)]
    if dataset.fetching is not None:
        dataset.fetching.close()
    return found


@pytest.mark.parametrize(
    ("name", "lost"),
    [
        ("shard-000001.tar", 10),
        ("cached.rows", COUNT),
        ("cached.indexes", 0),
        ("dataset.json", 0),
    ],
)
@pytest.mark.parametrize(
    "harm", ["removed", "cut", pytest.param("emptied", marks=pytest.mark.slow)]
)
def test_files_that_somebody_removed_or_cut_are_fetched_again(
    packed: Path, server: StoreServer, opened: Opened, name: str, lost: int, harm: str
) -> None:
    dataset = opened()
    expected = read_all(dataset)
    asked = len(server.tars)
    path = dataset.folder / name
    if harm == "removed":
        path.unlink()
    else:
        os.truncate(path, 0 if harm == "emptied" else path.stat().st_size - 1)
    assert read_all(opened()) == expected == read_all(Dataset(packed))
    assert len(server.tars) == asked + lost


def test_what_the_system_had_not_written_when_the_machine_went_down_is_fetched_again(
    server: StoreServer, opened: Opened
) -> None:
    dataset = opened()
    expected = read_all(dataset)
    asked = len(server.tars)
    (dataset.folder / "boot").write_text("another")
    for name in ("dataset.json", "cached.indexes", "shard-000001.tar"):
        path = dataset.folder / name
        path.write_bytes(bytes(path.stat().st_size))
    assert read_all(opened()) == expected
    assert len(server.tars) == asked + 10
    assert read_all(Dataset(dataset.folder)) == expected


@pytest.mark.parametrize("name", ["shard-000001.tar", "boot"])
def test_a_link_in_the_cache_is_not_followed(opened: Opened, tmp_path: Path, name: str) -> None:
    dataset = opened()
    dataset[0]
    dataset.fetching.close()
    thesis = tmp_path / "thesis.txt"
    thesis.write_text("years of work")
    for other in ("dataset.json", name):
        (dataset.folder / other).unlink(missing_ok=True)
    (dataset.folder / name).symlink_to(thesis)
    with pytest.raises(ReaderError, match=re.escape(str(dataset.folder)) + r".*symbolic link"):
        opened()[COUNT // 3]
    assert thesis.read_text() == "years of work"


@pytest.mark.parametrize("link", [Path.hardlink_to, Path.symlink_to])
@pytest.mark.parametrize("name", ["dataset.json", "cached.rows"])
def test_what_a_temporary_file_of_the_cache_is_linked_to_stays(
    opened: Opened, tmp_path: Path, name: str, link: Callable[[Path, Path], None]
) -> None:
    dataset = opened()
    expected = read_all(dataset)
    (tmp_path / "thesis.txt").write_text("years of work")
    (dataset.folder / name).unlink()
    link(dataset.folder / f"{name}.part", tmp_path / "thesis.txt")
    assert read_all(opened()) == expected
    assert (tmp_path / "thesis.txt").read_text() == "years of work"


def test_a_folder_that_another_user_made_is_no_cache(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    check_own(tmp_path / "own")
    (tmp_path / "link").symlink_to(tmp_path / "own")
    with pytest.raises(StoreError, match=r"link is not a folder.* Give another cache_dir="):
        check_own(tmp_path / "link")
    if os.geteuid() == 0:
        os.chown(tmp_path / "own", 1234, 1234)
        with pytest.raises(StoreError, match=r"own belongs to another user \(1234\)"):
            check_own(tmp_path / "own")
