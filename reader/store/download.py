"""A whole dataset from a store into a folder: for who looks at every byte once, such as a check.

It loads the network library into this process, so it is for commands, not for the reader.
"""

import asyncio
import os
from collections.abc import Callable
from pathlib import Path

from reader.format import FormatError, Manifest, ShardEntry
from reader.format.manifest import FILENAME, MAX_BYTES
from reader.store.client import Store
from reader.store.errors import Missing
from reader.store.limits import PART
from reader.store.urls import checked

_AT_ONCE = 16  # requests


def download(
    url: str, folder: Path, *, is_whole: bool, advance: Callable[[int], object] = lambda count: None
) -> None:
    """Fetch dataset.json and the indexes, and the tars if it is to be whole; nothing is checked."""
    store = Store(checked(url), {}, None)
    asyncio.run(fetch_dataset(store, folder, is_whole=is_whole, advance=advance))


async def fetch_dataset(
    store: Store,
    folder: Path,
    *,
    is_whole: bool,
    advance: Callable[[int], object] = lambda count: None,
) -> None:
    """The same, of a store that is open."""
    await _Download(store, folder, advance).run(is_whole)


class _Download:
    def __init__(self, store: Store, folder: Path, advance: Callable[[int], object]) -> None:
        self._store = store
        self._folder = folder
        self._advance = advance
        self._gate = asyncio.Semaphore(_AT_ONCE)

    async def run(self, is_whole: bool) -> None:
        try:
            text = await self._store.whole(FILENAME, MAX_BYTES)
        except Missing:
            raise FormatError(
                f"{self._store.url} is not a dataset: it has no {FILENAME}."
            ) from None
        (self._folder / FILENAME).write_bytes(text)
        shards = Manifest.parse(text, f"{self._store.url}/{FILENAME}").shards
        await asyncio.gather(*(self._shard(shard, is_whole) for shard in shards))

    async def _shard(self, shard: ShardEntry, is_whole: bool) -> None:
        tar = self._folder / shard.file
        tar.parent.mkdir(parents=True, exist_ok=True)
        try:
            async with self._gate:
                (self._folder / shard.index).write_bytes(await self._store.whole(shard.index))
        except Missing:
            return
        with tar.open("wb") as file:
            file.truncate(shard.bytes)
            if is_whole:
                starts = range(0, shard.bytes, PART)
                parts = (self._part(shard, file.fileno(), start) for start in starts)
                done = await asyncio.gather(*parts, return_exceptions=True)
                for error in filter(None, done):
                    if not isinstance(error, Missing):
                        raise error
                    tar.unlink(missing_ok=True)

    async def _part(self, shard: ShardEntry, file: int, start: int) -> None:
        stop = min(start + PART, shard.bytes)
        async with self._gate:
            content = await self._store.part(shard.file, start, stop, shard.bytes)
        os.pwrite(file, content, start)
        self._advance(stop - start)
