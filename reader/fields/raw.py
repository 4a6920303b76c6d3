"""Read raw images of one size, a whole chunk at a time, without a loop over samples.

The transforms are applied once, to a `Geometry` of arrays, with an rng that draws arrays of the
samples' own draws. One fancy index copies the pixels, as whole images or as the rows of a narrower
crop; one call mirrors them.
"""

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from reader.dataset.dataset import Dataset
from reader.errors import ReaderError
from reader.fields.field import Recipe
from reader.format import FORMATS
from reader.format.tar import BLOCK
from reader.rng import BatchRandom
from reader.transforms.pipeline import transformed
from reader.transforms.transform import Transform, states

_MIN_UNIT = 16  # bytes; smaller items are slower than another copy

_RGB = 3
_OF_SIZE = "format", "height", "width", "channels", "orientation", "size"

Bytes = NDArray[Any]  # uint8
Numbers = NDArray[np.int64]


def can_gather(dataset: Dataset, transforms: Sequence[Transform]) -> bool:
    if "raw" not in dataset.extensions:
        return False
    if not all(states(transform, "takes_arrays") for transform in transforms):
        return False
    sizes = dataset.recorded_sizes
    if dataset.is_raw and sizes is not None and sizes.is_one:
        return dataset.channels == _RGB
    first: dict[str, int] = {}
    for columns in dataset.shard_columns(*_OF_SIZE):  # ends at the first difference
        first = first or {name: int(column[0]) for name, column in columns.items()}
        if any((column != first[name]).any() for name, column in columns.items()):
            return False
    return bool(first) and (
        first["format"] == FORMATS.index("raw")
        and first["orientation"] == 1
        and first["channels"] in (1, dataset.channels)
        and first["size"] == first["height"] * first["width"] * first["channels"]
    )


class RawBatchReader:
    def __init__(self, dataset: Dataset, recipe: Recipe, turn_to: Callable[[int], None]) -> None:
        self._turn_to = turn_to
        self._dataset = dataset
        self._recipe = recipe
        columns = dataset.locate(0)[0].index.columns
        self._height, self._width, self._channels = (
            int(columns[name][0]) for name in ("height", "width", "channels")
        )
        self._size = self._height, self._width
        self._bytes = self._height * self._width * self._channels  # of an image

    def fill(
        self, images: Bytes, samples: Numbers, epoch: int, positions: Numbers
    ) -> dict[str, Any]:
        out, labels = images, np.empty(len(samples), np.int64)
        if self._channels != images.shape[3]:
            out = np.empty((*images.shape[:3], 1), np.uint8)
        if self._recipe.transforms:
            rng = BatchRandom(self._recipe.seed, epoch, positions)
            self._show(transformed(self._size, self._recipe.transforms, rng), samples, labels, out)
        else:
            whole = out.reshape(len(samples), 1, -1)
            self._read(samples, labels, np.zeros(whole.shape[:2], np.int64), whole)
        if out is not images:
            images[:] = out
        return {"label": labels, "size": self._size}

    def _show(self, geometry: Any, samples: Numbers, labels: Numbers, out: Bytes) -> None:
        count, height, width, channels = out.shape
        top, left, upwards, mirrored = (
            np.broadcast_to(np.asarray(value, np.int64), count)
            for value in (geometry.top, geometry.left, geometry.vflip, geometry.hflip)
        )
        # Bytes read outside the image are then replaced by the border.
        if width == self._width and not upwards.any():
            starts = (top * width + left)[:, None]  # all rows follow each other in the image too
        else:
            down = np.arange(height)
            shown = top[:, None] + np.where(upwards[:, None], down[::-1], down)
            starts = shown * self._width + left[:, None]
        self._read(samples, labels, starts * channels, out.reshape(*starts.shape, -1))
        turned = np.flatnonzero(mirrored)
        if len(turned):
            images = out.reshape(count, -1).view(f"V{height * width * channels}")[:, 0]
            copied = images[turned]
            lines = copied.view(np.uint8).reshape(-1, width, channels)
            cv2.flip(lines, 1, lines)
            images[turned] = copied
        rows, row = _border(top, height, geometry.seen[::2], upwards), width * channels
        _fill(out.reshape(count, 1, -1), rows, row, geometry.fill)
        columns = _border(left, width, geometry.seen[1::2], mirrored)
        _fill(out.reshape(count, height, row), columns, channels, geometry.fill)

    def _read(self, samples: Numbers, labels: Numbers, starts: Numbers, out: Bytes) -> None:
        """Copy pieces of images from `starts`, (N, K), to `out`, (N, K, bytes); and labels."""
        length = out.shape[2]
        pieces = out.view(f"V{length}")[:, :, 0]
        before, after = min(int(starts.min()), 0), max(int(starts.max()) + length, self._bytes)
        for shard, chosen, rows in self._dataset.locate_all(samples, self._turn_to):
            labels[chosen] = shard.index.column("label")[rows]
            offsets = shard.index.column("offset")[rows].astype(np.int64)
            take = partial(self._copy_from, offsets, starts[chosen], pieces, chosen)
            begin = max(int(np.minimum.reduce(offsets)) + before, 0)
            end = int(np.maximum.reduce(offsets)) + after
            shard.tar.copy(rows, begin, min(end, shard.index.tar_bytes), take)
            if not shard.index.is_whole:  # then offsets and labels may have been zeros
                raise ReaderError(
                    f"{shard.index.path} was truncated while it was read. Restore the file."
                )

    def _copy_from(
        self,
        offsets: Numbers,
        starts: Numbers,
        pieces: NDArray[Any],
        chosen: Numbers | slice,
        content: Any,
        which: Numbers | None,
        moved: Numbers | int,
    ) -> None:
        """Copy pieces of `content`, see `Copy`."""
        if which is not None:
            offsets, starts = offsets[which], starts[which]
            chosen = np.arange(len(pieces))[chosen][which]
        length = pieces.dtype.itemsize
        offsets = offsets + moved
        firsts = offsets[:, None] + starts
        is_inside = ((firsts >= 0) & (firsts <= len(content) - length)).all(axis=1)
        if is_inside.all():
            _copy(content, firsts, pieces, chosen)
            return
        # A border is wider than the tar's bytes before its first or after its last image.
        places = np.arange(len(pieces))[chosen]
        _copy(content, firsts[is_inside], pieces, places[is_inside])
        for at in np.flatnonzero(~is_inside).tolist():
            begins = starts[at]
            image = np.frombuffer(content, np.uint8, self._bytes, offsets[at])
            reach = max(0, -int(begins.min()), int(begins.max()) + length - self._bytes)
            padded = np.pad(image, reach)
            pieces[places[at]] = _overlapping(padded, length)[begins + reach]


def _copy(content: Any, firsts: Numbers, pieces: NDArray[Any], chosen: Numbers | slice) -> None:
    """Set the `chosen` of `pieces`, (N, K), to the bytes of `content` that begin at `firsts`."""
    length = pieces.dtype.itemsize
    unit = math.gcd(length, BLOCK)
    if not isinstance(chosen, slice) or unit < _MIN_UNIT or (firsts % unit).any():
        pieces[chosen] = _overlapping(content, length)[firsts]
        return
    # Whole images begin at a tar's blocks; with items that do not overlap, numpy writes directly to
    # `out`. (mode="raise" would make a copy.)
    blocks = np.ndarray((len(content) // unit,), f"V{unit}", content)
    items = (firsts // unit)[:, :, None] + np.arange(length // unit)
    np.take(blocks, items, out=pieces.view(blocks.dtype).reshape(items.shape), mode="clip")


def _border(start: Numbers, length: int, seen: Any, is_turned: Numbers) -> Numbers:
    """Return (2, N): the border before and after the visible part of a box, after turning."""
    border = np.clip((seen[0] - start, start + length - seen[1]), 0, length)
    return np.where(is_turned, border[::-1], border)


def _fill(lines: Bytes, border: Numbers, unit: int, value: int) -> None:
    """Set `border`, (2, N) units, at both ends of lines, (N, lines, bytes), to `value`."""
    length = lines.shape[2]
    for times in range(1, int(border.max()) + 1):
        size = times * unit
        strip = np.full(size, value, np.uint8).view(f"V{size}")[0]
        for chosen, offset in zip(border == times, (0, length - size), strict=True):
            strips = np.ndarray(lines.shape[:2], strip.dtype, lines, offset, lines.strides[:2])
            strips[chosen] = strip


def _overlapping(content: Any, length: int) -> NDArray[Any]:
    """Return an array whose item i is the `length` bytes of `content` from byte i."""
    return np.ndarray((max(len(content) - length + 1, 0),), f"V{length}", content, 0, (1,))
