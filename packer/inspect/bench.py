"""Measures how fast this machine decodes a dataset, and how fast a store gives it.

Batches are thrown away, and the start of the workers is left out. A store's latency is that of
single small requests, its bandwidth that of many large ones at a time, as a Loader makes them.
"""

import asyncio
import random
import statistics
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from reader import Statistics, Transform
    from reader.format import ShardEntry

_FOR_LATENCY = 0.3  # of the time
_SMALL = 1024  # bytes
_AT_ONCE = 32  # requests


@dataclass(frozen=True)
class Point:
    workers: int
    statistics: "Statistics"

    @property
    def rate(self) -> float:
        return self.statistics.images_per_second

    @property
    def cpu_share(self) -> float:
        return self.statistics.cpu / max(self.statistics.worker_seconds, 1e-9)

    def line(self) -> str:
        limit = self.statistics.bound_by
        return f"{self.workers:>7}{self.rate:>10.0f}{self.cpu_share:>11.0%}  {limit}"

    def content(self) -> dict[str, Any]:
        return {
            "workers": self.workers,
            "images_per_second": round(self.rate, 1),
            "cpu_share": round(self.cpu_share, 3),
            "bound_by": self.statistics.bound_by,
            "bottleneck": self.statistics.bottleneck,
        }


def measure(
    dataset: Path | str,
    split: str | None,
    batch_size: int,
    seconds: float,
    workers: int,
    transform: str,
    size: tuple[int, int] = (224, 224),
) -> Point:
    """Read for `seconds`, at least one batch, in crops of `size`: random (`rrc`) or central."""
    from reader import CenterCrop, Loader, RandomHorizontalFlip, RandomResizedCrop, Resize

    transforms: list[Transform] = [Resize(min(size) * 8 // 7), CenterCrop(size)]  # as 256 is to 224
    if transform == "rrc":
        transforms = [RandomResizedCrop(size), RandomHorizontalFlip()]
    how: dict[str, Any] = {"shuffle": True, "epochs": None, "fields": ("image",)}
    how |= {"split": split, "batch_size": batch_size, "workers": workers}
    with Loader(dataset, transforms=transforms, **how) as loader:
        batches = iter(loader)
        next(batches)
        while (before := loader.statistics()).starting:
            next(batches)
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            next(batches)
        return Point(workers, loader.statistics().since(before))


async def probe(
    url: str, shards: "Sequence[ShardEntry]", seconds: float
) -> tuple[dict[str, float], float]:
    """Return the latency and bandwidth of a store, by parts of shards, and how long it took."""
    from reader.store.client import Store
    from reader.store.limits import PART
    from reader.store.urls import checked

    began, rng, store = time.perf_counter(), random.Random(0), Store(checked(url), {}, None)

    async def ask(size: int) -> float:
        shard = rng.choice(shards)
        size = min(size, shard.bytes)
        start = rng.randrange(shard.bytes - size + 1)
        asked = time.perf_counter()
        await store.part(shard.file, start, start + size, shard.bytes)
        return time.perf_counter() - asked

    async def keep_asking() -> None:
        await ask(PART)
        while time.perf_counter() - began < seconds:
            await ask(PART)

    await ask(_SMALL)  # which connects
    took = [await ask(_SMALL)]
    while time.perf_counter() - began < _FOR_LATENCY * seconds:
        took.append(await ask(_SMALL))
    before, loaded = store.counts.fetched_bytes, time.perf_counter()
    await asyncio.gather(*(keep_asking() for _ in range(_AT_ONCE)))
    now = time.perf_counter()
    bandwidth = (store.counts.fetched_bytes - before) / (now - loaded)
    return {"latency": statistics.median(took), "bandwidth": bandwidth}, now - began
