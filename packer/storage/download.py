"""Copy a whole dataset from a store into a folder, for commands that read every byte once.

It loads the network library into this process, which the reader does not.
"""

import asyncio
import contextlib
import os
from pathlib import Path

from packer.progress import Advance
from reader.format import FormatError, Manifest, ShardEntry
from reader.format.manifest import FILENAME, JOINED, MAX_BYTES
from reader.store.client import Store
from reader.store.errors import Missing
from reader.store.limits import PART

_AT_ONCE = 16  # requests


async def fetch_dataset(
    store: Store, folder: Path, *, is_whole: bool, advance: Advance = lambda count: None
) -> None:
    """Fetch dataset.json and the indexes, and with `is_whole` the tars, without any check."""
    gate = asyncio.Semaphore(_AT_ONCE)

    async def fetch(shard: ShardEntry) -> None:
        tar = folder / shard.file
        tar.parent.mkdir(parents=True, exist_ok=True)
        try:
            async with gate:
                (folder / shard.index).write_bytes(await store.whole(shard.index))
        except Missing:
            return
        with tar.open("wb") as file:
            file.truncate(shard.bytes)
            starts = range(0, shard.bytes, PART) if is_whole else ()
            parts = (fetch_part(shard, file.fileno(), start) for start in starts)
            done = await asyncio.gather(*parts, return_exceptions=True)
            for error in filter(None, done):
                if not isinstance(error, Missing):
                    raise error
                tar.unlink(missing_ok=True)

    async def fetch_part(shard: ShardEntry, file: int, start: int) -> None:
        stop = min(start + PART, shard.bytes)
        async with gate:
            content = await store.part(shard.file, start, stop, shard.bytes)
        os.pwrite(file, content, start)
        advance(stop - start)

    try:
        text = await store.whole(FILENAME, MAX_BYTES)
    except Missing:
        raise FormatError(f"{store.url} is not a dataset: it has no {FILENAME}.") from None
    (folder / FILENAME).write_bytes(text)
    content = Manifest.parse(text, f"{store.url}/{FILENAME}")
    if is_whole and content.joined:
        with contextlib.suppress(Missing):
            size = sum(shard.index_bytes for shard in content.shards)
            (folder / JOINED).write_bytes(await store.whole(JOINED, size))
    await asyncio.gather(*map(fetch, content.shards))
