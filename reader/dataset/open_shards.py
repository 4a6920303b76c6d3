"""The shards that the threads of a process have open.

Purpose: read any sample of hundreds of shards without opening a shard for each.

Guarantees: a thread keeps at most 128 shards open, and fewer where ``ulimit -n`` is low; what is
not sound any more is opened anew.

Assumptions: a thread that ends lets go of its shards.
"""

import errno
import threading
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from reader.cache.presence import PresenceMap, path_beside
from reader.dataset.shard import Shard
from reader.dataset.shared_memory import Holding
from reader.dataset.tar_bytes import MemoryBytes, ReadBuffer, TarBytes
from reader.decode.decoder import Decoder
from reader.errors import ReaderError
from reader.format import Index, Limits, ShardEntry, ShardfeedError
from reader.format.files import most_open_files

if TYPE_CHECKING:
    from reader.cache.client import Fetching

_OPEN_SHARDS = 128  # at most; each costs two descriptors: the tar and the mapped index
_SHARE = 4  # of the descriptors that a process may have, for a shard each: half of them stay free


class OpenShards(threading.local):
    """What each thread that reads a dataset has for itself."""

    def __init__(self) -> None:
        self._shards: OrderedDict[int, Shard] = OrderedDict()
        self.buffer = ReadBuffer()
        self.decoder = Decoder()

    def get(self, position: int, open_shard: Callable[[ReadBuffer], Shard]) -> Shard:
        """The shard at `position`, opened by `open_shard` where it is not open."""
        shard = self._shards.get(position)
        if shard is not None and not shard.is_sound:  # its files may have been restored meanwhile
            del self._shards[position]
            shard = None
        if shard is None:
            while len(self._shards) >= min(_OPEN_SHARDS, max(most_open_files() // _SHARE, 1)):
                self._shards.popitem(last=False)  # closes once nobody holds it
            shard = self._opened(open_shard)
            self._shards[position] = shard
        self._shards.move_to_end(position)
        return shard

    def _opened(self, open_shard: Callable[[ReadBuffer], Shard]) -> Shard:
        while True:
            try:
                return open_shard(self.buffer)
            except ShardfeedError as error:
                if not self._shards or getattr(error.__cause__, "errno", None) != errno.EMFILE:
                    raise
            self._shards.popitem(last=False)  # others, such as other threads, have the rest open


def open_shard(
    folder: Path,
    entry: ShardEntry,
    number: int,
    buffer: ReadBuffer,
    limits: Limits,
    holding: Holding | None,
    fetching: "Fetching | None",
    index: Index,
) -> Shard:
    """Open the `number`-th shard of dataset.json, in memory, in a cache or in a folder."""
    try:
        rows = PresenceMap(path_beside(folder / entry.file), entry.samples)
    except FileNotFoundError:
        opened = folder, entry, index, buffer
        tar = TarBytes(*opened) if holding is None else MemoryBytes(*opened, holding, number)
        return Shard(index, tar, limits)
    except (OSError, ValueError) as error:
        raise ReaderError(
            f"{folder / entry.file}: the map of what is there cannot be read: {error}. Remove "
            f"{folder}: it is a cache."
        ) from error
    from reader.dataset.cached_bytes import CachedBytes  # few need it

    tar = CachedBytes(folder, entry, index, buffer, rows, fetching, number)
    return Shard(index, tar, limits)
