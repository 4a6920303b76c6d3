"""Which samples are alike: byte for byte, or to the eye (pure).

Samples are never compared all with all. Those of the same bytes have the same size and checksum,
which the indexes know; of those alike to the eye, at least one of five parts of their perceptual
hashes is the same, as these differ in four bits at most.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_PARTS = (13, 13, 13, 13, 12)  # bits; one more than may differ
_FAR = 4  # bits
_APART = 6.0  # mean difference of the grey values of two images that are alike
_NEIGHBOURS = 512  # with the same part of a hash, with whom a sample is compared at most


@dataclass(frozen=True)
class Groups:
    """Disjoint groups of samples, each of two at least.

    Attributes:
        members: int64, the groups' samples back to back.
        starts: int64, where each group begins.
    """

    members: NDArray[np.int64]
    starts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts)

    def __iter__(self) -> Iterator[NDArray[np.int64]]:
        return iter(np.split(self.members, self.starts[1:]) if len(self) else [])

    def differ(self, values: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Of each group whether its samples have different `values`, given for all samples."""
        if not len(self):
            return np.zeros(0, np.bool_)
        of = values[self.members]
        return np.maximum.reduceat(of, self.starts) > np.minimum.reduceat(of, self.starts)

    def where(self, wanted: NDArray[np.bool_]) -> "Groups":
        """Some of the groups."""
        sizes = np.diff([*self.starts, len(self.members)])
        kept = sizes[wanted]
        return Groups(self.members[np.repeat(wanted, sizes)], np.cumsum([0, *kept])[:-1])


def same(*columns: NDArray[np.int64], samples: NDArray[np.int64] | None = None) -> Groups:
    """The groups of samples that have the same values in all columns.

    Args:
        columns: (N,) each.
        samples: their numbers; None: 0 to N.
    """
    order = np.lexsort(columns)
    differs = np.zeros(len(order) + 1, np.bool_)
    differs[[0, -1]] = True
    for column in columns:
        differs[1:-1] |= column[order][1:] != column[order][:-1]
    return _grouped(order if samples is None else samples[order], np.flatnonzero(differs))


def alike(
    numbers: NDArray[np.int64],
    hashes: NDArray[np.uint64],
    mirrored: NDArray[np.uint64],
    tiny: NDArray[np.uint8],
) -> Groups:
    """The groups of samples that look the same, or mirrored, each like one other at least.

    Args:
        numbers: of the samples, (N,).
        hashes, mirrored: perceptual, (N,), of each as it is and of its mirror image.
        tiny: grey values of a square image, (N, pixels).
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count, side = len(numbers), math.isqrt(tiny.shape[1])
    flipped = tiny.reshape(count, side, side)[:, :, ::-1].reshape(tiny.shape)
    both, shown = np.concatenate([hashes, mirrored]), np.concatenate([tiny, flipped])
    pairs = np.concatenate([np.zeros((0, 2), np.int64), *_candidates(both)])
    pairs = pairs[(pairs < count).any(axis=1)]  # two mirror images are alike as their images are
    first, second = pairs.T
    far = np.abs(shown[first].astype(np.int16) - shown[second]).mean(axis=1)
    first, second = pairs[far <= _APART].T % max(count, 1)
    links = coo_array((np.ones(len(first)), (first, second)), (count, count))
    _, component = connected_components(links, directed=False)
    return same(component.astype(np.int64), samples=numbers)


def _candidates(hashes: NDArray[np.uint64]) -> Iterator[NDArray[np.int64]]:
    """Pairs of places, (pairs, 2), of hashes that differ in few bits; some come repeatedly."""
    shift = 0
    for bits in _PARTS:
        part = (hashes >> np.uint64(shift)) & np.uint64((1 << bits) - 1)
        shift += bits
        order = np.lexsort((hashes, part))
        for step in range(1, min(len(order), _NEIGHBOURS)):
            first, second = order[:-step], order[step:]
            together = part[first] == part[second]
            if not together.any():
                break
            first, second = first[together], second[together]
            near = _bits(hashes[first] ^ hashes[second]) <= _FAR
            yield np.stack([first[near], second[near]], axis=1)


def _bits(values: NDArray[np.uint64]) -> NDArray[np.int64]:
    """How many bits of each value are set."""
    octets = np.ascontiguousarray(values).view(np.uint8).reshape(len(values), -1)
    return np.unpackbits(octets, axis=1).sum(axis=1)


def _grouped(ordered: NDArray[np.int64], bounds: NDArray[np.int64]) -> Groups:
    """The runs between `bounds` that have two samples at least."""
    sizes = np.diff(bounds)
    several = sizes > 1
    members = ordered[: bounds[-1]][np.repeat(several, sizes)]
    return Groups(members, np.cumsum([0, *sizes[several]])[:-1])
