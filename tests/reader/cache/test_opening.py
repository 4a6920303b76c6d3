"""The folder of a dataset in the cache is made by few calls, however many shards it has."""

import asyncio
import os
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from growth import assert_linear
from store_server import serving

from reader.cache.files import CachedFiles
from reader.cache.mirror import Mirror
from reader.cache.opening import opened
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


@pytest.mark.parametrize("direction", ["shards", "samples", "splits"])
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
