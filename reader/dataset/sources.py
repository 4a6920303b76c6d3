"""Where shards come from: a folder, memory or the cache of a store; and several of them as one."""

import shlex
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, compress
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from reader.cache.files import INDEXES, CachedFiles
from reader.dataset.shard import Shard
from reader.dataset.shared_memory import Holding
from reader.dataset.tar_bytes import ReadBuffer, TarBytes, remedy_in
from reader.errors import ReaderError
from reader.format import FormatError, Index, Limits, Manifest, ShardEntry
from reader.format.index_file import IndexFile
from reader.format.manifest import JOINED

if TYPE_CHECKING:
    from reader.cache.client import Fetching

Fetchings = Sequence[tuple["Fetching", range]]  # the fetching of stores, and the shards of each


class ShardSource(Protocol):
    """Shards by number."""

    @property
    def fetchings(self) -> Fetchings: ...

    def for_workers(self) -> "ShardSource":
        """Return the same without credentials."""

    def name_of(self, number: int) -> str:
        """Return where the tar of a shard is."""

    def index(self, number: int) -> Index: ...

    def open(self, number: int, buffer: ReadBuffer) -> Shard: ...


def shards_of(
    folder: Path,
    manifest: Manifest,
    split: str | None = None,
    limits: Limits = Limits(),  # noqa: B008  # frozen
    holding: Holding | None = None,
    fetching: "Fetching | None" = None,
) -> "FolderShards":
    """Return the shards of a split, in a folder that may be one in the cache of a store."""
    own = [split in (None, shard.split) for shard in manifest.shards]
    shards = tuple(compress(manifest.shards, own))
    joined = None
    if manifest.joined:
        starts = accumulate((shard.index_bytes for shard in manifest.shards), initial=0)
        joined = IndexFile(folder / JOINED, list(compress(starts, own)))
    found = folder, shards, len(manifest.classes), limits, manifest.images, joined, holding
    if fetching is None and not (folder / INDEXES).exists():
        return FolderShards(*found)
    return CachedShards(*found, CachedFiles.of(folder, manifest, split), fetching)


@dataclass(frozen=True)
class FolderShards:
    folder: Path
    shards: Sequence[ShardEntry]
    classes: int  # number of class names
    limits: Limits
    has_images: bool
    joined: IndexFile | None  # the indexes in one file
    holding: Holding | None  # the tars in memory

    @property
    def name(self) -> str:
        """The dataset's folder or URL."""
        return str(self.folder)

    @property
    def fetchings(self) -> Fetchings:
        return []

    def for_workers(self) -> "FolderShards":
        return self

    def name_of(self, number: int) -> str:
        return f"{self.name}/{self.shards[number].file}"

    def index(self, number: int) -> Index:
        with self._explained(number):
            return self._index_in(self._file_of(number), number)

    def open(self, number: int, buffer: ReadBuffer) -> Shard:
        held = self.holding
        part = () if held is None else (held.memory.path, held.starts[number], held.size)
        with self._explained(number):
            file = self._file_of(number)
            index = self._index_in(file, number)
            tar = TarBytes(self.folder, self.shards[number], index, buffer, *part)
            if file is not None and file.is_older(number, tar.written):  # copied later, or replaced
                self._index_in(None, number)
                file.trust(number, tar.written)
        return Shard(index, tar, self.limits)

    def _file_of(self, number: int) -> IndexFile | None:
        """Return the file that has an index with others; None: it has one of its own."""
        with suppress(OSError, ValueError):
            if self.joined is not None and self.joined.has(number, self.shards[number]):
                return self.joined
        return None

    def _index_in(self, file: IndexFile | None, number: int) -> Index:
        find = Index.of_shard if file is None else partial(file.index, number)
        shard, classes, has_images = self.shards[number], self.classes, self.has_images
        return find(self.folder, shard, classes=classes, has_images=has_images)

    @contextmanager
    def _explained(self, number: int) -> Iterator[None]:
        """Add to an error of a shard's files how they are restored, or that they are others now."""
        try:
            yield
        except (FormatError, ReaderError) as error:
            if _is_of_system(error):
                raise
            cause = error.__cause__
            try:
                shards = Manifest.load(self.folder).shards
            except FormatError as missing:
                raise ReaderError(f"{error} {missing} Then open it again.") from cause
            if self.shards[number] not in shards:
                raise ReaderError(
                    f"{self.name_of(number)}: the dataset was packed again after it was opened. "
                    "Open it again: make a new reader.Dataset or reader.Loader."
                ) from cause
            raise type(error)(f"{error} {remedy_in(self.folder)}.") from cause


@dataclass(frozen=True)
class CachedShards(FolderShards):
    """Shards whose folder is in the cache of a store; without `fetching`, none are fetched."""

    files: CachedFiles
    fetching: "Fetching | None"

    @property
    def name(self) -> str:
        return super().name if self.fetching is None else self.fetching.url

    @property
    def fetchings(self) -> Fetchings:
        return [] if self.fetching is None else [(self.fetching, range(len(self.shards)))]

    def for_workers(self) -> "CachedShards":
        return replace(self, fetching=self.fetching and self.fetching.for_workers())

    def index(self, number: int) -> Index:
        with self._explained(number):
            return self.files.index(number, has_images=self.has_images)

    def open(self, number: int, buffer: ReadBuffer) -> Shard:
        from reader.dataset.cached_bytes import CachedBytes  # rarely used

        index = self.index(number)
        tar = self.folder, self.shards[number], index, buffer
        with self._explained(number):
            cached = CachedBytes(*tar, files=self.files, fetching=self.fetching, number=number)
        return Shard(index, cached, self.limits)

    @contextmanager
    def _explained(self, number: int) -> Iterator[None]:
        if self.fetching is None:
            with super()._explained(number):
                yield
            return
        try:
            yield
        except (FormatError, ReaderError) as error:
            if _is_of_system(error):
                raise
            if isinstance(error, FormatError) and self.files.is_packed_index(number):
                text = str(error).replace(str(self.folder), self.name)
                raise FormatError(text) from error.__cause__
            raise type(error)(
                f"{error} The folder is a cache: run `rm -r {shlex.quote(str(self.folder))}`, and "
                "open the dataset again."
            ) from error.__cause__


@dataclass(frozen=True)
class RelabelledShards:
    """The shards of a dataset in a Mix.

    Attributes:
        labels: what each label becomes, and last what -1 does; None: all stay.
        source: which of the datasets it is.
    """

    base: ShardSource
    labels: NDArray[np.int64] | None
    source: int

    @property
    def fetchings(self) -> Fetchings:
        return self.base.fetchings

    def for_workers(self) -> "RelabelledShards":
        return replace(self, base=self.base.for_workers())

    def name_of(self, number: int) -> str:
        return self.base.name_of(number)

    def index(self, number: int) -> Index:
        return self._relabelled(self.base.index(number))

    def open(self, number: int, buffer: ReadBuffer) -> Shard:
        shard = self.base.open(number, buffer)
        self._relabelled(shard.index)
        shard.source = self.source
        if self.labels is not None:
            shard.labels = self.labels if shard.labels is None else self.labels[shard.labels]
        return shard

    def _relabelled(self, index: Index) -> Index:
        if self.labels is not None:
            index.columns["label"] = self.labels[index.columns["label"]]
        return index


@dataclass(frozen=True)
class SeveralShards:
    """The shards of several sources, one after the other."""

    parts: tuple[ShardSource, ...]
    starts: tuple[int, ...]  # the number of each one's first shard

    @property
    def fetchings(self) -> Fetchings:
        return [
            (fetching, range(start + shards.start, start + shards.stop))
            for part, start in zip(self.parts, self.starts, strict=True)
            for fetching, shards in part.fetchings
        ]

    def for_workers(self) -> "SeveralShards":
        return replace(self, parts=tuple(part.for_workers() for part in self.parts))

    def name_of(self, number: int) -> str:
        part, number = self._find(number)
        return part.name_of(number)

    def index(self, number: int) -> Index:
        part, number = self._find(number)
        return part.index(number)

    def open(self, number: int, buffer: ReadBuffer) -> Shard:
        part, number = self._find(number)
        return part.open(number, buffer)

    def _find(self, number: int) -> tuple[ShardSource, int]:
        """Return the source of a shard, and its number there."""
        part = bisect_right(self.starts, number) - 1
        return self.parts[part], number - self.starts[part]


def _is_of_system(error: Exception) -> bool:
    """Whether the shard is not to blame, such as for too many open files."""
    cause = error.__cause__
    return isinstance(cause, OSError) and not isinstance(cause, FileNotFoundError)
