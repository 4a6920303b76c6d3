"""How soon a store answers, and how much it gives: measured, for a few seconds.

First single requests, one after the other, for the latency; then many at a time, in parts as a
Loader asks for them, for the bandwidth. It loads the network library into this process.
"""

import asyncio
import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass

from reader.format import ShardEntry
from reader.remote.parts import PART
from reader.remote.store import Store
from reader.remote.url import checked

_FOR_LATENCY = 0.3  # of the time
_SMALL = 1024  # bytes
_AT_ONCE = 32


@dataclass(frozen=True)
class Probed:
    """What a store gave.

    Attributes:
        latency: seconds of a small request, the median.
        bandwidth: bytes a second of many large ones.
        seconds: that it took to find out.
    """

    latency: float
    bandwidth: float
    seconds: float


def probe(url: str, shards: Sequence[ShardEntry], seconds: float) -> Probed:
    """Ask a store for parts of these shards for some seconds, and at least for a few.

    Raises:
        StoreError: it does not give them.
    """
    return asyncio.run(_probe(Store(checked(url), {}, None), shards, seconds))


async def _probe(store: Store, shards: Sequence[ShardEntry], seconds: float) -> Probed:
    began = time.perf_counter()
    rng = random.Random(0)

    async def ask(size: int) -> float:
        shard = rng.choice(shards)
        size = min(size, shard.bytes)
        start = rng.randrange(shard.bytes - size + 1)
        asked = time.perf_counter()
        await store.part(shard.file, start, start + size, shard.bytes)
        return time.perf_counter() - asked

    await ask(_SMALL)  # which connects
    took = [await ask(_SMALL)]
    while time.perf_counter() - began < _FOR_LATENCY * seconds:
        took.append(await ask(_SMALL))

    before, loaded = store.counts.fetched_bytes, time.perf_counter()

    async def keep_asking() -> None:
        while True:
            await ask(PART)
            if time.perf_counter() - began >= seconds:
                return

    await asyncio.gather(*(keep_asking() for _ in range(_AT_ONCE)))
    now = time.perf_counter()
    fetched = store.counts.fetched_bytes - before
    return Probed(statistics.median(took), fetched / (now - loaded), now - began)
