"""A training run's needs, in numbers, and what another setting would change (pure)."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import chain
from typing import Any

from packer.inspect.plan.bound import Times, times
from packer.inspect.plan.memory import Memory, memory
from packer.inspect.plan.reading import Reading
from packer.inspect.plan.setting import Setting
from packer.inspect.plan.stored import Stored
from packer.inspect.plan.traffic import Traffic, traffic
from reader.errors import StoreError
from reader.order.blocks import BlockShuffle
from reader.order.samplers import plain_order
from reader.remote.parts import kept_bytes

_SHARDS = 8  # of a BlockShuffle that is proposed


@dataclass(frozen=True)
class Estimate:
    """What comes of a setting; traffic and times are those of the first node.

    Attributes:
        steps: of an epoch, on every rank.
        samples: that the first rank reads in it, without padding.
        padding: rows of the last step that only pad it, on all ranks.
        dropped: samples that are left out, on all ranks.
        mixing: different shards in a batch, on average.
        shards: of the split.
        opening: requests and bytes before the first sample: dataset.json and the indexes.
        traffic: epoch by epoch.
        times: epoch by epoch.
        memory: what is held.
    """

    steps: int
    samples: int
    padding: int
    dropped: int
    mixing: float
    shards: int
    opening: tuple[int, int]
    traffic: tuple[Traffic, ...]
    times: tuple[Times, ...]
    memory: Memory

    @property
    def seconds(self) -> float | None:
        """Of all epochs; None where nothing is known of the time."""
        return sum(t.longest or 0 for t in self.times) if self.times[0].seconds else None

    def content(self) -> dict[str, Any]:
        """For JSON."""
        found = asdict(self)
        found["opening"] = dict(zip(("requests", "bytes"), self.opening, strict=True))
        found["times"] = [
            {**asdict(t), "longest": t.longest, "bound_by": t.bound_by} for t in self.times
        ]
        found["memory"]["vram_share"] = self.memory.vram_share
        return {**found, "seconds": self.seconds}


def estimate(stored: Stored, setting: Setting) -> Estimate:
    """Count what a run will do.

    Raises:
        StoreError: the cache is too small for what is read at a time.
    """
    order = plain_order(setting.shuffle, setting.seed, stored.sizes)
    first, held = Reading(stored, setting, order, 0), memory(stored, setting)
    others = (Reading(stored, setting, order, epoch) for epoch in range(1, setting.epochs))
    moved = tuple(traffic(chain([first], others), setting.cache_limit, held.depth))
    return Estimate(
        first.steps,
        first.aheads[0].steps.samples,
        first.padding,
        first.dropped,
        first.mixing(),
        len(stored.shards),
        (1 + len(stored.shards), stored.manifest_bytes + stored.index_bytes),
        moved,
        tuple(times(setting, first.samples, each) for each in moved),
        held,
    )


def alternatives(
    stored: Stored, setting: Setting, found: Estimate, *, is_far: bool = True
) -> Iterator[tuple[str, Estimate | None]]:
    """What one change would make of what was `found`: another shuffle, cache, number of workers.

    None where the cache would be too small for it; what would change nothing is left out, and the
    cache unless `is_far`.
    """
    for name, changed in _changed(stored, setting, is_far):
        try:
            other = estimate(stored, changed)
        except StoreError:
            yield name, None
            continue
        if (other.mixing, other.traffic, other.times) != (found.mixing, found.traffic, found.times):
            yield name, other


def _changed(stored: Stored, setting: Setting, is_far: bool) -> Iterator[tuple[str, Setting]]:
    shards = min(_SHARDS, len(stored.shards))
    shuffles: dict[str, bool | BlockShuffle] = {
        "global": True,
        f"block:{shards}": BlockShuffle(shards),
    }
    if setting.world_size > 1:
        streams = BlockShuffle(shards, setting.world_size)
        shuffles[f"block:{shards}:{setting.world_size}"] = streams
    for name, shuffle in shuffles.items():
        if shuffle != setting.shuffle:
            yield f"--shuffle {name}", replace(setting, shuffle=shuffle)
    every = kept_bytes(stored.shards) + stored.disk_bytes
    limit = min(setting.cache_limit or every, every)
    for other in (limit // 2, min(2 * limit, every)):
        if is_far and other != limit:
            megabytes = -(-other // 10**6)
            name = f"--cache-limit {megabytes}MB"
            yield name, replace(setting, cache_limit=megabytes * 10**6)
    more = replace(setting, workers=2 * setting.workers)
    if rate := setting.rate.value:
        faster = replace(setting.rate, value=rate * more.working / setting.working)
        more = replace(more, rate=faster)
    yield f"--workers {more.workers}", more
