"""The data set as a torch IterableDataset: shards divided over ranks and DataLoader workers."""

import os
from collections.abc import Iterator
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.utils.data import IterableDataset, get_worker_info

from reader.dataset import Dataset
from reader.order import GlobalShuffle
from reader.ranks import rank_in_world


class IterableShards(IterableDataset[tuple[Any, Any]]):
    """Gives ``dataset[i]`` shard by shard, for torch's DataLoader.

    All workers of all ranks together give every sample once: each has an equal stretch (to one
    sample) of the shards in the epoch's order. With `shuffle` the shards come in random order, and
    the samples of each in random order, another one after `set_epoch`; `reader.Loader` shuffles
    over all of them.
    """

    def __init__(
        self,
        dataset: Dataset | str | os.PathLike[str],
        *,
        shuffle: bool = False,
        seed: int = 0,
        rank: int | None = None,
        world_size: int | None = None,
    ) -> None:
        """Take a data set, or the folder of one.

        Args:
            dataset: what to iterate over; its `transform` is applied.
            shuffle: an order of its own for each epoch; `set_epoch` says which epoch it is, as for
                torch's DistributedSampler.
            seed: with the epoch it determines the order.
            rank, world_size: None to ask torch.distributed, if it is initialised.

        Raises:
            ReaderError: rank and world_size contradict each other.
            FormatError: there is no data set, or it is damaged.
        """
        super().__init__()
        self.dataset = dataset if isinstance(dataset, Dataset) else Dataset(dataset)
        self._shuffle = shuffle
        self._seed = seed
        self._rank, self._world_size = rank_in_world(rank, world_size)
        # In shared memory, so that workers that stay for several epochs see it change.
        self._epoch = torch.zeros((), dtype=torch.int64).share_memory_()

    def __len__(self) -> int:
        """Samples of this rank."""
        start, stop = self._stretch(self._rank, self._world_size)
        return stop - start

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        worker = get_worker_info()
        number, workers = (0, 1) if worker is None else (worker.id, worker.num_workers)
        start, stop = self._stretch(self._rank * workers + number, self._world_size * workers)
        return self._samples(start, stop, int(self._epoch))

    def set_epoch(self, epoch: int) -> None:
        """Choose the order of the iterators that begin from now on, on every rank alike."""
        self._epoch.fill_(epoch)

    def _stretch(self, number: int, count: int) -> tuple[int, int]:
        total = len(self.dataset)
        return number * total // count, (number + 1) * total // count

    def _samples(self, start: int, stop: int, epoch: int) -> Iterator[tuple[Any, Any]]:
        """The samples at positions `start` to `stop` of the shards in the epoch's order."""
        sizes = np.array([shard.samples for shard in self.dataset.shards], np.int64)
        firsts = np.cumsum(sizes) - sizes
        shards: NDArray[np.int64] = np.arange(len(sizes))
        if self._shuffle:
            shards = GlobalShuffle(len(sizes), self._seed).samples(shards, epoch)
        position = 0  # of the shard's first sample
        for shard in shards.tolist():
            size, first = int(sizes[shard]), int(firsts[shard])
            inside: NDArray[np.int64] = np.arange(
                max(start - position, 0), min(stop - position, size)
            )
            if self._shuffle:
                inside = GlobalShuffle(size, self._seed + shard).samples(inside, epoch)
            for row in inside.tolist():
                yield self.dataset[first + row]
            position += size
