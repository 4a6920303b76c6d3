"""Which of a store's objects a folder here can have, and what they are known by there (pure)."""

import unicodedata
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

import xxhash

from packer.files.output_folder import Refused, parts
from packer.sources.records import Skipped

if TYPE_CHECKING:
    from reader.remote.listing import Listed

_MOST = 255  # bytes that file systems allow to a part of a name
_SECOND, _MICROSECOND = 10**9, 10**3  # ns

_MARKER = "it only marks a folder"
_TWOFOLD = "the names of other objects go on below it, and a file cannot be a folder as well"
_ALIKE = "on this disk its name is that of {!r}, as upper and lower case are one there"


def wanted(
    listed: "Mapping[str, Listed]", *, is_folded: bool
) -> "tuple[dict[str, Listed], list[Skipped]]":
    """The objects that are to be fetched, by name and in its order, and those that cannot be.

    Args:
        listed: what lies in the store.
        is_folded: the disk knows no upper and lower case.
    """
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
    """A checksum of what is there, and in which version."""
    state = xxhash.xxh3_128()
    for name in sorted(objects):
        listed = objects[name]
        told = f"{name}\0{listed.size}\0{listed.tag}\0{listed.mtime_ns}\0"
        state.update(told.encode("utf-8", "surrogatepass"))
    return state.hexdigest()


def mtime_ns(listed: "Listed") -> int:
    """The time that a copy is given: that of the object, with what tells its version.

    Stores tell whole seconds, in which an object may be replaced, so the fraction is made of its
    tag. It is the second before: nothing is newer than a dataset that is packed from it.
    """
    fraction = xxhash.xxh3_64_intdigest((listed.tag or "").encode()) % (_SECOND // _MICROSECOND)
    return (listed.mtime_ns // _SECOND - 1) * _SECOND + fraction * _MICROSECOND


def _reason(name: str, folders: set[str], seen: dict[str, str] | None) -> str | None:
    """Why there can be no file of this name; what is `seen` by its name in lower case."""
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
    """Those that it lies in, the outermost first."""
    at = name.find("/")
    while at >= 0:
        yield name[:at]
        at = name.find("/", at + 1)
