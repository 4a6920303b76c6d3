"""What packing tells at its end, read from the indexes of the finished shards."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from packer.writing.shard_writer import entry_of, index_of
from reader.format import FORMATS, Index, Manifest, ShardEntry


@dataclass(frozen=True)
class PackReport:
    """What became of a source: every file of it is a sample, rejected or ignored.

    Attributes:
        reading: what the source was understood as, in a sentence.
        remarks: further sentences on it.
        splits: samples of each split; empty without splits.
        untiled: (name, reason) of the JPEGs that could not be tiled and are stored as they were.
        unbanded: the same of PNGs that could not be banded.
    """

    __module__ = "packer"

    reading: str
    remarks: list[str]
    dataset: str
    samples: int
    classes: int
    splits: Mapping[str, int]
    shards: int
    shards_written: int
    bytes: int
    seconds: float
    rejected: list[tuple[str, str]]
    untiled: list[tuple[str, str]]
    unbanded: list[tuple[str, str]]
    ignored: list[tuple[str, str]]


def report(folder: Path, content: Manifest, **told: Any) -> PackReport:
    """The report on a dataset that is committed, with what else is `told`."""
    return PackReport(
        dataset=str(folder),
        samples=sum(shard.samples for shard in content.shards),
        classes=len(content.classes),
        splits={name: count for name, count in content.split_samples.items() if name},
        shards=len(content.shards),
        bytes=sum(shard.bytes + shard.index_bytes for shard in content.shards),
        **told,
    )


def without_labels(labels: Collection[int]) -> list[str]:
    """What to tell where some samples have labels and others have not."""
    some = -1 in labels and len(labels) > 1
    return ["Some samples have no label: a Loader gives them -1."] * some


@dataclass(frozen=True)
class ShardReport:
    """What lies in one finished shard.

    Attributes:
        fields: the extensions of its members.
        labels: that its samples have.
        untiled, unbanded: as those of `PackReport`.
    """

    entry: ShardEntry
    fields: frozenset[str]
    labels: tuple[int, ...]
    rejected: list[tuple[str, str]]
    untiled: list[tuple[str, str]]
    unbanded: list[tuple[str, str]]


def report_of(path: Path, split: str) -> ShardReport:
    """Read the index of the shard of `split` whose tar is at `path`.

    Raises:
        FormatError: the index is not usable.
    """
    index = Index(index_of(path), mapped=False)
    return ShardReport(
        entry_of(index, split),
        frozenset(FORMATS[code] for code in set(index.columns["format"].tolist()))
        | frozenset(index.members),
        tuple(np.unique(index.columns["label"]).tolist()),
        index.rejected,
        index.untiled,
        index.unbanded,
    )


@dataclass
class Written:
    """What lies in finished shards; in `entries` by the name of the tar."""

    entries: dict[str, ShardEntry] = field(default_factory=dict)
    fields: set[str] = field(default_factory=set)
    labels: set[int] = field(default_factory=set)
    rejected: list[tuple[str, str]] = field(default_factory=list)
    untiled: list[tuple[str, str]] = field(default_factory=list)
    unbanded: list[tuple[str, str]] = field(default_factory=list)

    def add(self, shard: ShardReport) -> None:
        """Count in one shard more."""
        self.entries[shard.entry.file] = shard.entry
        self.fields |= shard.fields
        self.labels.update(shard.labels)
        self.rejected += shard.rejected
        self.untiled += shard.untiled
        self.unbanded += shard.unbanded
