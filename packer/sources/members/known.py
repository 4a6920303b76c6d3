"""The samples of a finished dataset, found by key or by image name."""

import os
from array import array
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import xxhash

from packer.errors import BadImage
from packer.samples.records import Place, Sample
from packer.samples.table import SampleTable
from packer.sources.tables.images import HashIndex, name_hash
from reader.format import Index, Manifest


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
        listing: each without members, with the size of its image in its place.
        identity: a checksum of the keys in their order, and of the shards' bounds.
    """

    def __init__(self, folder: Path, name: str) -> None:
        """Read all indexes."""
        self.name, self.listing = name, SampleTable()
        self.content = content = Manifest.load(folder)
        content.check_images(name)
        keys: list[bytes] = []
        for shard in content.shards:
            index = Index.of_shard(folder, shard, len(content.classes), mapped=False)
            parts = [index.columns[one] for one in ("height", "width", "orientation")]
            sizes = np.stack(parts, 1).tolist()
            keys += (own := index.values_of("key"))
            for image, key, size in zip(index.names(), own, sizes, strict=True):
                self.listing.add(
                    Sample(image, key.decode(), -1, 0, 0, split=shard.split, places=[[size]])
                )
        ends = np.cumsum([shard.samples for shard in content.shards])
        self.identity = xxhash.xxh3_128_hexdigest(b"\0".join(keys) + ends.tobytes())

    def __len__(self) -> int:
        return len(self.listing)

    def key(self, number: int) -> str:
        return self.listing[number].key

    def find(self, text: str) -> int:
        """Return the number of the sample whose key, or else image name, is `text`.

        A name may lack its extension. Raises BadImage if there is no such sample, or several.
        """
        value = name_hash(text)
        for index, text_of in self._indexes:
            if found := [n for n in index.numbers(value) if text_of(n) == text]:
                break
        else:
            raise BadImage(f"{self.name} has no sample with this key or image name")
        if len(found) > 1:
            both = " and ".join(repr(self.listing.name_of(n)) for n in found[:2])
            raise BadImage(f"it may be for {both} of {self.name}: name one with its extension")
        return found[0]

    @cached_property
    def _indexes(self) -> list[tuple[HashIndex, Callable[[int], str]]]:
        """By key, by name, and by name without extension."""

        def stem_of(number: int) -> str:
            return os.path.splitext(self.listing.name_of(number))[0]

        return [
            (HashIndex(array("Q", (name_hash(text_of(n)) for n in range(len(self))))), text_of)
            for text_of in (self.key, self.listing.name_of, stem_of)
        ]
