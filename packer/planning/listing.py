"""The result of a scan, held in columns: some 180 bytes a sample at usual name lengths."""

from array import array
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from packer.sources.records import (
    LeftOut,
    SourceSample,
)

_TEXTS = 3  # name, key and locator

_Kind = tuple[str, tuple[str, ...]]  # a split and the extensions of the further members


class Listing:
    """All samples of a source, by number, and what was left out on the way."""

    def __init__(self) -> None:
        self._text = bytearray()  # name, key and locator of each sample, back to back
        self._bounds = array("Q", [0])
        self._labels = array("q")
        self._sizes = array("q")
        self._mtimes = array("q")
        self._blocks = array("q")
        self._kinds = array("I")  # which of `_known_kinds`
        self._known_kinds: dict[_Kind, int] = {}
        self._kind_list: list[_Kind] = []
        self.left_out: list[LeftOut] = []

    def __len__(self) -> int:
        return len(self._sizes)

    def __getitem__(self, number: int) -> SourceSample:
        first = _TEXTS * number
        start, middle, last, end = self._bounds[first : first + _TEXTS + 1]
        split, members = self._kind_list[self._kinds[number]]
        return SourceSample(
            name=self._text[start:middle].decode("utf-8", "surrogateescape"),
            key=self._text[middle:last].decode("utf-8"),
            label=self._labels[number],
            size=self._sizes[number],
            mtime_ns=self._mtimes[number],
            members=members,
            split=split,
            locator=self._text[last:end].decode("utf-8", "surrogateescape"),
            block=self._blocks[number],
        )

    def __iter__(self) -> Iterator[SourceSample]:
        return (self[number] for number in range(len(self)))

    def add(self, record: SourceSample | LeftOut) -> None:
        """Append what a source's scan yields."""
        if isinstance(record, LeftOut):
            self.left_out.append(record)
            return
        for text in (record.name, record.key, record.locator):
            self._text += text.encode("utf-8", "surrogateescape")
            self._bounds.append(len(self._text))
        self._labels.append(record.label)
        self._sizes.append(record.size)
        self._mtimes.append(record.mtime_ns)
        self._blocks.append(record.block)
        kind = (record.split, record.members)
        if kind not in self._known_kinds:
            self._known_kinds[kind] = len(self._kind_list)
            self._kind_list.append(kind)
        self._kinds.append(self._known_kinds[kind])

    def take(self, numbers: Sequence[int] | NDArray[np.int64]) -> "Listing":
        """A listing of the samples with these numbers, in their order."""
        taken = Listing()
        for number in numbers:
            taken.add(self[int(number)])
        return taken

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Bytes of each sample, its members included."""
        return _int64(self._sizes)

    @property
    def blocks(self) -> NDArray[np.int64]:
        """The block that each sample lies in, -1 for none."""
        return _int64(self._blocks)

    @property
    def labels(self) -> NDArray[np.int64]:
        """The class number of each sample."""
        return _int64(self._labels)

    @property
    def splits(self) -> NDArray[np.str_]:
        """The split of each sample."""
        return self._of_kind([split for split, _ in self._kind_list])

    @property
    def member_counts(self) -> NDArray[np.int64]:
        """How many further members each sample has."""
        return self._of_kind([len(members) for _, members in self._kind_list])

    @property
    def name_lengths(self) -> NDArray[np.int64]:
        """Bytes of the longest member name that each sample may have."""
        bounds = np.frombuffer(self._bounds, dtype=np.uint64).astype(np.int64)
        keys = bounds[2::_TEXTS] - bounds[1::_TEXTS]
        longest = [
            max(len(ext.encode()) for ext in ("webp", *members)) for _, members in self._kind_list
        ]
        return keys + len(".") + self._of_kind(longest)

    @property
    def newest_ns(self) -> int:
        """When the newest file was written."""
        return max(self._mtimes, default=0)

    def fingerprint(self) -> str:
        """A checksum of all but the times; a copy of the source has the same."""
        state = xxhash.xxh3_128(repr(self._kind_list).encode("utf-8", "replace"))
        for column in (self._text, self._bounds, self._labels, self._sizes, self._kinds):
            state.update(column)
        return state.hexdigest()

    def state(self) -> str:
        """A checksum of what `fingerprint` covers and of the times of writing."""
        return xxhash.xxh3_128(self.fingerprint().encode() + self._mtimes.tobytes()).hexdigest()

    def _of_kind(self, values: Sequence[Any]) -> NDArray[Any]:
        """For each sample, what `values` has for its kind."""
        kinds = np.frombuffer(self._kinds, dtype=np.uint32) if len(self) else np.empty(0, np.uint32)
        return np.array(values or [0])[kinds]


def _int64(column: "array[int]") -> NDArray[np.int64]:
    return np.frombuffer(column, dtype=np.int64) if column else np.empty(0, np.int64)
