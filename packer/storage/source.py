"""Sources as they are read: at a path here, or as a copy of what lies in a store."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packer.errors import NothingToPack
from packer.progress import Progress
from packer.samples.records import Skipped
from packer.storage import objects
from packer.storage.copy import Copy, Transfer
from packer.storage.store import EventLoop
from reader.format import ShardfeedError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reader.store.listing import Listed, ListingStore


@dataclass(frozen=True)
class LocalSource:
    """A source at a path of this machine."""

    path: Path  # that is read
    name: str  # which identifies it: the path, or the URL that it is a copy of
    version: str = ""  # a checksum of what the store listed
    lacking: tuple[Skipped, ...] = ()  # what is in the store and cannot be at the path

    @classmethod
    def at(cls, path: Path) -> "LocalSource":
        """Return the source at a path."""
        return cls(path, str(path))


class StoreSource:
    """What lies at the URL `name`; a context manager around all that is asked of it."""

    def __init__(
        self, url: str, scratch: Path, options: dict[str, Any], provider: bytes | None
    ) -> None:
        """Make no request yet; `options` and `provider` are as `access` returns them."""
        self.name = url
        self._options, self._provider = options, provider
        self._copy = Copy(url, scratch)
        self._loop, self._progress = EventLoop(), Progress(quiet=True)
        self._is_fetched = False

    def __enter__(self) -> "StoreSource":
        self._loop.__enter__()
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self._loop.__exit__()
        self._copy.leave()
        if isinstance(error, ShardfeedError):
            copy = str(self._copy.folder)
            error.args = tuple(
                text.replace(copy, self.name) if isinstance(text, str) else text
                for text in error.args
            )
        if self._is_fetched:
            self._progress.note(
                f"packer: what was fetched stays in {self._copy.root}, for the next run to go "
                "on with. Remove it if there is to be none."
            )

    @cached_property
    def _found(self) -> objects.Found:
        return self._loop.do(objects.find(self.name, self._opened))

    def _opened(self, url: str) -> "ListingStore":
        from reader.store.listing import ListingStore

        return ListingStore(url, dict(self._options), self._provider)

    @cached_property
    def version(self) -> str:
        """Return a checksum of what the store lists."""
        return objects.version(self._found.objects)

    def fetched(self, progress: Progress) -> LocalSource:
        """Return the copy that is packed, which does not change before this is left."""
        found, self._progress = self._found, progress
        wanted, skipped = objects.wanted(found.objects, is_folded=self._copy.is_folded)
        if not wanted:
            files = [(item.name, item.reason) for item in skipped]
            raise NothingToPack(f"{self.name} holds nothing that can be fetched.", files)

        def fetch(missing: "Mapping[str, Listed]", folder: Path, unfinished: Path) -> None:
            total, count = sum(listed.size for listed in missing.values()), len(wanted)
            progress.note(
                f"packer: {total / 1e6:,.1f} MB of {self.name} are fetched to {folder} "
                f"({len(missing)} of {count} objects, {count - len(missing)} are there). They are "
                "removed once the dataset is committed."
            )
            self._is_fetched = True
            with progress.phase("fetch", total, "B") as advance:
                transfer = Transfer(found.store, folder, unfinished, advance)
                self._loop.do(transfer.run(missing))

        self._copy.hold(wanted, fetch, progress.note)
        self._is_fetched = True
        return LocalSource(self._copy.folder / found.entry, self.name, self.version, tuple(skipped))

    def forget(self) -> None:
        """Remove the copy, unless others use it."""
        self._is_fetched = not self._copy.remove()
