"""What lies in finished shards, as their indexes have it."""

from dataclasses import dataclass, field
from pathlib import Path

from packer.shards.shard_writer import entry_of, index_of
from reader.format import FORMATS, Index, ShardEntry


@dataclass
class Written:
    """What lies in finished shards.

    Attributes:
        entries: by the names of their tars.
        fields: the extensions of their members.
        labels: that their samples have.
        untiled, unbanded: as those of `PackReport`.
    """

    entries: dict[str, ShardEntry] = field(default_factory=dict)
    fields: set[str] = field(default_factory=set)
    labels: set[int] = field(default_factory=set)
    rejected: list[tuple[str, str]] = field(default_factory=list)
    untiled: list[tuple[str, str]] = field(default_factory=list)
    unbanded: list[tuple[str, str]] = field(default_factory=list)

    @classmethod
    def of(cls, path: Path, split: str) -> "Written":
        """What the index says of the shard of `split` whose tar is at `path`."""
        index = Index(index_of(path), mapped=False)
        entry, columns = entry_of(index, split), index.columns
        return cls(
            {entry.file: entry},
            {*(FORMATS[code] for code in set(columns["format"].tolist())), *index.members},
            set(columns["label"].tolist()),
            index.rejected,
            index.untiled,
            index.unbanded,
        )

    def add(self, more: "Written") -> None:
        """Count in further shards."""
        self.entries |= more.entries
        self.fields |= more.fields
        self.labels |= more.labels
        self.rejected += more.rejected
        self.untiled += more.untiled
        self.unbanded += more.unbanded
