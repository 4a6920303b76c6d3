"""A finished dataset in a folder or a store, as who reads it has it: in a folder."""

import asyncio
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from packer.errors import UnusableInput
from packer.progress import QUIET, Progress
from packer.storage.store import WRITABLE, Store, access
from reader.format import Index, Manifest, ShardEntry
from reader.store.urls import checked, is_url, need


@dataclass(frozen=True)
class Finished:
    folder: Path  # of it, or of a temporary copy
    place: Path | str  # its folder or URL

    def __str__(self) -> str:
        return str(self.place)

    @cached_property
    def content(self) -> Manifest:
        """What dataset.json holds; FormatError: it is missing or damaged."""
        return Manifest.load(self.folder)

    def shards(self, split: str | None = None) -> list[ShardEntry]:
        if split is not None and split not in self.content.splits:
            raise UnusableInput(f"{self} has no split {split!r}; {self.content.known_splits}.")
        return [shard for shard in self.content.shards if split in (None, shard.split)]

    def indexes(self, split: str | None = None) -> Iterator[tuple[ShardEntry, Index]]:
        """Yield the shards, each with its index, whole in memory unless it is in a cache."""
        from reader.cache.files import INDEXES
        from reader.dataset.sources import shards_of

        cached = shards_of(self.folder, self.content, split).index
        is_cached = (self.folder / INDEXES).exists()
        for number, shard in enumerate(self.shards(split)):
            yield shard, cached(number) if is_cached else self.index(shard)

    def index(self, shard: ShardEntry) -> Index:
        content = self.content
        given = self.folder, shard, len(content.classes)
        return Index.of_shard(*given, mapped=False, has_images=content.images)


@contextmanager
def finished(
    place: Path | str, progress: Progress = QUIET, *, is_whole: bool = False
) -> Iterator[Finished]:
    """Yield the dataset at a path or URL; of one in a store a copy, with tars if `is_whole`."""
    if not is_url(place):
        yield Finished(Path(place), place)
        return
    need("obstore", str(place))
    from packer.storage.download import fetch_dataset
    from reader.store.client import Store as PlainStore

    store = PlainStore(checked(str(place)), {}, None)
    with tempfile.TemporaryDirectory(prefix="shardfeed-") as folder:
        with progress.phase("fetch", None, "B") as advance:
            asyncio.run(fetch_dataset(store, Path(folder), is_whole=is_whole, advance=advance))
        yield Finished(Path(folder), place)


def names_in(place: Path | str) -> Collection[str]:
    """Return the names of all files at the place of a dataset; none if it has no list of them."""
    if not is_url(place):
        found = (path for path in Path(place).rglob("*") if not path.is_dir())
        return [path.relative_to(place).as_posix() for path in found]
    if not str(place).startswith(WRITABLE):
        return ()
    with Store(str(place), *access(str(place), None, None)) as store:
        return store.list()
