"""List a store's objects, and read them only in the listed version."""

from reader.errors import StoreError
from reader.store.client import Store, Version
from reader.store.errors import Missing
from reader.store.transport import Listed


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
            return await store.head(name)

    async def _names(self) -> dict[str, Listed]:
        with self._asking("") as store:
            return await store.list()
