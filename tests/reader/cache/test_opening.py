"""The folder of a dataset in the cache is made by few calls, however many shards it has."""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from store_server import serving

from reader.cache.files import CachedFiles
from reader.cache.opening import opened
from reader.cache.quota import DiskQuota
from reader.format import Manifest
from reader.format.manifest import JOINED
from reader.store.fetching import FetchingStore

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
            FetchingStore(url, {}, None), quota, None, lambda done, _: reported.append(done)
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
