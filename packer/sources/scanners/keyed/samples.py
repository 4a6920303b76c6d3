"""The samples of a finished dataset, found by key or by image name.

A sample takes the bytes of its key and name, 28 more, and 16 for each way of looking it up.
"""

import os
from array import array
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path

import numpy as np
import xxhash

from packer.errors import BadImage
from packer.samples.records import Place, Sample
from packer.sources.tables.images import HashIndex
from reader.format import Index, Manifest


class _Texts:
    """Bytes by number, back to back."""

    def __init__(self) -> None:
        self._content = bytearray()
        self._ends = array("q", [0])

    def extend(self, content: bytes, ends: Iterable[int]) -> None:
        start = len(self._content)
        self._content += content
        self._ends.extend(start + end for end in ends)

    def __len__(self) -> int:
        return len(self._ends) - 1

    def __getitem__(self, number: int) -> bytes:
        return bytes(self._content[self._ends[number] : self._ends[number + 1]])

    def __iter__(self) -> Iterator[bytes]:
        return map(self.__getitem__, range(len(self)))


class KnownSamples:
    """The samples of the dataset in a folder, by number."""

    def __init__(self, folder: Path, name: str) -> None:
        """Read all indexes; `name` is the dataset's for a person."""
        self.name = name
        self.content = content = Manifest.load(folder)
        content.check_images(name)
        self._keys, self._names = _Texts(), _Texts()
        sizes = [np.empty((0, 3), np.uint32)]
        for shard in content.shards:
            index = Index.of_shard(folder, shard, len(content.classes), mapped=False)
            columns = index.columns
            for texts, column in ((self._keys, "key"), (self._names, "name")):
                bounds = columns[f"{column}_offset"][1:].tolist()
                texts.extend(columns[column].tobytes(), bounds)
            parts = [columns[one] for one in ("height", "width", "orientation")]
            sizes.append(np.stack(parts, 1).astype(np.uint32))
        self._sizes = np.concatenate(sizes)
        self._ends = np.cumsum([shard.samples for shard in content.shards])

    def __len__(self) -> int:
        return len(self._keys)

    @cached_property
    def identity(self) -> str:
        """A checksum of the keys in their order, and of the shards' bounds."""
        return xxhash.xxh3_128_hexdigest(b"\0".join(self._keys) + self._ends.tobytes())

    def key(self, number: int) -> str:
        return self._keys[number].decode()

    def find(self, text: str) -> int:
        """Return the number of the sample whose key, or else image name, is `text`.

        A name may lack its extension. Raises BadImage if there is no such sample, or several.
        """
        wanted = os.fsencode(text.encode("utf-8", "surrogateescape"))
        value = xxhash.xxh3_64_intdigest(wanted)
        found = [n for n in self._by_key.numbers(value) if self._keys[n] == wanted]
        found = found or [n for n in self._by_name.numbers(value) if self._names[n] == wanted]
        found = found or [n for n in self._by_stem.numbers(value) if self._stem(n) == wanted]
        if not found:
            raise BadImage(f"{self.name} has no sample with this key or image name")
        if len(found) > 1:
            both = " and ".join(repr(os.fsdecode(self._names[n])) for n in found[:2])
            raise BadImage(f"it may be for {both} of {self.name}: name one with its extension")
        return found[0]

    def sample(self, number: int, members: Mapping[str, Place], size: int, mtime: int) -> Sample:
        """Return a sample with these members, of `size` bytes in all, written at `mtime` (ns)."""
        shard = self.content.shards[int(np.searchsorted(self._ends, number, side="right"))]
        return Sample(
            name=os.fsdecode(self._names[number]),
            key=self.key(number),
            label=-1,
            size=size,
            mtime_ns=mtime,
            members=tuple(members),
            split=shard.split,
            places=[[self._sizes[number].tolist()], *members.values()],
        )

    def _stem(self, number: int) -> bytes:
        return os.path.splitext(self._names[number])[0]

    @cached_property
    def _by_key(self) -> HashIndex:
        return _hashed(self._keys)

    @cached_property
    def _by_name(self) -> HashIndex:
        return _hashed(self._names)

    @cached_property
    def _by_stem(self) -> HashIndex:
        return _hashed(map(self._stem, range(len(self))))


def _hashed(texts: Iterable[bytes]) -> HashIndex:
    return HashIndex(array("Q", map(xxhash.xxh3_64_intdigest, texts)))
