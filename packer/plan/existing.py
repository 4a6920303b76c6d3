"""The existing samples of a dataset, and how they differ from those of the source."""

import hashlib
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from packer.errors import EXAMPLES, WrongOption
from packer.plan.moved import Stored, ends, spread
from packer.samples.table import SampleTable
from packer.words import Message, have, option
from reader.format import Index, Manifest

Digests = NDArray[np.bytes_]

_LABEL = "cls"  # the member that every sample with a label gets


class ExistingSamples:
    """The samples that the indexes of a dataset name, in 48 bytes a sample."""

    def __init__(self, folder: Path, base: Manifest) -> None:
        self._paths = [folder / shard.index for shard in base.shards]
        self._splits = [shard.split for shard in base.shards]
        keys = bytearray()
        self.rejected = {(name, reason) for name, reason in base.rejections.get("files", ())}
        columns = [(np.empty(0, np.int64),) * 4]  # also where there is no shard
        for number, path in enumerate(self._paths):
            index = Index(path, mapped=False)
            keys += b"".join(map(digest, index.values_of("key")))
            self.rejected.update(index.rejected)
            members = np.zeros(len(index), np.int64)
            for ext in set(index.members) - {_LABEL}:
                members += index.columns[f"{ext}.offset"] > 0
            shards = np.full(len(index), number)
            written = np.full(len(index), path.stat().st_mtime_ns)
            columns.append((index.columns["label"].astype(np.int64), members, shards, written))
        self.rejected -= base.packed_since
        self.digests = column(keys)
        joined = map(np.concatenate, zip(*columns, strict=True))
        self._labels, self._members, self._shards, self._written = joined

    def tally(self, labels: NDArray[np.int64], splits: Sequence[str]) -> NDArray[np.int64]:
        """Return how many samples of each label, in order, each split has: (labels, splits)."""
        names = {name: code for code, name in enumerate(splits)}
        codes = np.array([names.get(split, -1) for split in self._splits] or [0])[self._shards]
        known = np.isin(self._labels, labels) & (codes >= 0)
        found = np.zeros((len(labels), len(splits)), np.int64)
        np.add.at(found, (np.searchsorted(labels, self._labels[known]), codes[known]), 1)
        return found

    def differences(
        self,
        listing: SampleTable,
        digests: Digests,
        seen: Digests,
        classes: Sequence[str],
        divided: Collection[str],
    ) -> Iterator[str]:
        """Yield a sentence on what has changed since, and one on what has gone.

        Samples of these or of no split stay in the `divided` splits, however they came there.
        """
        numbers, rows = self._known(digests)
        if not len(rows):
            return  # it is another source
        splits = np.array(self._splits)[self._shards[rows]]
        labels, own = self._labels[rows], listing.labels[numbers]
        parts = listing.splits[numbers]
        if divided:
            stays = np.isin(splits, list(divided)) & listing.is_in(("", *divided))[numbers]
            parts = np.where(stays, splits, parts)
        if len(moved := np.flatnonzero((labels != own) | (splits != parts))):
            named = []
            for at in moved[:EXAMPLES].tolist():
                before = _place(int(labels[at]), str(splits[at]), classes)
                sample = listing[int(numbers[at])]
                now = _place(sample.label, str(parts[at]), classes)
                differing = [pair for pair in zip(before, now, strict=True) if pair[0] != pair[1]]
                was, become = map(", ".join, zip(*differing, strict=True))
                named.append(f"{sample.key} ({was} in the dataset, {become} in the source)")
            count = len(moved)
            raise WrongOption(
                f"{_samples(count)} already in the dataset and {have(count)} another label or "
                f"split in the source: {_listed(named, count)}. ",
                _pack_anew(),
            )
        newer = listing.mtimes[numbers] > self._written[rows]
        newer &= not newer.all()  # a copy of the source, or one file with all of it
        members = (listing.member_counts - listing.having(_LABEL))[numbers]
        changed = newer | (members != self._members[rows])
        if count := int(changed.sum()):
            few = [listing[at].key for at in numbers[changed][:EXAMPLES].tolist()]
            yield (
                f"{_samples(count)} already in the dataset and {have(count)} files that were "
                f"written, added or removed since: {_listed(few, count)}. " + _pack_anew()
            )
        gone = np.flatnonzero(~np.isin(self.digests, seen))
        if count := len(gone):
            yield Message(
                f"{_samples(count)} in the dataset and not in the source: "
                f"{_listed(self._keys(gone[:EXAMPLES]), count)}. Samples that were removed or "
                "moved in the source stay in the dataset. To remove them, pack again with ",
                option("overwrite", True),
                ".",
            )

    def gone(self, seen: Digests) -> list[Stored]:
        """Return images of samples that are not among those `seen` in the source; of many, some."""
        rows = np.flatnonzero(~np.isin(self.digests, seen))
        return list(self._stored(rows[spread(len(rows))]))

    def numbered(self, listing: SampleTable, digests: Digests) -> Iterator[tuple[int, Stored]]:
        """Yield the place of samples whose keys are numbers, and what the dataset has of these.

        There are none if a file of the source was not written since. Of many, it yields some.
        """
        numbers, rows = self._known(digests)
        if not (listing.mtimes[numbers] > self._written[rows]).all():
            return
        few = [
            at
            for at in ends(len(numbers))
            if listing[int(numbers[at])].key.rpartition("/")[2].isdecimal()
        ]
        few.sort(key=rows.__getitem__)
        yield from zip(numbers[few].tolist(), self._stored(rows[few]), strict=True)

    def _known(self, digests: Digests) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the places of keys that the dataset has, and their rows in it."""
        order = np.argsort(self.digests)
        places = np.searchsorted(self.digests, digests, sorter=order)
        rows = order[places.clip(max=len(order) - 1)]
        numbers = np.flatnonzero(self.digests[rows] == digests)
        return numbers, rows[numbers]

    def _stored(self, rows: NDArray[np.int64]) -> Iterator[Stored]:
        for shard in np.unique(self._shards[rows]).tolist():
            index, path = Index(self._paths[shard], mapped=False), self._paths[shard]
            own = rows[self._shards[rows] == shard] - np.searchsorted(self._shards, shard)
            named = ("offset", "size", "crc32", "height", "width")
            spans = zip(*(index.columns[name][own].tolist() for name in named), strict=True)
            for row, span in zip(own.tolist(), spans, strict=True):
                yield Stored(index.key(row), path.with_suffix(".tar"), *span)

    def _keys(self, rows: NDArray[np.int64]) -> list[str]:
        found = []
        for row in rows.tolist():
            shard = self._shards[row]
            first = int(np.searchsorted(self._shards, shard))
            found.append(Index(self._paths[shard]).key(row - first))
        return found


def digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


def column(digests: bytearray) -> Digests:
    return np.frombuffer(digests, dtype="S16") if digests else np.empty(0, "S16")


def _pack_anew() -> Message:
    only = option("append", True), " only adds new samples. To update the dataset, pack again with "
    return Message(*only, option("overwrite", True), ".")


def _place(label: int, split: str, classes: Sequence[str]) -> tuple[str, str]:
    name = "no label" if label < 0 else classes[label] if label < len(classes) else str(label)
    return name, split or "no split"


def _samples(count: int) -> str:
    return "1 sample is" if count == 1 else f"{count} samples are"


def _listed(names: Sequence[str], count: int) -> str:
    return ", ".join(names) + (f" and {count - len(names)} more" if count > len(names) else "")
