"""Raw images of one size, a whole chunk at a time: no loop over samples.

The transforms are applied once, to a `Geometry` whose numbers are arrays, with dice whose draws are
arrays: the draws that each sample would have had by itself. The pixels are copied by fancy indexes
whose items are whole images and whole rows of pixels, and mirrored by one call.
"""

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from reader.dataset import Dataset
from reader.fields import BUILT_IN
from reader.format import FORMATS
from reader.order import BatchRandom
from reader.ring import BatchArrays
from reader.sample import Recipe
from reader.transforms import (
    CenterCrop,
    Geometry,
    RandomCrop,
    RandomHorizontalFlip,
    RandomVerticalFlip,
)

_BATCHED = (CenterCrop, RandomCrop, RandomHorizontalFlip, RandomVerticalFlip)

Bytes = NDArray[Any]  # uint8


def can_gather(dataset: Dataset, recipe: Recipe) -> bool:
    """Whether all images are raw ones of one size, and nothing scales them or looks at a sample."""
    if "raw" not in dataset.extensions or recipe.map_sample is not None or recipe.further:
        return False
    if any(type(transform) not in _BATCHED for transform in recipe.transforms):
        return False
    if "image" not in recipe.names or not set(recipe.names) <= set(BUILT_IN):
        return False
    columns = dataset.columns("format", "height", "width", "channels", "orientation", "size")
    if not len(dataset) or any((column != column[0]).any() for column in columns.values()):
        return False
    first = {name: int(column[0]) for name, column in columns.items()}
    return (
        first["format"] == FORMATS.index("raw")
        and first["orientation"] == 1
        and first["channels"] in (1, 3)
        and first["size"] == first["height"] * first["width"] * first["channels"]
    )


class Gatherer:
    """Fills batches with raw images, into memory that it reuses: one for each thread."""

    def __init__(self, dataset: Dataset, recipe: Recipe) -> None:
        """Take a data set and recipe of which `can_gather` is true."""
        self._dataset = dataset
        self._recipe = recipe
        columns = dataset.locate(0)[0].index.columns
        self._height, self._width, self._channels = (
            int(columns[name][0]) for name in ("height", "width", "channels")
        )
        self._padded: Bytes = np.empty(0, np.uint8)
        self._fill = 0

    def fill(
        self, arrays: BatchArrays, samples: NDArray[np.int64], epoch: int, position: int
    ) -> None:
        """Fill `arrays`, a row for each sample, of which the first is at `position`."""
        geometry: Any = Geometry.of(self._height, self._width)
        dice: Any = BatchRandom(self._recipe.seed, epoch, position + np.arange(len(samples)))
        for transform in self._recipe.transforms:
            transform.apply(geometry, dice)
        size = geometry.height, geometry.width
        arrays.index[:] = samples
        arrays.shape[:] = size
        out = arrays.image
        if self._channels == 1:
            out = np.empty((len(samples), *size, 1), np.uint8)
        if self._recipe.transforms:
            self._crop(geometry, samples, arrays.label, out)
        else:
            self._read(samples, arrays.label, out.reshape(len(samples), -1))
        if self._channels == 1:
            arrays.image[:] = out

    def _read(self, samples: NDArray[np.int64], labels: NDArray[np.int64], out: Bytes) -> None:
        """Copy images to the rows of `out`, (N, bytes of an image), and their labels."""
        images = _items(out)
        for shard, chosen, rows in self._dataset.locate_all(samples):
            columns = shard.index.columns
            content = _overlapping(shard.mapped, out.shape[1])
            images[chosen] = content[columns["offset"][rows].astype(np.int64)]
            labels[chosen] = columns["label"][rows]

    def _crop(
        self,
        geometry: Any,
        samples: NDArray[np.int64],
        labels: NDArray[np.int64],
        out: Bytes,
    ) -> None:
        """Copy to `out` the boxes that the geometry shows of the images."""
        count, height, width = out.shape[:3]
        tops = np.broadcast_to(np.asarray(geometry.top, np.int64), count)
        lefts = np.broadcast_to(np.asarray(geometry.left, np.int64), count)
        # All images get, on all sides, the border that one of them needs.
        down = max(0, -int(tops.min()), int(tops.max()) + height - self._height)
        across = max(0, -int(lefts.min()), int(lefts.max()) + width - self._width)
        images = np.empty((count, self._height, self._width, self._channels), np.uint8)
        self._read(samples, labels, images.reshape(count, -1))
        if down or across:
            shape = (count, self._height + 2 * down, self._width + 2 * across, self._channels)
            padded = self._border(shape, geometry.fill)
            padded[:, down : down + self._height, across : across + self._width] = images
            images = padded
        rows = np.arange(height)
        upwards = np.broadcast_to(geometry.vflip, count)[:, None]
        rows = np.where(upwards, height - 1 - rows, rows)
        starts = (np.arange(count) * images.shape[1] + tops + down)[:, None] + rows
        starts = (starts * images.shape[2] + (lefts + across)[:, None]) * self._channels
        length = width * self._channels
        lines = _items(out.reshape(count * height, length)).reshape(count, height)
        lines[:] = _overlapping(images.reshape(-1), length)[starts]
        mirrored = np.flatnonzero(np.broadcast_to(geometry.hflip, count))
        if len(mirrored):
            turned = cv2.flip(out[mirrored].reshape(-1, width, self._channels), 1)
            out[mirrored] = turned.reshape(-1, *out.shape[1:])

    def _border(self, shape: tuple[int, ...], fill: int) -> Bytes:
        """Memory of that shape whose border, at least, is `fill`."""
        if (self._padded.shape, self._fill) != (shape, fill):
            self._padded, self._fill = np.full(shape, fill, np.uint8), fill
        return self._padded


def _items(rows: Bytes) -> NDArray[Any]:
    """Contiguous rows of bytes (N, length) as N items that are copied whole."""
    return rows.view(f"V{rows.shape[1]}")[:, 0]


def _overlapping(content: Any, length: int) -> NDArray[Any]:
    """An array whose item i is the `length` bytes of `content` from byte i on."""
    return np.ndarray((len(content) - length + 1,), f"V{length}", content, 0, (1,))
