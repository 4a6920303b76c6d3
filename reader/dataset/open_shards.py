"""The open shards of each thread.

Guarantees: a thread keeps at most 128 shards open, a Loader's worker as many as the system allows;
fewer under a low ``ulimit -n``. A shard whose files failed or were truncated is opened again. A
thread's end closes its shards.
"""

import errno
import shlex
import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from reader.cache.files import INDEXES, CachedFiles
from reader.dataset.shard import Shard
from reader.dataset.shared_memory import Holding
from reader.dataset.tar_bytes import ReadBuffer, TarBytes, remedy_in
from reader.decode.decoder import Decoder
from reader.errors import ReaderError
from reader.format import FormatError, Index, Limits, Manifest, ShardEntry, ShardfeedError
from reader.format.files import most_open_files

if TYPE_CHECKING:
    from reader.cache.client import Fetching

_OPEN_SHARDS = 128  # in a user's process; each costs two descriptors: tar and mapped index
_SHARE = 4  # one shard for every four descriptors: half of them stay free
MAPPINGS = 4  # one shard for every four mappings: each has up to two, the index and the tar
_FULL = errno.EMFILE, errno.ENFILE  # of the process, of the system


Fetchings = Sequence[tuple["Fetching", range]]  # the fetching of stores, and the shards of each


class Files(Protocol):
    """The files of shards, by number."""

    @property
    def fetchings(self) -> Fetchings: ...

    def for_workers(self) -> "Files":
        """Return the same without credentials."""

    def mixed(self, labels: NDArray[np.int64] | None, source: int) -> "Files":
        """Return the same in a Mix, also of one that is in another Mix."""

    def index(self, number: int) -> Index: ...

    def open(self, number: int, buffer: ReadBuffer) -> Shard: ...


@dataclass(frozen=True)
class ShardFiles:
    folder: Path
    shards: Sequence[ShardEntry]
    classes: int  # number of class names
    limits: Limits
    holding: Holding | None
    fetching: "Fetching | None"
    has_images: bool = True
    cached: CachedFiles | None = None  # for a folder in the cache of a store
    # In a Mix: what each label becomes (last, what -1 does), and which of its datasets this is.
    labels: NDArray[np.int64] | None = None
    source: int = 0

    @classmethod
    def of(
        cls,
        folder: Path,
        manifest: Manifest,
        split: str | None = None,
        limits: Limits = Limits(),  # noqa: B008  # frozen
        holding: Holding | None = None,
        fetching: "Fetching | None" = None,
    ) -> "ShardFiles":
        shards = tuple(shard for shard in manifest.shards if split in (None, shard.split))
        is_cache = fetching is not None or (folder / INDEXES).exists()
        return cls(
            folder,
            shards,
            len(manifest.classes),
            limits,
            holding,
            fetching,
            manifest.images,
            CachedFiles.of(folder, manifest, split) if is_cache else None,
        )

    @property
    def name(self) -> str:
        """The dataset's folder or URL."""
        return str(self.folder) if self.fetching is None else self.fetching.url

    @property
    def fetchings(self) -> Fetchings:
        return [] if self.fetching is None else [(self.fetching, range(len(self.shards)))]

    def for_workers(self) -> "ShardFiles":
        return replace(self, fetching=self.fetching and self.fetching.for_workers())

    def tar_name(self, number: int) -> str:
        return f"{self.name}/{self.shards[number].file}"

    def index(self, number: int) -> Index:
        with self._explained(number):
            if self.cached is not None:
                found = self.cached.index(number, has_images=self.has_images)
            else:
                found = Index.of_shard(
                    self.folder, self.shards[number], self.classes, has_images=self.has_images
                )
        if self.labels is not None:
            found.columns["label"] = self.labels[found.columns["label"]]
        return found

    def open(self, number: int, buffer: ReadBuffer) -> Shard:
        index = self.index(number)
        tar = self.tar(number, index, buffer)
        return Shard(index, tar, self.limits, self.labels, self.source)

    def mixed(self, labels: NDArray[np.int64] | None, source: int) -> "ShardFiles":
        if labels is not None and self.labels is not None:
            labels = labels[self.labels]
        return replace(self, labels=self.labels if labels is None else labels, source=source)

    def tar(self, number: int, index: Index, buffer: ReadBuffer) -> TarBytes:
        folder, entry = self.folder, self.shards[number]
        tar = folder, entry, index, buffer
        if self.cached is None:
            holding = self.holding
            with self._explained(number):
                if holding is None:
                    return TarBytes(*tar)
                return TarBytes(*tar, holding.memory.path, holding.starts[number], holding.size)
        rows = self.cached.presence(number)
        from reader.dataset.cached_bytes import CachedBytes  # rarely used

        with self._explained(number):
            return CachedBytes(*tar, rows=rows, fetching=self.fetching, number=number)

    @contextmanager
    def _explained(self, number: int) -> Iterator[None]:
        """Add to an error of a shard's files how they are restored, or that they are others now."""
        try:
            yield
        except (FormatError, ReaderError) as error:
            cause, place = error.__cause__, shlex.quote(str(self.folder))
            if isinstance(cause, OSError) and not isinstance(cause, FileNotFoundError):
                raise  # the shard is not to blame
            if self.fetching is not None and self.cached is not None:
                if isinstance(error, FormatError) and self.cached.is_packed_index(number):
                    raise FormatError(str(error).replace(str(self.folder), self.name)) from cause
                remedy = f"The folder is a cache: run `rm -r {place}`, and open the dataset again."
            else:
                try:
                    shards = Manifest.load(self.folder).shards
                except FormatError as missing:
                    raise ReaderError(f"{error} {missing} Then open it again.") from cause
                if self.shards[number] not in shards:
                    raise ReaderError(
                        f"{self.tar_name(number)}: the dataset was packed again after it was "
                        "opened. Open it again: make a new reader.Dataset or reader.Loader."
                    ) from cause
                remedy = f"{remedy_in(self.folder)}."
            raise type(error)(f"{error} {remedy}") from cause


@dataclass(frozen=True)
class MixedFiles:
    """The shards of several datasets, one after the other."""

    parts: tuple[Files, ...]
    starts: tuple[int, ...]  # the number of each one's first shard

    @property
    def fetchings(self) -> Fetchings:
        return [
            (fetching, range(start + shards.start, start + shards.stop))
            for part, start in zip(self.parts, self.starts, strict=True)
            for fetching, shards in part.fetchings
        ]

    def for_workers(self) -> "MixedFiles":
        return replace(self, parts=tuple(part.for_workers() for part in self.parts))

    def index(self, number: int) -> Index:
        part, number = self.find(number)
        return self.parts[part].index(number)

    def open(self, number: int, buffer: ReadBuffer) -> Shard:
        part, number = self.find(number)
        return self.parts[part].open(number, buffer)

    def mixed(self, labels: NDArray[np.int64] | None, source: int) -> "MixedFiles":
        return replace(self, parts=tuple(part.mixed(labels, source) for part in self.parts))

    def find(self, number: int) -> tuple[int, int]:
        """Return the part of a shard, and its number there."""
        part = bisect_right(self.starts, number) - 1
        return part, number - self.starts[part]


class OpenShards(threading.local):
    def __init__(self, most: int = _OPEN_SHARDS) -> None:
        self._most = most
        self._shards: OrderedDict[int, Shard] = OrderedDict()
        self.buffer = ReadBuffer()
        self.decoder = Decoder()

    def get(self, number: int, files: Files) -> Shard:
        shard = self._shards.get(number)
        if shard is not None and not shard.is_usable:  # its files may have been restored
            del self._shards[number]
            shard = None
        if shard is None:
            while len(self._shards) >= min(self._most, max(most_open_files() // _SHARE, 1)):
                self._shards.popitem(last=False)  # the last reference closes it
            shard = self._shards[number] = self._opened(number, files)
        self._shards.move_to_end(number)
        return shard

    def _opened(self, number: int, files: Files) -> Shard:
        while True:
            try:
                return files.open(number, self.buffer)
            except ShardfeedError as error:
                if not self._shards or getattr(error.__cause__, "errno", None) not in _FULL:
                    raise
            self._shards.popitem(last=False)  # others hold the remaining descriptors
