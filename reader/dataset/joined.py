"""Datasets without images that are joined to one with images, shard by shard.

A shard is read with those joined to it: its tar is followed by theirs, and its index has the
columns of their members.
"""

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reader.dataset.shard import Shard
from reader.dataset.sources import Fetchings, FolderShards, shards_of
from reader.dataset.tar_bytes import JoinedBytes, ReadBuffer
from reader.errors import ArgumentError, ReaderError
from reader.format import BoxEncoding, FormatError, Index, Manifest, MaskColors
from reader.format.columns import Column
from reader.store.urls import is_url

if TYPE_CHECKING:
    from reader.cache.client import Fetching

PathLike = str | os.PathLike[str]
Join = PathLike | Sequence[PathLike] | Mapping[str, PathLike]
_KEYS = "key", "key_offset"
_OF_SAMPLES = (*_KEYS, "name", "name_offset")  # columns that are not of members


def named_places(join: Join | None) -> list[tuple[str, PathLike]]:
    """Return the joined folders or URLs, each with what the names of its members begin with."""
    if isinstance(join, Mapping):
        return [(f"{name}.", place) for name, place in join.items()]
    return [("", one) for one in ([join] if isinstance(join, (str, os.PathLike)) else join or ())]


@dataclass(frozen=True)
class JoinedShards:
    """Shards with those of the same number that are joined to them."""

    base: FolderShards
    others: tuple[tuple[str, FolderShards], ...]  # with what the names of their members begin with
    places: Mapping[str, int]  # which of them has the members of an extension, from 1 on

    @property
    def fetchings(self) -> Fetchings:
        return [*self.base.fetchings, *(one for _, own in self.others for one in own.fetchings)]

    def for_workers(self) -> "JoinedShards":
        others = tuple((prefix, own.for_workers()) for prefix, own in self.others)
        return replace(self, base=self.base.for_workers(), others=others)

    def name_of(self, number: int) -> str:
        return self.base.name_of(number)

    def index(self, number: int) -> Index:
        index = self.base.index(number)
        self._join(index, [own.index(number) for _, own in self.others], number)
        return index

    def open(self, number: int, buffer: ReadBuffer) -> Shard:
        found = self.base.open(number, buffer)
        shards = [found, *(own.open(number, buffer) for _, own in self.others)]
        starts = [0, *accumulate(shard.index.tar_bytes for shard in shards)]
        self._join(found.index, [shard.index for shard in shards[1:]], number)
        found.tar = JoinedBytes([shard.tar for shard in shards], starts, self.places)
        return found

    def _join(self, index: Index, others: Sequence[Index], number: int) -> None:
        """Add the columns of the joined shards to `index`."""
        end = index.tar_bytes
        for (prefix, own), other in zip(self.others, others, strict=True):
            if any(not np.array_equal(index.columns[x], other.columns[x]) for x in _KEYS):
                raise FormatError(
                    f"{own.name_of(number)} has other keys than {self.name_of(number)}, or another "
                    "order: one of the datasets was packed again. "
                    f"{_pack_again(own, self.base)}"
                )
            columns = {
                prefix + name: _moved(name, column, end)
                for name, column in other.columns.items()
                if name not in _OF_SAMPLES
            }
            if not other.is_whole:  # then what was copied may be zeros
                raise ReaderError(f"{other.path} was truncated after it was opened. Restore it.")
            index.add(columns)
            end += other.tar_bytes


def _moved(name: str, column: Column, start: int) -> Column:
    """Return a copy of a column, in which the tar begins at `start`."""
    column = column.copy()
    if name.endswith(".offset"):
        column[column > 0] += np.uint64(start)
    return column


def located(place: PathLike, split: str | None, *options: Any) -> "tuple[Path, Fetching | None]":
    """Return the folder of a dataset; `options` are those of `fetching`, for one in a store."""
    if not is_url(place):
        return Path(os.path.expanduser(place)).absolute(), None
    from reader.cache.client import fetching  # rarely used

    found = fetching(str(place), split, *options)
    return Path(found.folder), found


def joined(
    base: FolderShards,
    content: Manifest,
    split: str | None,
    others: "Sequence[tuple[str, Path, Fetching | None]]",
) -> tuple[JoinedShards, tuple[tuple[str, ...], dict[str, BoxEncoding], dict[str, MaskColors]]]:
    """Return the files of a dataset and those joined to it; all extensions, boxes and colours."""
    extensions, boxes, found = list(content.fields), dict(content.boxes), []
    colors = dict(content.mask_colors)
    held: dict[str, int] = {}
    for prefix, folder, fetching in others:
        own = Manifest.load(folder)
        files = shards_of(folder, own, split, base.limits, None, fetching)
        members = [prefix + ext for ext in own.fields]
        _check(base, files, own, [ext for ext in members if ext in extensions])
        extensions += members
        boxes |= {prefix + ext: encoding for ext, encoding in own.boxes.items()}
        colors |= {prefix + ext: colour for ext, colour in own.mask_colors.items()}
        found.append((prefix, files))
        held |= dict.fromkeys(members, len(found))
    return JoinedShards(base, tuple(found), held), (tuple(extensions), boxes, colors)


def _check(base: FolderShards, own: FolderShards, content: Manifest, common: Sequence[str]) -> None:
    """Refuse a dataset `own` whose samples or members do not fit; `common` are in others, too."""
    if content.images:
        raise ArgumentError(
            f"{own.name} has images of its own, and join= is for datasets without images. Pack "
            f"its members: packer pack SOURCE EXTRA --keys-of {shlex.quote(base.name)}"
        )
    counts = [[(shard.split, shard.samples) for shard in one.shards] for one in (own, base)]
    if counts[0] != counts[1]:
        has, of = (f"{sum(n for _, n in one)} samples in {len(one)} shards" for one in counts)
        raise ArgumentError(
            f"{own.name} ({has}) does not have the samples of {base.name} ({of}), shard by shard: "
            f"one of the datasets was packed again or extended. {_pack_again(own, base)}"
        )
    if common:
        name = re.sub(r"[^a-z0-9_-]", "_", Path(own.name).name.lower())
        raise ArgumentError(
            f"Several of the joined datasets have members .{common[0]}, such as {own.name}. Give "
            f'all of them in a dict, with a name for this: join={{"{name}": {own.name!r}}} makes '
            f"them members .{name}.{common[0]}."
        )


def _pack_again(own: FolderShards, base: FolderShards) -> str:
    places = f"{shlex.quote(own.name)} --keys-of {shlex.quote(base.name)}"
    return f"Pack the members again: packer pack SOURCE {places} --overwrite"
