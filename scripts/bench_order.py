#!/usr/bin/env python3
"""Measures the orders: what any position costs, how even a shuffle is, how well blocks mix.

bench_order.py [--count 10000000000] [--shards 1024] [--shard-samples 1250]
"""

import argparse
import time
import tracemalloc
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from reader.order.blocks import BlockShuffle, BlockShuffled
from reader.order.shuffle import (
    GlobalShuffle,
    Order,
)
from reader.order.steps import Steps
from reader.order.streams import Streamed

BATCH = 256  # of a rank
RANKS = 8
STEP = BATCH * RANKS
Samples = NDArray[np.int64]


def cost(count: int) -> None:
    """Construction, positions and memory of a shuffle of `count`."""
    began = time.perf_counter()
    order = GlobalShuffle(count, seed=0)
    made = time.perf_counter() - began
    rng, took = np.random.default_rng(0), {}
    for size in (32, 1 << 14):
        few = []
        for epoch in range(200):
            positions = rng.integers(0, count, size)
            began = time.perf_counter()
            order.samples(positions, epoch)
            few.append(time.perf_counter() - began)
        took[size] = np.median(few) * 1e6
    tracemalloc.start()
    for epoch in range(20):
        order.samples(rng.integers(0, count, 1000), epoch)
    grown = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    print(f"N = {count:,}: construction {made * 1e6:.1f} us; any positions, median:")
    for size, each in took.items():
        print(f"  {size:,} at once: {each:,.0f} us, {each / size:.2f} us each;")
    print(f"  memory after 20,000 positions of 20 epochs: +{grown / 1024:.0f} KiB")


def chi_square(order: Samples, bins: int = 100) -> float:
    """Of where each hundredth of the positions lands, in standard deviations from what is even."""
    count = len(order)
    table, _, _ = np.histogram2d(np.arange(count), order, bins=bins)
    expected = count / bins**2
    freedom = (bins - 1) ** 2
    return float((((table - expected) ** 2 / expected).sum() - freedom) / np.sqrt(2 * freedom))


def serial(order: Samples, lag: int = 1) -> float:
    """Correlation of samples that come `lag` after each other, in standard deviations from none."""
    return float(np.corrcoef(order[:-lag], order[lag:])[0, 1] * np.sqrt(len(order)))


def evenness(count: int, orders: int) -> None:
    """Both tests, over many orders, beside numpy's permutation."""
    found = {
        "this shuffle": [
            GlobalShuffle(count, seed).samples(np.arange(count), epoch=seed)
            for seed in range(orders)
        ],
        "numpy.random.permutation": [
            np.random.default_rng(seed).permutation(count) for seed in range(orders)
        ],
    }
    print(f"\n{orders} orders of {count:,}, in standard deviations (0 +- 1 is perfect):")
    print(f"{'':26}{'chi-square':>20}{'serial, lag 1':>20}{'serial, lag 7':>20}")
    for name, permutations in found.items():
        columns = [
            [chi_square(order) for order in permutations],
            [serial(order) for order in permutations],
            [serial(order, 7) for order in permutations],
        ]
        cells = "".join(f"{np.mean(c):>12.2f} +-{np.std(c):5.2f}" for c in columns)
        print(f"{name:26}{cells}")


def mixing(shards: int, shard_samples: int) -> None:
    """How far block shuffles are from a global one, for data that lie sorted in their shards."""
    count = shards * shard_samples
    sizes = [shard_samples] * shards
    print(f"\n{shards} shards of {shard_samples} samples, {RANKS} ranks with batches of {BATCH};")
    print("of what one rank reads and of what all do, first epoch:")
    print(f"{'':32}{'open shards':>12}{'shards in a':>18}{'a pair meets again':>20}")
    print(f"{'':32}{'one':>6}{'all':>6}{'batch':>9}{'step':>9}{'batch':>10}{'step':>10}")
    for k in (1, 4, 8, 16, 64, 256):
        row(f"BlockShuffle({k})", k, k, BlockShuffled(sizes, k, 0), shard_samples)
    for k, streams in ((8, 8), (1, 64), (8, 64)):
        shuffle = BlockShuffle(k, streams)
        order = Streamed(sizes, shuffle, 0)
        name = f"BlockShuffle({k}, streams={streams})"
        row(name, k * streams // RANKS, k * streams, order, shard_samples)
    row("shuffle=True", shards, shards, GlobalShuffle(count, 0), shard_samples)


def row(name: str, of_rank: int, of_all: int, order: Order, shard_samples: int) -> None:
    """A line of the table."""
    first, second = (
        order.samples(np.arange(order.count), epoch)[: order.count // STEP * STEP]
        for epoch in (0, 1)
    )
    whole = divided(first, order)
    cells = ""
    for batches in (whole, whole.reshape(-1, STEP)):
        distinct = np.mean([len(np.unique(batch)) for batch in batches[:2000] // shard_samples])
        cells += f"{distinct:>9.1f}"
    mixed = np.random.default_rng(0).permutation(STEP)
    for size, batches in ((BATCH, whole), (STEP, whole.reshape(-1, STEP)[:, mixed])):
        # Of two samples of one batch: the chance that the next epoch batches them again, times the
        # number of batches; 1 is what chance gives.
        batch_of = np.full(order.count, -1)
        batch_of[divided(second, order).ravel()] = np.arange(len(second)) // size
        left, right = batch_of[batches[:, 0::2]], batch_of[batches[:, 1::2]]
        again = np.mean(left == right) * len(second) / size
        cells += f"{again:>10.1f}"
    print(f"{name:32}{of_rank:>6}{of_all:>6}{cells}")


def divided(samples: Samples, order: Order) -> Samples:
    """An epoch's samples as batches, those of all ranks of a step one after the other."""
    steps = Steps(len(samples), BATCH, 0, RANKS, drop_last=True)
    ranks = [replace(steps, rank=rank, residue=order.residue(rank, RANKS)) for rank in range(RANKS)]
    positions = [rank[number].positions for number in range(len(steps)) for rank in ranks]
    return samples[np.stack(positions)]


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10**10)
    parser.add_argument("--shards", type=int, default=1024)
    parser.add_argument("--shard-samples", type=int, default=1250)
    arguments = parser.parse_args()
    cost(arguments.count)
    evenness(count=100_000, orders=50)
    mixing(arguments.shards, arguments.shard_samples)


if __name__ == "__main__":
    main()
