"""The open shards of each thread.

Guarantees: a thread keeps at most 128 shards open, a Loader's worker as many as the system allows;
fewer under a low ``ulimit -n``. A shard whose files failed or were truncated is opened again. A
thread's end closes its shards.
"""

import errno
import threading
from collections import OrderedDict

from reader.dataset.shard import Shard
from reader.dataset.sources import ShardSource
from reader.dataset.tar_bytes import ReadBuffer
from reader.decode.decoder import Decoder
from reader.format import ShardfeedError
from reader.format.files import most_open_files

_OPEN_SHARDS = 128  # in a user's process; each costs two descriptors: tar and mapped index
_SHARE = 4  # one shard for every four descriptors: half of them stay free
MAPPINGS = 4  # one shard for every four mappings: each has up to two, the index and the tar
_FULL = errno.EMFILE, errno.ENFILE  # of the process, of the system


class OpenShards(threading.local):
    def __init__(self, most: int = _OPEN_SHARDS) -> None:
        self._most = most
        self._shards: OrderedDict[int, Shard] = OrderedDict()
        self.buffer = ReadBuffer()
        self.decoder = Decoder()

    def get(self, number: int, source: ShardSource) -> Shard:
        shard = self._shards.get(number)
        if shard is not None and not shard.is_usable:  # its files may have been restored
            del self._shards[number]
            shard = None
        if shard is None:
            most = min(self._most, max(most_open_files() // _SHARE, 1))
            while len(self._shards) >= most:
                self._shards.popitem(last=False)  # the last reference closes it
            shard = self._shards[number] = self._opened(number, source)
        self._shards.move_to_end(number)
        return shard

    def _opened(self, number: int, source: ShardSource) -> Shard:
        while True:
            try:
                return source.open(number, self.buffer)
            except ShardfeedError as error:
                if not self._shards or getattr(error.__cause__, "errno", None) not in _FULL:
                    raise
            self._shards.popitem(last=False)  # others hold the remaining descriptors
