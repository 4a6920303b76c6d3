"""Write to a store: objects appear whole, and never replace others.

Guarantees: `create` replaces nothing if the store supports conditions (If-None-Match); otherwise
`create` looks first, and could only miss a writer of the same moment. An object of up to
`MOST_BYTES` is written by one request, so it is complete or absent. Transient failures are retried,
as in reading.
"""

from contextlib import suppress
from pathlib import Path
from typing import Any

import obstore
from obstore import exceptions

from reader.errors import StoreError
from reader.store.errors import Missing, Passing
from reader.store.listing import ListingStore

MOST_BYTES = 4 * 10**9  # the stores allow 5 GiB (S3) or 5000 MiB (Azure)

_SLOWEST = 250_000  # bytes a second, of one request
_TRIES = 3  # at least, regardless of time


class WritableStore(ListingStore):
    def __init__(self, url: str, options: dict[str, Any], provider: bytes | None) -> None:
        super().__init__(url, options, provider)
        self.heeds_conditions = True  # until `create` was seen to replace something
        self._patient: dict[int, tuple[Any, Any]] = {}

    async def create(self, name: str, content: bytes | memoryview) -> bool:
        """Write an object; False if it exists, perhaps by an earlier try whose answer was lost."""
        return await self._persisting(name, lambda: self._create(name, content), _TRIES)

    async def replace(self, name: str, content: bytes | memoryview, tag: str | None) -> bool:
        return await self._persisting(name, lambda: self._replace(name, content, tag))

    async def remove(self, name: str) -> None:
        with suppress(Missing):
            await self._persisting(name, lambda: self._remove(name))

    def _find(self, folder: Path) -> None:
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._error("", f"the folder cannot be created: {error.strerror}.") from error

    def _no_bucket(self) -> StoreError:
        return self._error("", "the bucket or container does not exist. Create it first.")

    async def _create(self, name: str, content: bytes | memoryview) -> bool:
        if not self.heeds_conditions and await self._is_there(name):
            return False
        with self._asking(name) as store:
            mode = "create" if self.heeds_conditions else "overwrite"
            try:
                await self._put(store, name, content, mode)
            except exceptions.AlreadyExistsError:
                return False
            except FileNotFoundError:
                raise self._no_bucket() from None
            except NotImplementedError:
                self.heeds_conditions = False
                raise Passing("the store does not support conditional writes") from None
        return True

    async def _is_there(self, name: str) -> bool:
        try:
            await self._look(name)
        except Missing:
            return False
        return True

    async def _replace(self, name: str, content: bytes | memoryview, tag: str | None) -> bool:
        with self._asking(name) as store:
            mode = {"e_tag": tag} if self.heeds_conditions else "overwrite"
            try:
                await self._put(store, name, content, mode)
            except (exceptions.PreconditionError, FileNotFoundError):
                return False
            except NotImplementedError:  # by a folder
                await self._put(store, name, content, "overwrite")
        return True

    async def _put(self, store: Any, name: str, content: bytes | memoryview, mode: Any) -> None:
        """Write by one request, with a timeout by its size."""
        seconds = 60
        while len(content) > seconds * _SLOWEST:
            seconds *= 2
        known, patient = self._patient.get(seconds, (None, None))
        if known is not store:  # it was opened again, with other credentials
            patient = self._opened({"timeout": f"{seconds}s", "read_timeout": f"{seconds}s"})
            self._patient[seconds] = store, patient
        await obstore.put_async(patient, name, content, mode=mode, use_multipart=False)

    async def _remove(self, name: str) -> None:
        with self._asking(name) as store:
            await obstore.delete_async(store, name)
