"""What lies in finished shards, as their indexes have it."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from packer.errors import EXAMPLES, UnusableInput
from packer.keys import are_among, hashes_of, repeated
from packer.shards.shard_writer import entry_of, index_of, remove_shard
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
        """Return what the index says of the shard of `split` whose tar is at `path`."""
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


def refuse_repeated_keys(folder: Path, tars: Iterable[str]) -> None:
    """Compare the keys of all samples; remove the shards in which one is repeated, and raise."""
    paths = [folder / tar for tar in tars]
    twice = repeated([hashes_of(_keys(path)) for path in paths])
    if not len(twice):
        return
    places: dict[bytes, list[Path]] = {}
    for path in paths:
        keys = _keys(path)
        for row in np.flatnonzero(are_among(hashes_of(keys), twice)).tolist():
            places.setdefault(keys[row], []).append(path)
    found = {key: where for key, where in places.items() if len(where) > 1}
    for path in {path for where in found.values() for path in where}:
        remove_shard(path)
    if found:
        named = ", ".join(repr(key.decode()) for key in sorted(found)[:EXAMPLES])
        raise UnusableInput(
            f"{'1 key is that' if len(found) == 1 else f'{len(found)} keys are those'} of several "
            f"samples: {named}"
            f"{' and others' * (len(found) > EXAMPLES)}. Give each sample a key of its own, or "
            "none: then they are numbered. Nothing was committed."
        )


def _keys(path: Path) -> list[bytes]:
    return Index(index_of(path), mapped=False).values_of("key")
