"""The ways to order an epoch, for the tests that try them all."""

from typing import Any

import numpy as np

from reader import AspectBuckets, BlockShuffle, ClassBalanced, RepeatedAugmentation, Weighted

# Each fits every source: a Mix with numbers, too.
SHUFFLES: dict[str, bool | BlockShuffle] = {
    "in turn": False,
    "shuffled": True,
    "by blocks": BlockShuffle(2),
    "in streams": BlockShuffle(2, streams=4),
}


def options_of(count: int) -> dict[str, dict[str, Any]]:
    """Return a loader's arguments for each order of so many samples with labels."""
    return {
        **{name: {"shuffle": shuffle} for name, shuffle in SHUFFLES.items()},
        "in buckets": {"shuffle": AspectBuckets(4)},
        "of another length": {"shuffle": True, "epoch_size": count + 11},
        "by weight": {"sampler": Weighted(1 + np.arange(count) % 5)},
        "balanced": {"sampler": ClassBalanced()},
        "repeated": {"sampler": RepeatedAugmentation(3)},
        "by numbers": {"sampler": np.arange(count)[::-1]},
    }
