"""Decoded images in memory, for all processes of a user on a machine (``cache="decoded"``).

Guarantees: every batch has the pixels that it has without the cache, because what is kept is what
the decoder had in hand: the whole image, or, where the transforms show the same of it in every
epoch but for mirroring, that result. An image is marked after its pixels are written; two that
write it at once write the same bytes. What does not decode without fault is never marked.

The owner of the memory lays it out, any worker fills it. Between the pixels and their mark an
interpreter does so much that no processor shows the two in another order.
"""

import hashlib
import mmap
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reader.dataset.dataset import Dataset
from reader.dataset.shared_memory import Shared, Wanted, share
from reader.transforms import FIXED, MIRRORS, Transform, largest_output

_PAGE = 4096

Pixels = NDArray[Any]  # uint8


@dataclass(frozen=True)
class DecodedImages:
    """The memory, as the loader holds it and as its workers open it.

    It begins with a byte for each image, not 0 if its pixels are there; int64 follow, from a
    multiple of 8 on, that tell at which byte each image starts, and where the last ends.
    """

    memory: Shared
    count: int  # images
    size: int  # bytes
    channels: int  # of the images, 3 or 1
    of_results: bool  # what the transforms show, not whole images

    def find(self, number: int, height: int, width: int) -> Pixels | None:
        """An image, (height, width, channels); None until it is there. Not to be changed."""
        return self._room(number, height, width) if self._marks[number] else None

    def keep(self, number: int, pixels: Pixels) -> Pixels:
        """Keep an image, (height, width, channels), and mark it; as `find` gives it from now on."""
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
    """Memory for the images of a dataset; empty, if no process of this user has it already."""
    count, channels = len(dataset), dataset.channels
    result = _result(dataset, pipelines)
    if result is None:
        columns = dataset.columns("height", "width")
        pixels = columns["height"].astype(np.int64) * columns["width"]
        # No more than the limit is ever decoded, and the sum of what is fits into int64.
        sizes = np.where(pixels <= dataset.limits.pixels, pixels, 0) * channels
        what = f"{count:,} whole images, decoded, of {dataset.source}"
    else:
        height, width = result[1]
        sizes = np.full(count, height * width * channels, np.int64)
        what = f"{count:,} images of {height} x {width} pixels of {dataset.source}"
    first = _starts_at(count)
    starts = np.zeros(count + 1, np.int64)
    np.cumsum(sizes, out=starts[1:])
    starts += -(-(first + starts.nbytes) // _PAGE) * _PAGE
    of_what = dataset.fingerprint, dataset.places.description
    kind = f"{of_what} {result and (result[0], dataset.upright)} {channels}"
    identity = "decoded-" + hashlib.blake2b(kind.encode()).hexdigest()[:16]

    def write_starts(descriptor: int) -> None:
        os.pwrite(descriptor, starts.tobytes(), first)

    size = int(starts[-1])
    wanted = Wanted("decoded", identity, size, what, is_constant=False)
    shared = share(wanted, write_starts, dataset.cache_limit)
    return DecodedImages(shared, count, size, channels, result is not None)


def _result(
    dataset: Dataset, pipelines: Sequence[Sequence[Transform]]
) -> tuple[tuple[Transform, ...], tuple[int, int]] | None:
    """Return transforms, and the (height, width) that they give, if that can be kept."""
    # No crop or scaling of it may follow, only mirroring.
    fixed = [*pipelines[0]]
    while fixed and type(fixed[-1]) in MIRRORS:
        fixed.pop()
    if len(pipelines) > 1 or any(type(transform) not in FIXED for transform in fixed):
        return None
    size, is_one_size = largest_output(fixed, dataset.sizes)
    return (tuple(fixed), size) if is_one_size else None


def _starts_at(count: int) -> int:
    return -(-count // 8) * 8
