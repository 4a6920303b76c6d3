"""Group images of similar aspect ratio into batches, and measure padding."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.checks import is_count
from reader.dataset.dataset import Dataset
from reader.dataset.locator import grouped
from reader.errors import ArgumentError
from reader.format.sizes import upright_sizes
from reader.order.shuffle import GlobalShuffle, Numbers, Order
from reader.order.steps import Step
from reader.rng import SampleRandom, mix64
from reader.transforms.pipeline import transformed
from reader.transforms.transform import Transform

_M64 = 2**64 - 1


@dataclass(frozen=True)
class AspectBuckets:
    """A shuffle with similar aspect ratios in each batch, for `reader.pad_collate`.

    Each epoch shuffles the dataset and divides it into windows of `window` batches. The samples of
    a window are sorted by width to height and divided into batches, and these are shuffled. Samples
    at an epoch's end that do not fill a batch have any ratio.

    Attributes:
        batch_size: samples in a batch of all ranks together.
        window: number of batches; more make the ratios more similar and the order less random.

    Example:
        >>> loader = reader.Loader(
        ...     "shards",
        ...     batch_size=8,
        ...     shuffle=reader.AspectBuckets(batch_size=8),
        ...     collate_fn=reader.pad_collate,
        ... )
        >>> images, labels = next(iter(loader))
        >>> images.shape
        torch.Size([8, 3, 60, 80])
    """

    __module__ = "reader"

    batch_size: int
    window: int = 64

    def __post_init__(self) -> None:
        if not (is_count(self.batch_size) and is_count(self.window)):
            raise ArgumentError(f"{self}: batch_size and window are integers of at least 1.")


class Bucketed(Order):
    def __init__(self, sizes: NDArray[Any], buckets: AspectBuckets, seed: int) -> None:
        """Store the heights and the widths of all samples, (2, N)."""
        self._sizes = sizes
        self._buckets = buckets
        self._seed = seed
        self.count = sizes.shape[1]

    def samples(self, positions: Numbers, epoch: int) -> Numbers:
        size = self._buckets.window * self._buckets.batch_size
        windows = positions // size
        found = np.empty_like(positions)
        for window, chosen in grouped(windows):
            found[chosen] = self._window(window, epoch)[positions[chosen] - window * size]
        return found

    def options(self, epoch: int | None) -> dict[str, str]:
        return {"shuffle": repr(self._buckets)}

    def _window(self, number: int, epoch: int) -> Numbers:
        batch_size = self._buckets.batch_size
        start = number * self._buckets.window * batch_size
        stop = min(start + self._buckets.window * batch_size, self.count)
        shuffled = GlobalShuffle(self.count, self._seed)
        samples = shuffled.samples(np.arange(start, stop), epoch)
        whole = len(samples) // batch_size
        # The remainder, which drop_last leaves out, is random, not chosen by its ratio.
        batched, rest = np.split(samples, [whole * batch_size])
        heights, widths = self._sizes[:, batched]
        batched = batched[np.argsort(widths / heights, kind="stable")]
        batches = GlobalShuffle(whole, mix64((self._seed + number) & _M64))
        order = batches.samples(np.arange(whole), epoch)
        return np.concatenate([batched.reshape(whole, batch_size)[order].ravel(), rest])


def sizes_of(dataset: Dataset) -> NDArray[Any]:
    """Return the heights and the widths of all samples, (2, N)."""

    def of_shard(columns: Mapping[str, NDArray[Any]]) -> NDArray[np.int64]:
        return np.stack(upright_sizes(columns, dataset.upright))

    return dataset.computed(of_shard, "height", "width", "orientation")


def padding_waste(
    dataset: Dataset,
    transforms: Sequence[Transform],
    order: Order,
    steps: Iterable[Step],
    seed: int,
) -> float:
    every = sizes_of(dataset)
    shown = padded = 0
    for step in steps:
        positions = step.positions[: step.valid]
        sizes = every[:, order.samples(positions, 0)].T.tolist()
        drawn = [
            transformed((height, width), transforms, SampleRandom(seed, 0, position))
            for (height, width), position in zip(sizes, positions.tolist(), strict=True)
        ]
        shown += sum(one.height * one.width for one in drawn)
        padded += len(drawn) * max(g.height for g in drawn) * max(g.width for g in drawn)
    return 1 - shown / padded
