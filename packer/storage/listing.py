"""What a URL of a source means: a list of objects, one of them, or all below a prefix."""

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from packer.errors import EXAMPLES, UnusableInput
from packer.sources.braces import expanded, has_braces
from packer.sources.folder.shape import listed as some
from reader.format import Manifest, manifest

if TYPE_CHECKING:
    from reader.remote.listing import Listed, ListingStore

_LISTING = ("s3://", "gs://", "az://", "file://")
# Archives hold their images; beside any other file lies what it names.
_ALONE = (".tar", ".zip", ".tgz", ".tbz", ".tbz2", ".txz", ".gz", ".bz2", ".xz", ".parquet")
_AT_ONCE = 64  # requests


@dataclass(frozen=True)
class Found:
    """Objects of a store.

    Attributes:
        store: in which they are.
        objects: by name.
        entry: the one that is meant; "" for all of them.
    """

    store: "ListingStore"
    objects: "dict[str, Listed]"
    entry: str = ""


async def find(url: str, opened: "Callable[[str], ListingStore]") -> Found:
    """What lies at a URL.

    Args:
        url: as `reader.remote.url.checked` gives it.
        opened: gives the store below another URL.

    Raises:
        UnusableInput: nothing does, or the store does not tell.
        StoreError: the store does not answer.
    """
    if has_braces(url):
        return await _of_list(url, opened)
    store = opened(url)
    if not url.startswith(_LISTING):
        return await _without_list(store, opened)
    if set(objects := await store.names()) - {""}:
        return Found(store, objects)
    found = await _one(url, opened)
    if found is None:
        raise UnusableInput(f"There is nothing at {url}: the store lists no object below it.")
    if found.entry.lower().endswith(_ALONE):
        return found
    return Found(found.store, await found.store.names(), found.entry)


async def _one(url: str, opened: "Callable[[str], ListingStore]") -> Found | None:
    """The one object that has this URL, if there is one."""
    folder, _, name = url.rpartition("/")
    if folder.count("/") < (4 if url.startswith("hf://") else 2):
        return None  # it is a bucket, a server or a repository
    store = opened(folder)
    listed = await store.look(name)
    return Found(store, {name: listed}, name) if listed else None


async def _of_list(url: str, opened: "Callable[[str], ListingStore]") -> Found:
    folder = url[: url.index("{")].rpartition("/")[0]
    if folder.endswith("/") or not folder.strip("/"):
        raise UnusableInput(f"{url}: braces stand for names in one bucket, behind its own.")
    store = opened(folder)
    names = list(expanded(url.removeprefix(f"{folder}/")))
    return Found(store, await _looked_at(store, names))


async def _without_list(store: "ListingStore", opened: "Callable[[str], ListingStore]") -> Found:
    """What is told of by its dataset.json, or is one object: the store cannot be asked for more."""
    if await store.look(manifest.FILENAME):
        text = await store.whole(manifest.FILENAME)
        shards = Manifest.parse(text, Path(manifest.FILENAME)).shards
        files = (file for shard in shards for file in (shard.file, shard.index))
        return Found(store, await _looked_at(store, [manifest.FILENAME, *files]))
    is_file = "." in store.url.rpartition("/")[2]  # a server may show a folder as a page
    if is_file and (found := await _one(store.url, opened)):
        return found
    raise UnusableInput(
        f"{store.url} is neither a file nor a dataset with its {manifest.FILENAME}, and no list of "
        "what lies below can be had there. Name its files, as in train-{000..146}.tar."
    )


async def _looked_at(store: "ListingStore", names: Iterable[str]) -> "dict[str, Listed]":
    """Those objects.

    Raises:
        UnusableInput: some are not there.
    """
    gate = asyncio.Semaphore(_AT_ONCE)

    async def look(name: str) -> "Listed | None":
        async with gate:
            return await store.look(name)

    names = list(dict.fromkeys(names))
    listed = dict(zip(names, await asyncio.gather(*map(look, names)), strict=True))
    found = {name: there for name, there in listed.items() if there}
    if missing := [name for name in names if name not in found]:
        raise UnusableInput(
            f"{len(missing)} of {len(names)} files are not at {store.url}: "
            f"{some(missing, EXAMPLES)}."
        )
    return found
