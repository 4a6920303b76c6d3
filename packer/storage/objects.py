"""The objects of a store that a source's URL names, and which of them a folder here can have.

A URL names a list of objects, one of them, or all below a prefix.
"""

import asyncio
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING

import xxhash

from packer.errors import EXAMPLES, UnusableInput
from packer.files.names import Refused, expanded, has_braces, parts
from packer.samples.records import Skipped
from packer.words import listed as some
from reader.format import Manifest, manifest

if TYPE_CHECKING:
    from packer.storage.listing import ListingStore
    from reader.store.transport import Listed

_LISTING = ("s3://", "gs://", "az://", "file://")
# Archives hold their images; beside any other file lies what it names.
_ALONE = (".tar", ".zip", ".tgz", ".tbz", ".tbz2", ".txz", ".gz", ".bz2", ".xz", ".parquet")
_AT_ONCE = 64  # requests

_MOST = 255  # bytes that file systems allow to a part of a name
_SECOND, _MICROSECOND = 10**9, 10**3  # ns

_MARKER = "it only marks a folder"
_TWOFOLD = "other objects are below it, and a file cannot also be a folder"
_ALIKE = (
    "on this disk its name is equal to {!r}, because upper and lower case are not distinguished"
)


@dataclass(frozen=True)
class Found:
    store: "ListingStore"
    objects: "dict[str, Listed]"
    entry: str = ""  # the one object that the URL names; "" for all of them


async def find(url: str, opened: "Callable[[str], ListingStore]") -> Found:
    """Return the objects at a checked URL; `opened` returns the store at another URL."""
    if has_braces(url):
        return await _of_list(url, opened)
    store = opened(url)
    if not url.startswith(_LISTING):
        return await _without_list(store, opened)
    if set(objects := await store.names()) - {""}:
        return Found(store, objects)
    found = await _one(url, opened)
    if found is None:
        raise UnusableInput(
            f"{url} does not exist: the store has no object with this prefix. Check the URL."
        )
    if found.entry.lower().endswith(_ALONE):
        return found
    return Found(found.store, await found.store.names(), found.entry)


async def _one(url: str, opened: "Callable[[str], ListingStore]") -> Found | None:
    folder, _, name = url.rpartition("/")
    if folder.count("/") < (4 if url.startswith("hf://") else 2):
        return None  # it is a bucket, a server or a repository
    store = opened(folder)
    listed = await store.look(name)
    return Found(store, {name: listed}, name) if listed else None


async def _of_list(url: str, opened: "Callable[[str], ListingStore]") -> Found:
    folder = url[: url.index("{")].rpartition("/")[0]
    if folder.endswith("/") or not folder.strip("/"):
        raise UnusableInput(f"{url}: braces are allowed only after the name of the bucket.")
    store = opened(folder)
    names = list(expanded(url.removeprefix(f"{folder}/")))
    return Found(store, await _looked_at(store, names))


async def _without_list(store: "ListingStore", opened: "Callable[[str], ListingStore]") -> Found:
    """Return what a dataset.json names, or one object: such a store has no list."""
    if await store.look(manifest.FILENAME):
        text = await store.whole(manifest.FILENAME)
        shards = Manifest.parse(text, Path(manifest.FILENAME)).shards
        files = (file for shard in shards for file in (shard.file, shard.index))
        return Found(store, await _looked_at(store, [manifest.FILENAME, *files]))
    is_file = "." in store.url.rpartition("/")[2]  # a server may show a folder as a page
    if is_file and (found := await _one(store.url, opened)):
        return found
    raise UnusableInput(
        f"{store.url} is neither a file nor a dataset with {manifest.FILENAME}, and this "
        "server does not list files. Name the files in the URL, such as train-{000..146}.tar."
    )


async def _looked_at(store: "ListingStore", names: Iterable[str]) -> "dict[str, Listed]":
    gate = asyncio.Semaphore(_AT_ONCE)

    async def look(name: str) -> "Listed | None":
        async with gate:
            return await store.look(name)

    names = list(dict.fromkeys(names))
    listed = dict(zip(names, await asyncio.gather(*map(look, names)), strict=True))
    found = {name: entry for name, entry in listed.items() if entry}
    if missing := [name for name in names if name not in found]:
        raise UnusableInput(
            f"{len(missing)} of {len(names)} files are not at {store.url}: "
            f"{some(missing, EXAMPLES)}."
        )
    return found


def wanted(
    listed: "Mapping[str, Listed]", *, is_folded: bool
) -> "tuple[dict[str, Listed], list[Skipped]]":
    """Return the objects to be fetched, sorted by name, and those that cannot be."""
    folders = {folder for name in listed for folder in _folders(name)}
    seen: dict[str, str] | None = {} if is_folded else None
    found, skipped = {}, []
    for name in sorted(filter(None, listed)):  # without a name: marks the place itself
        if name in folders and not listed[name].size:
            skipped.append(Skipped(f"{name}/", _MARKER, ignored=True))
        elif reason := _reason(name, folders, seen):
            skipped.append(Skipped(name, reason, damaged=True))
        else:
            found[name] = listed[name]
    return found, skipped


def version(objects: "Mapping[str, Listed]") -> str:
    state = xxhash.xxh3_128()
    for name in sorted(objects):
        listed = objects[name]
        line = f"{name}\0{listed.size}\0{listed.tag}\0{listed.mtime_ns}\0"
        state.update(line.encode("utf-8", "surrogatepass"))
    return state.hexdigest()


def mtime_ns(listed: "Listed") -> int:
    """Return the time that a copy is given: the second before the object's, with a fraction.

    Stores have whole seconds, in which an object may be replaced, so its tag makes the fraction.
    The second before, so that nothing is newer than a dataset that is packed from it.
    """
    fraction = xxhash.xxh3_64_intdigest((listed.tag or "").encode()) % (_SECOND // _MICROSECOND)
    return (listed.mtime_ns // _SECOND - 1) * _SECOND + fraction * _MICROSECOND


def _reason(name: str, folders: set[str], seen: dict[str, str] | None) -> str | None:
    """Return why there can be no file of this name; `seen` has names by their lower case."""
    try:
        found = parts(name.encode())
    except (Refused, UnicodeEncodeError) as error:
        return str(error) if isinstance(error, Refused) else "its name is not Unicode"
    if max(map(len, found)) > _MOST:
        return f"a part of its name has more than {_MOST} bytes"
    if name in folders:
        return _TWOFOLD
    if seen is None:
        return None
    for path in (*_folders(name), name):
        other = seen.setdefault(unicodedata.normalize("NFC", path).casefold(), path)
        if other != path:
            return _ALIKE.format(other)
    return None


def _folders(name: str) -> Iterable[str]:
    return accumulate(name.split("/")[:-1], "{}/{}".format)
