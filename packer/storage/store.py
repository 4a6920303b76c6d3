"""Objects on their way into a store, while the caller goes on.

Purpose: bring files and bytes into a store under names that nothing else has there.

Guarantees: at most a few uploads are under way, and `start` waits where there are more; what fails
is raised by the next call, and all that is under way is given up when the block is left. An object
that is there already is compared: with this content it is as good as written, which covers an
answer that was lost and another packer of the same; with other content it stays, and is an error.

The network library runs in the thread of an `EventLoop`; it is loaded with this module's first use.
"""

import mmap
from collections.abc import Coroutine
from concurrent.futures import FIRST_COMPLETED, Future, wait
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import xxhash

from packer.errors import PackingFailed, UnusableInput
from packer.storage.event_loop import EventLoop
from packer.words import option
from reader.errors import StoreError
from reader.format import ShardEntry

if TYPE_CHECKING:
    from reader.remote.writable import WritableStore

AT_ONCE = 4  # shards

_PART = 8 << 20  # bytes of a request that compares
_CREATES = 5  # of an object that others create and remove meanwhile

T = TypeVar("T")


class Uploads:
    """A context manager; `store` is used by its thread alone.

    Attributes:
        created: names of the objects that were written, and not there before.
    """

    def __init__(self, store: "WritableStore") -> None:
        self._store = store
        self._loop = EventLoop()
        self._under_way: set[Future[None]] = set()
        self.created: list[str] = []

    def __enter__(self) -> "Uploads":
        self._loop.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._under_way.clear()
        self._loop.__exit__(*error)

    def give_up(self) -> None:
        """End all that is under way."""
        self._loop.give_up()
        self._under_way.clear()

    def do(self, what: "Coroutine[Any, Any, T]") -> T:
        """What the store answers.

        Raises:
            StoreError: it does not.
        """
        return self._loop.do(what)

    def start(self, shard: ShardEntry, folder: Path) -> None:
        """Bring a shard of `folder` into the store, its index last; then its tar is removed here.

        Raises:
            UnusableInput: another one is there.
            PackingFailed: an earlier upload failed.
        """
        while len(self._under_way) >= AT_ONCE:
            self.settle()
        self._under_way.add(self._loop.start(self._shard(shard, folder)))

    def settle(self) -> int:
        """Wait until an upload has ended; how many are still under way.

        Raises:
            UnusableInput, PackingFailed: as above.
        """
        done, self._under_way = wait(self._under_way, return_when=FIRST_COMPLETED)
        for future in done:
            try:
                future.result()
            except StoreError as error:
                raise failed(error) from error
        return len(self._under_way)

    @property
    def under_way(self) -> int:
        """How many uploads have not ended."""
        return len(self._under_way)

    def create(self, name: str, content: bytes) -> None:
        """Write a small object, or find it written.

        Raises:
            UnusableInput: another one is there.
            StoreError: the store does not take it.
        """
        self.do(self._create(name, content, xxhash.xxh3_128_hexdigest(content)))

    async def _shard(self, shard: ShardEntry, folder: Path) -> None:
        tar = folder / shard.file
        with tar.open("rb") as file:
            content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            await self._create(shard.file, content, shard.checksum.partition(":")[2])
        index = (folder / shard.index).read_bytes()
        await self._create(shard.index, index, shard.index_checksum.partition(":")[2])
        tar.unlink()

    async def _create(self, name: str, content: bytes | memoryview, digest: str) -> None:
        for _ in range(_CREATES):
            if await self._store.create(name, content):
                self.created.append(name)
                return
            found = await self._store.look(name)
            if found is None:
                continue
            if found.size == len(content) and await self._digest(name, found.size) == digest:
                return
            break
        raise UnusableInput(
            f"{self._store.url}/{name} is there already, and is not what this run would write: "
            "another one has written it, or the source has changed since this one did. Choose "
            f"another destination, or give {option('overwrite', True)} to replace what is there."
        )

    async def _digest(self, name: str, size: int) -> str:
        state = xxhash.xxh3_128()
        for start in range(0, size, _PART):
            state.update(await self._store.part(name, start, min(start + _PART, size), size))
        return state.hexdigest()


def failed(error: StoreError) -> PackingFailed:
    """The error for what a store has not taken."""
    return PackingFailed(
        f"{error} Nothing was committed, and what is uploaded is kept: once the cause is gone, "
        "pack again to go on."
    )
