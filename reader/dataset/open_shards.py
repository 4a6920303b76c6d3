"""The open shards of each thread.

Guarantees: a thread keeps at most 128 shards open, fewer under a low ``ulimit -n``. A shard whose
files failed or were truncated is opened again. A thread's end closes its shards.
"""

import errno
import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from reader.cache.presence import PresenceMap, map_path
from reader.dataset.shard import Shard
from reader.dataset.shared_memory import Holding
from reader.dataset.tar_bytes import ReadBuffer, TarBytes
from reader.decode.decoder import Decoder
from reader.errors import ReaderError
from reader.format import Index, Limits, ShardEntry, ShardfeedError
from reader.format.files import most_open_files

if TYPE_CHECKING:
    from reader.cache.client import Fetching

_OPEN_SHARDS = 128  # at most; each costs two descriptors: the tar and the mapped index
_SHARE = 4  # one shard for every four descriptors: half of them stay free


@dataclass(frozen=True)
class ShardFiles:
    folder: Path
    shards: Sequence[ShardEntry]
    classes: int  # number of class names
    limits: Limits
    holding: Holding | None
    fetching: "Fetching | None"

    def index(self, number: int) -> Index:
        return Index.of_shard(self.folder, self.shards[number], self.classes)

    def open(self, number: int, buffer: ReadBuffer) -> Shard:
        folder, entry, index = self.folder, self.shards[number], self.index(number)
        tar = folder, entry, index, buffer
        try:
            rows = PresenceMap(map_path(folder / entry.file), entry.samples)
        except FileNotFoundError:
            holding = self.holding
            if holding is None:
                return Shard(index, TarBytes(*tar), self.limits)
            part = holding.memory.path, holding.starts[number], holding.size
            return Shard(index, TarBytes(*tar, *part), self.limits)
        except (OSError, ValueError) as error:
            raise ReaderError(
                f"{folder / entry.file}: its presence map cannot be read: {error}. The folder is a "
                f"cache: run `rm -r {folder}`, and open the dataset again."
            ) from error
        from reader.dataset.cached_bytes import CachedBytes  # rarely used

        cached = CachedBytes(*tar, rows=rows, fetching=self.fetching, number=number)
        return Shard(index, cached, self.limits)


class OpenShards(threading.local):
    def __init__(self) -> None:
        self._shards: OrderedDict[int, Shard] = OrderedDict()
        self.buffer = ReadBuffer()
        self.decoder = Decoder()

    def get(self, number: int, files: ShardFiles) -> Shard:
        shard = self._shards.get(number)
        if shard is not None and not shard.is_usable:  # its files may have been restored
            del self._shards[number]
            shard = None
        if shard is None:
            while len(self._shards) >= min(_OPEN_SHARDS, max(most_open_files() // _SHARE, 1)):
                self._shards.popitem(last=False)  # the last reference closes it
            shard = self._shards[number] = self._opened(number, files)
        self._shards.move_to_end(number)
        return shard

    def _opened(self, number: int, files: ShardFiles) -> Shard:
        while True:
            try:
                return files.open(number, self.buffer)
            except ShardfeedError as error:
                if not self._shards or getattr(error.__cause__, "errno", None) != errno.EMFILE:
                    raise
            self._shards.popitem(last=False)  # other threads hold the remaining descriptors
