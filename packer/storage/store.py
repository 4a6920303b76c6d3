"""An object store, and objects on their way into it while the caller goes on.

Guarantees: at most a few uploads are under way, and `upload` waits where there are more; what fails
is raised by the next call, and all that is under way is cancelled when the block is left. An object
that is there already is compared: with this content it is as good as written, which covers an
answer that was lost and another packer of the same; with other content it stays, and is an error.

The network library runs in the thread of an `EventLoop`, so a caller with a loop of its own, as a
notebook has one, is not disturbed; it is loaded as a store is opened.
"""

import asyncio
import mmap
import threading
from collections.abc import Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import xxhash

from packer.errors import PackingFailed, UnusableInput
from packer.words import option
from reader.errors import StoreError
from reader.format import ShardEntry
from reader.store.credentials import sent
from reader.store.urls import need

if TYPE_CHECKING:
    from reader.store.transport import Listed

AT_ONCE = 4  # shards
WRITABLE = ("s3://", "gs://", "az://", "file://")  # and can be listed

_PART = 8 << 20  # bytes of a request that compares
_CREATES = 5  # of an object that others create and remove meanwhile

T = TypeVar("T")
Self = TypeVar("Self", bound="EventLoop")


class EventLoop:
    def __enter__(self: Self) -> Self:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def start(self, what: "Coroutine[Any, Any, T]") -> "Future[T]":
        return asyncio.run_coroutine_threadsafe(what, self._loop)

    def do(self, what: "Coroutine[Any, Any, T]") -> T:
        future = self.start(what)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def cancel(self) -> None:
        async def cancel_others() -> None:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        self.start(cancel_others()).result()


def access(
    url: str, options: Mapping[str, Any] | None, provider: Any
) -> tuple[dict[str, Any], bytes | None]:
    if not isinstance(options or {}, Mapping):
        raise UnusableInput(
            "storage_options must be a dict of the store's options, such as "
            '{"endpoint": "http://localhost:9000"}.'
        )
    need("obstore", url)
    return dict(options or {}), sent(provider, url)


class Store(EventLoop):
    """The objects below a URL; a context manager around all requests."""

    def __init__(self, url: str, options: dict[str, Any], provider: bytes | None) -> None:
        from packer.storage.writing import WritableStore

        self.name = url
        self.created: list[str] = []  # names of the objects that were written and are new
        self._store = WritableStore(url, options, provider)
        self.under_way: set[Future[None]] = set()  # uploads

    def list(self, folders: Iterable[str] = ()) -> "Mapping[str, Listed]":
        return self.do(self._store.names())

    def read(self, name: str) -> bytes | None:
        from reader.store.errors import Missing

        with suppress(Missing):
            return self.do(self._store.whole(name))
        return None

    def create(self, name: str, content: bytes) -> bool:
        return self.do(self._store.create(name, content))

    def replace(self, name: str, content: bytes | memoryview, tag: str | None = None) -> bool:
        """Write an object in place of the one with this `tag`; return False if that has gone."""
        if tag is not None:
            return self.do(self._store.replace(name, content, tag))
        self.do(self._put(name, content, xxhash.xxh3_128_hexdigest(content)))
        return True

    def remove(self, name: str) -> None:
        self.do(self._store.remove(name))

    @property
    def heeds_conditions(self) -> bool:
        return self._store.heeds_conditions

    def try_conditions(self, name: str, content: bytes) -> None:
        """Find out whether it refuses to create an object that exists with this very content."""
        if self.create(name, content):
            self._store.heeds_conditions = False

    def fetch_dataset(self, folder: Path) -> None:
        """Fetch dataset.json and the indexes; files of their size stand for the tars."""
        from packer.storage.download import fetch_dataset

        self.do(fetch_dataset(self._store, folder, is_whole=False))

    def read_all(self, names: Iterable[str]) -> Sequence[bytes]:
        async def read() -> Sequence[bytes]:
            return await asyncio.gather(*map(self._store.whole, names))

        return self.do(read())

    def upload(self, shard: ShardEntry, folder: Path) -> None:
        """Begin to upload a shard of `folder`, its index last; then its tar is removed there."""
        while len(self.under_way) >= AT_ONCE:
            self.settle()
        self.under_way.add(self.start(self._shard(shard, folder)))

    def settle(self) -> int:
        """Wait until uploads have ended; return how many."""
        done, self.under_way = wait(self.under_way, return_when=FIRST_COMPLETED)
        for future in done:
            try:
                future.result()
            except StoreError as error:
                raise failed(error) from error
        return len(done)

    def cancel(self) -> None:
        super().cancel()
        self.under_way.clear()

    async def _shard(self, shard: ShardEntry, folder: Path) -> None:
        tar = folder / shard.file
        with tar.open("rb") as file:
            content = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            await self._put(shard.file, content, shard.checksum.partition(":")[2])
        index = (folder / shard.index).read_bytes()
        await self._put(shard.index, index, shard.index_checksum.partition(":")[2])
        tar.unlink()

    async def _put(self, name: str, content: bytes | memoryview, digest: str) -> None:
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
            f"{self.name}/{name} already exists, with other content than this run would write: "
            "another run has written it, or the source has changed. Choose another destination, "
            "or pass ",
            option("overwrite", True),
            " to replace it.",
        )

    async def _digest(self, name: str, size: int) -> str:
        state = xxhash.xxh3_128()
        for start in range(0, size, _PART):
            state.update(await self._store.part(name, start, min(start + _PART, size), size))
        return state.hexdigest()


def failed(error: StoreError) -> PackingFailed:
    return PackingFailed(
        f"{error} Nothing was committed, and uploaded shards are kept. Remove the cause, and "
        "run the same command again to continue."
    )
