"""A dataset as the source of a pipeline of the webdataset library."""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from reader.dataset.shard import Shard


def shared_samples(
    count: int, locate: Callable[[int], tuple[Shard, int]], extensions: Sequence[str], shuffle: bool
) -> Iterator[dict[str, Any]]:
    """Yield this process's share of the samples, in webdataset's form."""
    # Samples are divided, not shards, so shares differ by one at most.
    from webdataset.utils import pytorch_worker_info

    rank, world_size, worker, workers = pytorch_worker_info()
    share: Any = range(rank * workers + worker, count, world_size * workers)
    if shuffle:
        # A DataLoader's workers seed `random` in each epoch.
        rng = np.random.default_rng(random.getrandbits(64))
        share = rng.permutation(np.asarray(share))
    for number in share:
        shard, row = locate(number)
        members = {
            ext.lower(): shard.read(row, ext)
            for ext in extensions
            if shard.index.span(ext, row) is not None
        }
        yield {"__key__": shard.index.key(row), "__url__": str(shard.path), **members}
