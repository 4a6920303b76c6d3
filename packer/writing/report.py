"""What packing tells at its end, read from the indexes of the finished shards."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from packer.writing.shard_writer import (
    entry_of,
    index_of,
)
from reader.format import (
    FORMATS,
    Index,
    ShardEntry,
)


@dataclass(frozen=True)
class PackReport:
    """What became of a source: every file of it is a sample, rejected or ignored.

    Attributes:
        reading: what the source was understood as, in a sentence.
        remarks: further sentences on it.
        splits: samples of each split; empty without splits.
        untiled: (name, reason) of the JPEGs that could not be tiled and are stored as they were.
    """

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
    ignored: list[tuple[str, str]]


@dataclass
class Written:
    """What lies in finished shards."""

    entries: list[ShardEntry] = field(default_factory=list)
    fields: set[str] = field(default_factory=set)
    labels: Counter[int] = field(default_factory=Counter)
    rejected: list[tuple[str, str]] = field(default_factory=list)
    untiled: list[tuple[str, str]] = field(default_factory=list)


def read_shards(paths: Sequence[Path], splits: Sequence[str]) -> Written:
    """Go through the indexes of the shards at `paths`, once.

    Raises:
        FormatError: an index is not usable.
    """
    written = Written()
    for path, split in zip(paths, splits, strict=True):
        index = Index(index_of(path), mapped=False)
        written.entries.append(entry_of(index, split))
        written.fields |= {FORMATS[code] for code in set(index.columns["format"].tolist())}
        written.fields |= set(index.members)
        written.labels.update(index.columns["label"].tolist())
        written.rejected += index.rejected
        written.untiled += index.untiled
    return written
