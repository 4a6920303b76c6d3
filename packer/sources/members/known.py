"""The samples of a finished dataset, found by key or by image name."""

import os
from array import array
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xxhash

from packer.errors import BadImage
from packer.samples.places import place_elsewhere
from packer.samples.records import Place, Sample
from packer.sources.tables.images import HashIndex
from reader.format import Index, Manifest
from reader.format.frames import Packed, Picture


class Members(NamedTuple):
    """The members of one sample."""

    name: str  # key or image name of the sample
    where: Sequence[str]  # the row or the files, for a person
    places: Mapping[str, Place]  # by extension
    size: int  # bytes of all
    mtime_ns: int  # when the newest file was written


class KnownSamples:
    """The samples of the dataset in a folder, by number.

    Attributes:
        name: the dataset's, for a person.
        identity: a checksum of the keys in their order, and of the shards' bounds.
    """

    def __init__(self, folder: Path, name: str) -> None:
        """Read all indexes."""
        self.name, self.content = name, Manifest.load(folder)
        self.content.check_images(name)
        self._keys, self._names = list[bytes](), list[bytes]()
        self._indexes: dict[int, HashIndex] = {}  # of keys, names, or names without extension
        sizes = [np.empty((0, 3), np.uint32)]
        self._changed: dict[int, Packed] = {}  # images whose pixels packing changed
        for shard in self.content.shards:
            index = Index.of_shard(folder, shard, len(self.content.classes), mapped=False)
            self._keys += index.values_of("key")
            self._names += index.values_of("name")
            for row in np.flatnonzero(index.columns.get("source_height", ())).tolist():
                number = len(self._keys) - len(index) + row
                self._changed[number] = Packed.of_row(index.columns, row)
            parts = [index.columns[one] for one in ("height", "width", "orientation")]
            sizes.append(np.stack(parts, 1).astype(np.uint32))
        self._sizes = np.concatenate(sizes)
        self._ends = np.cumsum([shard.samples for shard in self.content.shards])
        self.identity = xxhash.xxh3_128_hexdigest(b"\0".join(self._keys) + self._ends.tobytes())

    def __len__(self) -> int:
        return len(self._keys)

    def __getitem__(self, number: int) -> Sample:
        """Return a sample without members, in the place of whose image is its size."""
        name, shard = self._names[number], int(np.searchsorted(self._ends, number, side="right"))
        stored = Picture(*self._sizes[number].tolist())
        places = [place_elsewhere(self._changed.get(number, Packed(stored, stored)))]
        split = self.content.shards[shard].split
        return Sample(os.fsdecode(name), self.key(number), -1, 0, 0, split=split, places=places)

    def key(self, number: int) -> str:
        return self._keys[number].decode()

    def find(self, text: str) -> int:
        """Return the number of the sample whose key, or else image name, is `text`.

        A name may lack its extension. Raises BadImage if there is no such sample, or several.
        """
        wanted = os.fsencode(text)
        value = xxhash.xxh3_64_intdigest(wanted)
        ways: tuple[Callable[[int], bytes], ...]
        ways = lambda n: self._keys[n], lambda n: self._names[n], self._stem
        for way, of in enumerate(ways):
            if way not in self._indexes:
                hashes = map(xxhash.xxh3_64_intdigest, map(of, range(len(self))))
                self._indexes[way] = HashIndex(array("Q", hashes))
            found = [n for n in self._indexes[way].numbers(value) if of(n) == wanted]
            if len(found) > 1:
                both = " and ".join(repr(os.fsdecode(self._names[n])) for n in found[:2])
                raise BadImage(f"it may be for {both} of {self.name}: name one with its extension")
            if found:
                return found[0]
        raise BadImage(f"{self.name} has no sample with this key or image name")

    def _stem(self, number: int) -> bytes:
        return os.path.splitext(self._names[number])[0]
