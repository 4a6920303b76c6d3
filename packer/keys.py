"""Keys: a sample's name in the archive, made reversibly from its path in the source.

A key is the path relative to the source without its extension. Characters that WebDataset or DALI's
index would misread are percent-encoded (RFC 3986, section 2.1, on the name's bytes): dots of the
basename, white space, control characters, bytes that are not UTF-8, the per cent sign, and a
leading underscore of webdataset's metadata (``__name__/``). Repeated keys are found by hashes.
"""

import os
import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import unquote_to_bytes

import numpy as np
import xxhash
from numpy.typing import NDArray

MAX_NAME = 4096  # bytes of a name in an archive; no longer path can be opened

_UNSAFE = re.compile(r"[\s%\x00-\x1f\x7f-\x9f\udc80-\udcff]")

METADATA = re.compile(r"__[^/]*__(/|$)")  # what webdataset skips


def escape(stem: str) -> str:
    """Return the key of a path without extension; `stem` as `os.fsdecode` gives it."""
    key = stem if _UNSAFE.search(stem) is None else _quote(stem)
    if "." in key:
        folder, slash, base = key.rpartition("/")
        key = folder + slash + base.replace(".", "%2E")
    return "%5F" + key[1:] if key.startswith("__") and METADATA.match(key) else key


def unescape(key: str) -> str:
    return os.fsdecode(unquote_to_bytes(key))


def clashing(names: Iterable[str]) -> set[str]:
    """Return the names of one folder that must keep their extension to be distinct as keys.

    Such are ``x.jpg`` and ``x.png``, and then ``x.jpg.png``, too.
    """
    stems = {name: os.path.splitext(name)[0] for name in names}
    if len(set(stems.values())) == len(stems):
        return set()
    whole: set[str] = set()
    while True:
        count = Counter(stems.values())
        more = {name for name, stem in stems.items() if count[stem] > 1 and name != stem}
        if not more:
            return whole
        whole |= more
        stems.update((name, name) for name in more)


def _quote(text: str) -> str:
    return _UNSAFE.sub(
        lambda match: "".join(f"%{byte:02X}" for byte in os.fsencode(match.group())), text
    )


Hashes = NDArray[np.uint64]


def key_hash(key: str) -> int:
    return xxhash.xxh3_64_intdigest(key.encode())


def hashes_of(names: Iterable[bytes]) -> Hashes:
    return np.fromiter(map(xxhash.xxh3_64_intdigest, names), np.uint64)


def repeated(parts: Sequence[Hashes]) -> Hashes:
    """The repeated values, in order; names may share one (1:370,000 among ten million): compare."""
    ordered = np.concatenate([np.empty(0, np.uint64), *parts])
    ordered.sort()
    return np.unique(ordered[1:][ordered[1:] == ordered[:-1]])


def are_among(values: Hashes, ordered: Hashes) -> NDArray[np.bool_]:
    """Return whether each value is one of those in `ordered`, which is sorted."""
    if not len(ordered):
        return np.zeros(len(values), np.bool_)
    places = np.searchsorted(ordered, values).clip(max=len(ordered) - 1)
    return ordered[places] == values


def repeated_rows(parts: Sequence[Hashes]) -> list[list[int]]:
    """Return, for each part, the rows whose value occurs repeatedly in all of them together."""
    again = repeated(parts)
    return [np.flatnonzero(are_among(values, again)).tolist() for values in parts]


class KeySet:
    """The keys that there are, of which more come: some 10 bytes each, by their hashes."""

    _FEW = 1 << 16  # are held as they come; more are sorted in

    def __init__(self, known: Sequence[Hashes] = ()) -> None:
        self._recent: set[int] = set()
        self._sort_in(known)

    def __contains__(self, key: str) -> bool:
        return self._has(key_hash(key))

    def add(self, key: str) -> bool:
        """Take one more; False if it is there already."""
        if self._has(value := key_hash(key)):
            return False
        self.update([value])
        return True

    def update(self, values: Iterable[int]) -> None:
        for value in values:
            self._recent.add(value)
            if len(self._recent) > self._FEW + len(self._sorted) // 16:
                recent = np.fromiter(self._recent, np.uint64)
                self._recent.clear()
                self._sort_in([np.asarray(self._sorted), recent])

    def _sort_in(self, parts: Sequence[Hashes]) -> None:
        ordered = np.concatenate([np.empty(0, np.uint64), *parts])
        ordered.sort()
        self._sorted = ordered.data  # whose items are found faster than numpy's

    def _has(self, value: int) -> bool:
        at = bisect_left(self._sorted, value)
        return value in self._recent or (at < len(self._sorted) and self._sorted[at] == value)


def split_of(key: str, fractions: Mapping[str, float]) -> str:
    position = key_hash(key) / 2**64
    for name, fraction in fractions.items():
        position -= fraction
        if position < 0:
            return name
    return name  # rounding took the last of it
