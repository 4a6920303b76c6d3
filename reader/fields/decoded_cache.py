"""Decoded images in memory, for all processes of a user on a machine (``cache="decoded"``).

Guarantees: every batch has the same pixels as without the cache, because the cache keeps the
decoder's output: the whole image, or the transformed one if only mirroring differs between epochs.
An image is marked after its pixels are written; two workers that write it at once write the same
bytes. An image that does not decode cleanly is never marked.

The owner of the memory lays it out, any worker fills it. The interpreter does so much between the
pixels and their mark that no processor makes them visible in another order.
"""

import hashlib
import mmap
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import takewhile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.dataset.dataset import Dataset
from reader.dataset.shared_memory import MemoryRequest, Shared, share
from reader.transforms.pipeline import largest_output, members, pixel_transforms
from reader.transforms.pixels.pixel_transform import PixelTransform
from reader.transforms.transform import Transform, states

_PAGE = 4096

Pixels = NDArray[Any]  # uint8


@dataclass(frozen=True)
class DecodedImages:
    """The memory, shared by the loader and its workers.

    It begins with a byte for each image, not 0 if its pixels are present. From the next multiple of
    8 on follow int64: the first byte of each image, and the end of the last.
    """

    memory: Shared
    count: int  # images
    size: int  # bytes
    channels: int  # of the images, 3 or 1
    of_results: bool  # transformed images, not whole ones

    def find(self, number: int, height: int, width: int) -> Pixels | None:
        """Return an image, (height, width, channels), not to be changed; None if it is missing."""
        return self._room(number, height, width) if self._marks[number] else None

    def keep(self, number: int, pixels: Pixels) -> Pixels:
        """Store and mark an image, (height, width, channels); return it as `find` does."""
        room = self._room(number, *pixels.shape[:2])
        room[...] = pixels
        self._marks[number] = 1
        return room

    def close(self) -> None:
        self.memory.close()

    def _room(self, number: int, height: int, width: int) -> Pixels:
        start, end = self._starts[number : number + 2].tolist()
        return self._bytes[start:end].reshape(height, width, self.channels)

    @cached_property
    def _bytes(self) -> Pixels:
        descriptor = os.open(self.memory.path, os.O_RDWR | os.O_CLOEXEC)
        try:
            return np.frombuffer(mmap.mmap(descriptor, self.size), np.uint8)
        finally:
            os.close(descriptor)

    @cached_property
    def _marks(self) -> Pixels:
        return self._bytes[: self.count]

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        first = _starts_at(self.count)
        return self._bytes[first : first + 8 * (self.count + 1)].view(np.int64)


def hold_decoded(dataset: Dataset, pipelines: Sequence[Sequence[Transform]]) -> DecodedImages:
    """Return memory for the images of a dataset; empty, unless another process has filled it."""
    count, channels = len(dataset), dataset.channels
    result = _result(dataset, pipelines)
    if result is None:
        sizes = dataset.computed(partial(_pixels, dataset.limits.pixels), "height", "width")
        what = f"{count:,} whole images, decoded, of {dataset.source}"
    else:
        height, width = result[1]
        sizes = np.broadcast_to(np.int64(height * width), count)
        what = f"{count:,} images of {height} x {width} pixels of {dataset.source}"
    first = _starts_at(count)
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    starts *= channels
    starts += -(-(first + starts.nbytes) // _PAGE) * _PAGE
    of_what = dataset.fingerprint, dataset.places.description
    kind = f"{of_what} {result and (result[0], dataset.upright)} {channels}"
    identity = "decoded-" + hashlib.blake2b(kind.encode()).hexdigest()[:16]

    def write_starts(descriptor: int) -> None:
        os.pwrite(descriptor, starts.data, first)

    size = int(starts[-1])
    wanted = MemoryRequest("decoded", identity, size, what, is_constant=False)
    shared = share(wanted, write_starts, dataset.cache_limit)
    return DecodedImages(shared, count, size, channels, result is not None)


def _result(
    dataset: Dataset, pipelines: Sequence[Sequence[Transform]]
) -> tuple[tuple[Transform, ...], tuple[int, int]] | None:
    fixed = [*takewhile(lambda one: not pixel_transforms([one]), pipelines[0])]
    later = members(pipelines[0][len(fixed) :])
    if not all(isinstance(one, PixelTransform) or states(one, "is_mirror") for one in later):
        return None
    while fixed and states(fixed[-1], "is_mirror"):
        fixed.pop()
    if len(pipelines) > 1 or not all(states(transform, "is_fixed") for transform in fixed):
        return None
    size, is_one_size = largest_output(fixed, dataset)
    return (tuple(fixed), size) if is_one_size else None


def _pixels(most: int, columns: Mapping[str, NDArray[Any]]) -> NDArray[np.int64]:
    """Return the pixels of images, 0 above the limit: those are never decoded.

    The sum of the others fits into int64.
    """
    pixels = columns["height"].astype(np.int64) * columns["width"]
    return np.where(pixels <= most, pixels, 0)


def _starts_at(count: int) -> int:
    return -(-count // 8) * 8
