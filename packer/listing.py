"""The result of a scan, held in columns: some 150 bytes a file at usual name lengths."""

from array import array
from collections.abc import Iterable

import numpy as np
import xxhash
from numpy.typing import NDArray

from packer.sources import LeftOut, SourceSample


class Listing:
    """All samples of a source, by number, and what was left out on the way."""

    def __init__(self) -> None:
        self._text = bytearray()  # name and key of each sample, back to back
        self._bounds = array("Q", [0])
        self._labels = array("q")
        self._sizes = array("q")
        self._mtimes = array("q")
        self.left_out: list[LeftOut] = []

    def __len__(self) -> int:
        return len(self._sizes)

    def __getitem__(self, number: int) -> SourceSample:
        start, middle, end = self._bounds[2 * number : 2 * number + 3]
        return SourceSample(
            name=self._text[start:middle].decode("utf-8", "surrogateescape"),
            key=self._text[middle:end].decode("utf-8"),
            label=self._labels[number],
            size=self._sizes[number],
            mtime_ns=self._mtimes[number],
        )

    def add(self, record: SourceSample | LeftOut) -> None:
        """Append what a source's scan yields."""
        if isinstance(record, LeftOut):
            self.left_out.append(record)
            return
        for text in (record.name, record.key):
            self._text += text.encode("utf-8", "surrogateescape")
            self._bounds.append(len(self._text))
        self._labels.append(record.label)
        self._sizes.append(record.size)
        self._mtimes.append(record.mtime_ns)

    def samples(self, numbers: Iterable[int]) -> list[SourceSample]:
        """The samples with these numbers."""
        return [self[int(number)] for number in numbers]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Bytes of each sample."""
        return np.frombuffer(self._sizes, dtype=np.int64) if self._sizes else np.empty(0, np.int64)

    @property
    def name_lengths(self) -> NDArray[np.int64]:
        """Bytes of the longest member name that each sample may have."""
        bounds = np.frombuffer(self._bounds, dtype=np.uint64).astype(np.int64)
        return bounds[2::2] - bounds[1::2] + len(".webp")

    @property
    def newest_ns(self) -> int:
        """When the newest file was written."""
        return max(self._mtimes, default=0)

    def fingerprint(self) -> str:
        """A checksum of names, keys, labels and sizes; a copy of the source has the same."""
        state = xxhash.xxh3_128()
        for column in (self._text, self._bounds, self._labels, self._sizes):
            state.update(column)
        return state.hexdigest()

    def state(self) -> str:
        """A checksum of what `fingerprint` covers and of the times of writing."""
        return xxhash.xxh3_128(self.fingerprint().encode() + self._mtimes.tobytes()).hexdigest()
