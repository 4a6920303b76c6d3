"""A dataset as the source of a pipeline of the webdataset library."""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from reader.dataset.shard import Shard


class Source:
    """The first stage: this process's share of the samples, as webdataset reads them from tars.

    Shares are of samples, not shards, so they differ by one at most.
    """

    def __init__(
        self,
        count: int,
        locate: Callable[[int], tuple[Shard, int]],
        extensions: Sequence[str],
        shuffle: bool,
    ) -> None:
        self._count = count
        self._locate = locate
        self._extensions = extensions
        self._shuffle = shuffle

    def __call__(self) -> Iterator[dict[str, Any]]:
        from webdataset.utils import pytorch_worker_info

        rank, world_size, worker, workers = pytorch_worker_info()
        share: Any = range(rank * workers + worker, self._count, world_size * workers)
        if self._shuffle:
            # Of `random`, which each worker of a DataLoader has seeded anew in each epoch.
            rng = np.random.default_rng(random.getrandbits(64))
            share = rng.permutation(np.asarray(share))
        for number in share:
            shard, row = self._locate(number)
            members = {
                ext.lower(): shard.read(row, ext)
                for ext in self._extensions
                if shard.index.span(ext, row) is not None
            }
            yield {"__key__": shard.index.key(row), "__url__": str(shard.path), **members}
