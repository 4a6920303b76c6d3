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
from reader.order.shuffle import GlobalShuffle, Numbers, Order
from reader.order.steps import Step
from reader.rng import SampleRandom, mix64
from reader.transforms import Transform, transformed

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
    def __init__(self, ratios: NDArray[np.float64], buckets: AspectBuckets, seed: int) -> None:
        self._ratios = ratios
        self._buckets = buckets
        self._seed = seed
        self.count = len(ratios)

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
        batched = batched[np.argsort(self._ratios[batched], kind="stable")]
        batches = GlobalShuffle(whole, mix64((self._seed + number) & _M64))
        order = batches.samples(np.arange(whole), epoch)
        return np.concatenate([batched.reshape(whole, batch_size)[order].ravel(), rest])


def aspect_ratios(dataset: Dataset) -> NDArray[np.float64]:
    def of_shard(columns: Mapping[str, NDArray[Any]]) -> NDArray[np.float64]:
        ratios = columns["width"] / columns["height"]
        return np.where((columns["orientation"] > 4) & dataset.upright, 1 / ratios, ratios)

    return dataset.computed(np.float64, of_shard, "height", "width", "orientation")


def padding_waste(
    dataset: Dataset,
    transforms: Sequence[Transform],
    order: Order,
    steps: Iterable[Step],
    seed: int,
) -> float:
    places = [step.positions[: step.valid] for step in steps]
    positions = np.concatenate(places)
    samples = order.samples(positions, 0)
    columns = dataset.columns("height", "width", "orientation")
    turned = (columns["orientation"] > 4) & dataset.upright
    sizes = np.empty((len(samples), 2), np.int64)
    for row, number in enumerate(samples.tolist()):
        height, width = int(columns["height"][number]), int(columns["width"][number])
        size = (width, height) if turned[number] else (height, width)
        geometry = transformed(size, transforms, SampleRandom(seed, 0, int(positions[row])))
        sizes[row] = geometry.height, geometry.width
    shown = padded = 0
    for batch in np.split(sizes, np.cumsum([*map(len, places)])[:-1]):
        shown += int(batch.prod(axis=1).sum())
        padded += len(batch) * int(batch.max(axis=0).prod())
    return 1 - shown / padded
