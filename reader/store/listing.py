"""List a store's objects, and read them only in the listed version."""

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import obstore

from reader.errors import StoreError
from reader.store.client import Store, Version
from reader.store.errors import Missing

_LISTED = 1000  # names at a time


@dataclass(frozen=True)
class Listed:
    size: int
    tag: str | None  # ETag, in quotes; None if the store sends none
    mtime_ns: int


class ListingStore(Store):
    async def look(self, name: str) -> Listed | None:
        try:
            return await self._persisting(name, lambda: self._look(name))
        except Missing:
            return None

    async def names(self) -> dict[str, Listed]:
        try:
            return await self._persisting("", self._names)
        except Missing:
            raise self._no_bucket() from None

    def expect(self, name: str, listed: Listed) -> None:
        self._versions[name] = Version(listed.tag, listed.size)

    def _replaced(self, name: str) -> StoreError:
        return self._error(name, "it was replaced since it was listed. Run the same command again.")

    async def _look(self, name: str) -> Listed:
        with self._asking(name) as store:
            return _listed(await obstore.head_async(store, name))

    async def _names(self) -> dict[str, Listed]:
        found: dict[str, Listed] = {}
        with self._asking("") as store:
            chunks: AsyncIterator[Any] = obstore.list(store, chunk_size=_LISTED)
            async for chunk in chunks:
                found |= {meta["path"]: _listed(meta) for meta in chunk}
        return found


def _listed(meta: Any) -> Listed:
    written, tag = meta["last_modified"].timestamp(), meta["e_tag"]
    if tag and not tag.endswith('"'):  # Azure lists them without quotes
        tag = f'"{tag}"'
    return Listed(meta["size"], tag, round(written * 1_000_000) * 1000)
