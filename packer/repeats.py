"""Finds what occurs more than once among millions of names, in 8 bytes a name."""

from collections.abc import Iterable, Sequence

import numpy as np
import xxhash
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]


def hashes_of(names: Iterable[bytes]) -> Hashes:
    """The xxh3-64 of each name, uint64."""
    return np.fromiter(map(xxhash.xxh3_64_intdigest, names), np.uint64)


def repeated(parts: Sequence[Hashes]) -> Hashes:
    """The values, in order, that come more than once in all `parts` together.

    Different names may share a hash (one chance in 370,000 among ten million), so compare the names
    themselves next.
    """
    ordered = np.concatenate([np.empty(0, np.uint64), *parts])
    ordered.sort()
    return np.unique(ordered[1:][ordered[1:] == ordered[:-1]])
