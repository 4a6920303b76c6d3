"""Which sample goes into which shard, and in what order: pure arithmetic on the scan's sizes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.format import tar

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Plan:
    """Shard ``i`` holds the samples ``order[bounds[i]:bounds[i + 1]]`` of the listing."""

    order: NDArray[np.int64]
    bounds: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.bounds) - 1

    def shard(self, number: int) -> NDArray[np.int64]:
        """The listing's sample numbers of one shard, in its order."""
        return self.order[self.bounds[number] : self.bounds[number + 1]]


def plan_shards(
    sizes: NDArray[np.int64],
    shard_size: int,
    shard_samples: int | None,
    seed: int | None,
    name_lengths: NDArray[np.int64] | None = None,
) -> Plan:
    """Order the samples and cut the order into shards.

    Args:
        sizes: bytes of each sample's image in the source.
        shard_size: bytes a shard's tar should not exceed (a single sample may).
        shard_samples: samples a shard may hold, None for any number.
        seed: of the shuffle; None keeps the source's order.
        name_lengths: bytes of each sample's longest member name, where some need PAX records.
    """
    order = np.arange(len(sizes)) if seed is None else shuffled(len(sizes), seed)
    # An image and its class: two headers, the padded image and one block for the number.
    spans = 3 * tar.BLOCK + -(-sizes // tar.BLOCK) * tar.BLOCK
    if name_lengths is not None:
        records = np.where(name_lengths > 100, -(-(name_lengths + 20) // tar.BLOCK) + 1, 0)
        spans += 2 * records * tar.BLOCK
    ends = np.cumsum(spans[order])
    bounds = [0]
    while bounds[-1] < len(order):
        start = bounds[-1]
        before = int(ends[start - 1]) if start else 0
        stop = int(np.searchsorted(ends, before + shard_size - len(tar.END), side="right"))
        if shard_samples is not None:
            stop = min(stop, start + shard_samples)
        bounds.append(max(stop, start + 1))
    return Plan(order, np.array(bounds, dtype=np.int64))


def shuffled(count: int, seed: int) -> NDArray[np.int64]:
    """A permutation that depends on `count` and `seed` alone, whatever numpy's version.

    Positions are sorted by the splitmix64 hash (Steele, Lea, Flood 2014) of (seed, position).
    """
    with np.errstate(over="ignore"):
        keys = np.arange(1, count + 1, dtype=np.uint64) * _GOLDEN + _mix(
            np.array([seed % 2**64], dtype=np.uint64)
        )
        return np.argsort(_mix(keys), kind="stable")


def _mix(x: NDArray[Any]) -> NDArray[Any]:
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))
