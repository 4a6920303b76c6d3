"""Inputs of an estimate: readers, rates, and the positions of samples in shards (pure)."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from packer.storage.dataset import Finished
from reader.cache.quota import BLOCK
from reader.cache.ranges import Spans, index_runs
from reader.dataset.open_shards import ShardFiles
from reader.format import ShardEntry
from reader.format.manifest import FILENAME
from reader.order.blocks import BlockShuffle

_TRAIN = "train"


@dataclass(frozen=True)
class Known:
    """A number, and where it comes from; None: not known."""

    value: float | None = None
    source: str = ""


@dataclass(frozen=True)
class Setting:
    batch_size: int = 256
    nodes: int = 1  # machines, each with a cache of its own
    ranks: int = 1  # processes of a node, a GPU each
    workers: int = 1  # processes that decode for each rank
    cores: int | None = None  # of a node; None: enough for any number of workers
    shuffle: bool | BlockShuffle = True
    seed: int = 0
    drop_last: bool = False
    epochs: int = 2
    cache_limit: int | None = None  # bytes that a node's cache may take; None: as many as there are
    size: tuple[int, int] = (224, 224)  # (height, width) of the images that the transforms give
    latency: Known = field(default_factory=Known)  # seconds of a request to the store
    bandwidth: Known = field(default_factory=Known)  # bytes a second of a node
    rate: Known = field(default_factory=Known)  # images a second, of all workers of a node
    gpu_rate: Known = field(default_factory=Known)  # images a second that a GPU takes
    vram: int = 80 * 10**9  # bytes of a GPU

    @property
    def working(self) -> int:
        """Workers of a node that have a core each."""
        workers = self.workers * self.ranks
        return workers if self.cores is None else min(workers, self.cores)

    @property
    def world_size(self) -> int:
        return self.nodes * self.ranks


@dataclass(frozen=True)
class Stored:
    """The samples of a split, one shard after the other."""

    shards: tuple[ShardEntry, ...]
    manifest_bytes: int  # of dataset.json
    index_requests: int  # by which all indexes come
    spans: Spans  # of each sample in its tar, without what is between them
    pixels: int  # of all images
    disk_bytes: int  # what all samples take together

    @classmethod
    def of(cls, dataset: Finished, split: str | None) -> "Stored":
        folder, manifest = dataset.folder, dataset.content
        manifest.check_images(folder)
        shards = tuple(dataset.shards(split))
        largest = max((shard.bytes for shard in shards), default=0)
        kind = np.min_scalar_type(largest)  # four bytes, unless a shard has more than 4 GiB
        begin, end = np.empty((2, sum(shard.samples for shard in shards)), kind)
        start = pixels = disk_bytes = 0
        files = ShardFiles.of(folder, manifest, split)
        for number, shard in enumerate(shards):
            index = files.index(number)
            spans, rows = Spans.of(index), slice(start, start + shard.samples)
            begin[rows], end[rows] = spans
            start += shard.samples
            disk_bytes += _taken(spans)
            height, width = (index.columns[name].astype(np.int64) for name in ("height", "width"))
            pixels += int((height * width).sum())
        size = (folder / FILENAME).stat().st_size
        requests = sum(1 for _ in index_runs(manifest, {shard.file for shard in shards}))
        return cls(shards, size, requests, Spans(begin, end), pixels, disk_bytes)

    def __len__(self) -> int:
        return len(self.spans.begin)

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(shard.samples for shard in self.shards)

    @property
    def bytes(self) -> int:
        return sum(shard.bytes for shard in self.shards)

    @property
    def index_bytes(self) -> int:
        return sum(shard.index_bytes for shard in self.shards)

    @cached_property
    def shard_of(self) -> NDArray[Any]:
        numbers = np.arange(len(self.shards), dtype=np.min_scalar_type(len(self.shards)))
        return np.repeat(numbers, self.sizes)

    def fetched(self, first: NDArray[np.int64], last: NDArray[np.int64], *, is_whole: bool) -> int:
        """Return bytes from the first to the last place of each request.

        With `is_whole`, those between samples come with the next one, or with a shard's last.
        """
        begin = self.spans.begin[first].astype(np.int64)
        end = self.spans.end[last].astype(np.int64)
        if is_whole:
            before = np.maximum(first - 1, 0)
            is_first = (first == 0) | self._is_last(before)
            begin = np.where(is_first, 0, self.spans.end[before])
            sizes = np.array([shard.bytes for shard in self.shards])
            end = np.where(self._is_last(last), sizes[self.shard_of[last]], end)
        return int((end - begin).sum())

    def taken(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return bytes of disk that samples take, without those that the next one takes, too."""
        following = np.minimum(places + 1, len(self) - 1)
        of_next = self.spans.begin[following].astype(np.int64) // BLOCK
        last = -(-self.spans.end[places].astype(np.int64) // BLOCK)
        shared = np.where(self._is_last(places), 0, (last - of_next).clip(0))
        return (last - self.spans.begin[places].astype(np.int64) // BLOCK - shared) * BLOCK

    def _is_last(self, places: NDArray[np.int64]) -> NDArray[np.bool_]:
        following = np.minimum(places + 1, len(self) - 1)
        return (following == places) | (self.shard_of[following] != self.shard_of[places])


def usual_split(dataset: Finished) -> str | None:
    return _TRAIN if _TRAIN in dataset.content.splits else None


def _taken(spans: Spans) -> int:
    first, last = spans.begin // BLOCK, -(-spans.end // BLOCK)
    return int((last - first).sum() - (last[:-1] - first[1:]).clip(0).sum()) * BLOCK
