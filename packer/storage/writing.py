"""Write to a store: objects appear whole, and never replace others.

Guarantees: `create` replaces nothing if the store supports conditions (If-None-Match); otherwise
`create` looks first, and could only miss a writer of the same moment. An object of up to
`MOST_BYTES` is written by one request, so it is complete or absent. Transient failures are retried,
as in reading.
"""

from contextlib import suppress

from packer.storage.listing import ListingStore
from reader.errors import StoreError
from reader.store import errors
from reader.store.transport import Content

MOST_BYTES = 4 * 10**9  # the stores allow 5 GiB (S3) or 5000 MiB (Azure)

_SLOWEST = 250_000  # bytes a second, of one request
_TRIES = 3  # at least, regardless of time


class WritableStore(ListingStore):
    _is_created = True
    heeds_conditions = True  # until `create` was seen to replace something

    async def create(self, name: str, content: Content) -> bool:
        """Write an object; False if it exists, perhaps by an earlier try whose answer was lost."""
        return await self._persisting(name, lambda: self._create(name, content), _TRIES)

    async def replace(self, name: str, content: Content, tag: str | None) -> bool:
        return await self._persisting(name, lambda: self._replace(name, content, tag))

    async def remove(self, name: str) -> None:
        with suppress(errors.Missing):
            await self._persisting(name, lambda: self._remove(name))

    def _no_bucket(self) -> StoreError:
        return self._error("", "the bucket or container does not exist. Create it first.")

    async def _create(self, name: str, content: Content) -> bool:
        if not self.heeds_conditions:
            with suppress(errors.Missing):
                await self._look(name)
                return False
        try:
            await self._put(name, content, None if self.heeds_conditions else "")
        except errors.Exists:
            return False
        except errors.Missing:
            raise self._no_bucket() from None
        except errors.Unconditional:
            self.heeds_conditions = False
            raise errors.Passing("the store does not support conditional writes") from None
        return True

    async def _replace(self, name: str, content: Content, tag: str | None) -> bool:
        try:
            await self._put(name, content, (tag or "") if self.heeds_conditions else "")
        except (errors.Replaced, errors.Missing):
            return False
        except errors.Unconditional:  # by a folder
            await self._put(name, content, "")
        return True

    async def _put(self, name: str, content: Content, over: str | None) -> None:
        """Write by one request, with a timeout by its size."""
        seconds = 60
        while len(content) > seconds * _SLOWEST:
            seconds *= 2
        with self._asking(name) as store:
            await store.put(name, content, over, seconds)

    async def _remove(self, name: str) -> None:
        with self._asking(name) as store:
            await store.delete(name)
