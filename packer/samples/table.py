"""The result of a scan, held in columns: some 180 bytes a sample at usual name lengths."""

import json
from array import array
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pickle import PickleBuffer
from typing import Any, SupportsIndex

import numpy as np
import xxhash
from numpy.typing import NDArray

from packer.samples.outside import made_in
from packer.samples.records import Place, Sample, Skipped

_TEXTS = 3  # name, key and places
_encode = json.JSONEncoder(separators=(",", ":")).encode
_AT_A_TIME = 1 << 16  # samples whose texts are taken: each is an object for a moment
_SIDE, _LARGEST = 31, 2**31 - 1  # bits of the height of a picture, and the largest
_NUMBERS = ("_labels", "_sizes", "_mtimes", "_blocks")
_COLUMNS: Any = {"_text": "B", "_bounds": "Q", "_kinds": "I", **dict.fromkeys(_NUMBERS, "q")}
_COLUMNS["_pictures"] = "q"

_Kind = tuple[str, tuple[str, ...]]  # a split and the extensions of the further members


class SampleTable:
    """All samples of a source, by number, and what was skipped on the way."""

    def __init__(self) -> None:
        # Buffers: those of a listing that was pickled lie where they were put, such as in a file.
        self._text: Any = bytearray()  # name, key and places of each sample, back to back
        self._bounds: Any = array("Q", [0])
        self._labels: Any = array("q")
        self._sizes: Any = array("q")
        self._mtimes: Any = array("q")
        self._blocks: Any = array("q")
        self._kinds: Any = array("I")  # which of `_known_kinds`
        self._pictures: Any = array("q")  # width and height, 0 for none; empty if all have none
        self._known_kinds: dict[_Kind, int] = {}
        self._kind_list: list[_Kind] = []
        self.skipped: list[Skipped] = []

    def __len__(self) -> int:
        return len(self._sizes)

    def __getitem__(self, number: int) -> Sample:
        first = _TEXTS * number
        start, middle, last, end = self._bounds[first : first + _TEXTS + 1]
        split, members = self._kind_list[self._kinds[number]]
        return Sample(
            name=str(self._text[start:middle], "utf-8", "surrogateescape"),
            key=str(self._text[middle:last], "utf-8"),
            label=self._labels[number],
            size=self._sizes[number],
            mtime_ns=self._mtimes[number],
            members=members,
            split=split,
            places=json.loads(bytes(self._text[last:end])) if last < end else (),
            block=self._blocks[number],
            picture=self._picture(number),
        )

    def _picture(self, number: int) -> tuple[int, int] | None:
        both = self._pictures[number] if len(self._pictures) else 0
        return (both >> _SIDE, both & _LARGEST) if both else None

    def name_of(self, number: int) -> str:
        start, end = self._bounds[_TEXTS * number], self._bounds[_TEXTS * number + 1]
        return str(self._text[start:end], "utf-8", "surrogateescape")

    def __reduce_ex__(self, protocol: SupportsIndex) -> tuple[Any, ...]:
        """By its columns, so that they can be put aside without a copy (PEP 574)."""
        wrap = PickleBuffer if int(protocol) >= 5 else bytes
        columns = [wrap(getattr(self, name)) for name in _COLUMNS]
        return _restored, (columns, self._kind_list, self.skipped)

    def __iter__(self) -> Iterator[Sample]:
        return (self[number] for number in range(len(self)))

    def add(self, record: Sample | Skipped, places: Sequence[Place] | None = None) -> None:
        """Append the samples of a scan; `places` are other places of a sample's bytes, if any."""
        if isinstance(record, Skipped):
            self.skipped.append(record)
            return
        places = record.places if places is None else places
        for text in (record.name, record.key, _text_of(places) if places else ""):
            self._text += text.encode("utf-8", "surrogateescape")
            self._bounds.append(len(self._text))
        self._labels.append(record.label)
        self._sizes.append(record.size)
        self._mtimes.append(record.mtime_ns)
        self._blocks.append(record.block)
        kind = (record.split, record.members)
        if kind not in self._known_kinds:
            self._known_kinds[kind] = len(self._kind_list)
            self._kind_list.append(kind)
        self._kinds.append(self._known_kinds[kind])
        found = (made.picture for made, _ in made_in(record.places))
        self._add_picture(next(filter(None, found), None))

    def _add_picture(self, picture: tuple[int, int] | None) -> None:
        is_known = picture is not None and max(picture) <= _LARGEST
        if is_known and not len(self._pictures):
            self._pictures = array("q", bytes(8 * (len(self) - 1)))
        if picture is not None and is_known:
            self._pictures.append(picture[0] << _SIDE | picture[1])
        elif len(self._pictures):
            self._pictures.append(0)

    @property
    def rejected(self) -> list[tuple[str, str]]:
        """(name, reason) of what was skipped and is missing."""
        return sorted((item.name, item.reason) for item in self.skipped if not item.ignored)

    @property
    def ignored(self) -> list[tuple[str, str]]:
        """(name, reason) of what was skipped and is not missing."""
        return [(item.name, item.reason) for item in self.skipped if item.ignored]

    def relabel(self, numbers: NDArray[np.int64]) -> None:
        """Replace each class number by that in `numbers`; -1 stays."""
        labels = self.labels
        self._labels = array("q", np.where(labels < 0, -1, numbers[labels]).tobytes())

    def assign(self, numbers: NDArray[np.int64], splits: Sequence[str], codes: Any) -> None:
        """Put the samples with these numbers into other splits: `splits[code]` of each code."""
        kinds = self._kind_numbers.copy()
        pairs, places = np.unique(
            kinds[numbers].astype(np.int64) * len(splits) + codes, return_inverse=True
        )
        others = ((splits[at % len(splits)], self._kind_list[at // len(splits)][1]) for at in pairs)
        known = self._known_kinds
        kinds[numbers] = np.array([known.setdefault(one, len(known)) for one in others])[places]
        self._kinds, self._kind_list = array("I", kinds.tobytes()), list(known)

    def names(self, most: int) -> Iterator[tuple[bytes, NDArray[np.int64]]]:
        """Yield the names back to back, `most` bytes at most at a time, and their lengths."""
        bounds = np.frombuffer(self._bounds, np.uint64).astype(np.int64)
        starts, ends = bounds[:-1:_TEXTS], bounds[1::_TEXTS]
        lengths, count = ends - starts, len(self)
        total = np.cumsum(lengths)
        begin = 0
        while begin < count:
            before = total[begin] - lengths[begin]
            end = max(begin + 1, int(np.searchsorted(total, before + most, "right")))
            few = map(slice, starts[begin:end].tolist(), ends[begin:end].tolist())
            yield b"".join(map(memoryview(self._text).__getitem__, few)), lengths[begin:end]
            begin = end

    def take(self, numbers: Sequence[int] | NDArray[np.int64]) -> "SampleTable":
        """Return a listing of the samples with these numbers, in their order."""
        chosen = np.asarray(numbers, np.int64)
        bounds = np.frombuffer(self._bounds, np.uint64)
        lengths = self._lengths(chosen)
        kinds, first, places = np.unique(
            self._kind_numbers[chosen], return_index=True, return_inverse=True
        )
        order = np.argsort(first)
        taken = SampleTable()
        with memoryview(self._text) as text:
            for begin in range(0, len(chosen), _AT_A_TIME):
                few = chosen[begin : begin + _AT_A_TIME]
                starts, ends = (bounds[_TEXTS * at].tolist() for at in (few, few + 1))
                taken._text += b"".join(map(text.__getitem__, map(slice, starts, ends)))
        taken._bounds.frombytes(np.cumsum(lengths).tobytes())
        for name in _NUMBERS:
            getattr(taken, name).frombytes(_int64(getattr(self, name))[chosen].tobytes())
        if len(self._pictures):
            taken._pictures.frombytes(_int64(self._pictures)[chosen].tobytes())
        taken._kind_list = [self._kind_list[kind] for kind in kinds[order]]
        taken._known_kinds = {kind: number for number, kind in enumerate(taken._kind_list)}
        taken._kinds.frombytes(np.argsort(order)[places].astype(np.uint32).tobytes())
        return taken

    @property
    def sizes(self) -> NDArray[np.int64]:
        return _int64(self._sizes)

    @property
    def blocks(self) -> NDArray[np.int64]:
        return _int64(self._blocks)

    @property
    def labels(self) -> NDArray[np.int64]:
        return _int64(self._labels)

    @property
    def splits(self) -> NDArray[np.str_]:
        return self._of_kind([split for split, _ in self._kind_list])

    def by_split(self) -> dict[str, NDArray[np.int64]]:
        """Return the numbers of each split's samples, by the sorted names of the splits."""
        names = sorted({split for split, _ in self._kind_list})
        code_of = {name: code for code, name in enumerate(names)}
        codes = self._of_kind([code_of[split] for split, _ in self._kind_list])
        ends = np.cumsum(np.bincount(codes, minlength=len(names)))[:-1]
        parts = np.split(np.argsort(codes, kind="stable"), ends)
        return {name: part for name, part in zip(names, parts, strict=False) if len(part)}

    def is_in(self, splits: Collection[str]) -> NDArray[np.bool_]:
        return self._of_kind([split in splits for split, _ in self._kind_list]).astype(bool)

    @property
    def members(self) -> Mapping[str, int]:
        """The extensions of the further members that there are -> how many samples have one."""
        found: Counter[str] = Counter()
        counts = np.bincount(self._kind_numbers, minlength=len(self._kind_list))
        for (_, members), count in zip(self._kind_list, counts.tolist(), strict=True):
            found.update(dict.fromkeys(members, count))
        return found

    @property
    def member_counts(self) -> NDArray[np.int64]:
        return self._of_kind([len(members) for _, members in self._kind_list])

    def having(self, member: str) -> NDArray[np.bool_]:
        return self._of_kind([member in members for _, members in self._kind_list]).astype(bool)

    @property
    def name_lengths(self) -> NDArray[np.int64]:
        """Bytes of the longest member name that each sample may have."""
        bounds = np.frombuffer(self._bounds, dtype=np.uint64).astype(np.int64)
        keys = bounds[2::_TEXTS] - bounds[1::_TEXTS]
        kinds = (("webp", *members) for _, members in self._kind_list)
        longest = [max(len(ext.encode()) for ext in extensions) for extensions in kinds]
        return keys + len(".") + self._of_kind(longest)

    @property
    def key_hashes(self) -> NDArray[np.uint64]:
        """A hash of each sample's key (xxh3-64)."""
        bounds, text = self._bounds, memoryview(self._text)
        ats = range(1, _TEXTS * len(self), _TEXTS)
        keys = (text[bounds[at] : bounds[at + 1]] for at in ats)
        return np.array(array("Q", map(xxhash.xxh3_64_intdigest, keys)), np.uint64)

    @property
    def mtimes(self) -> NDArray[np.int64]:
        """When the newest file of each sample was written, in ns."""
        return _int64(self._mtimes)

    @property
    def newest_ns(self) -> int:
        return max(self._mtimes, default=0)

    def fingerprint(self) -> str:
        """Return a checksum of all but the times; a copy of the source has the same."""
        state = xxhash.xxh3_128(repr(self._kind_list).encode("utf-8", "replace"))
        for column in (self._text, self._bounds, self._labels, self._sizes, self._kinds):
            state.update(column)
        return state.hexdigest()

    def digest(self, numbers: NDArray[np.int64]) -> str:
        """Return a checksum of these samples in this order, and of when they were written."""
        state = xxhash.xxh3_128()
        text, bounds = memoryview(self._text), self._bounds
        for number in numbers.tolist():
            first = _TEXTS * number
            state.update(text[bounds[first] : bounds[first + _TEXTS]])
        state.update(self._lengths(numbers).tobytes())
        for column in (self.labels, self.sizes, _int64(self._mtimes)):
            state.update(column[numbers].tobytes())
        known, kinds = np.unique(self._kind_numbers[numbers], return_inverse=True)
        state.update(repr([self._kind_list[kind] for kind in known]).encode("utf-8", "replace"))
        state.update(kinds.astype(np.uint32).tobytes())
        return state.hexdigest()

    def _lengths(self, numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
        """Return the bytes of each text of some samples, without a look at all others."""
        bounds = np.frombuffer(self._bounds, np.uint64)
        return np.diff(bounds[_TEXTS * numbers[:, None] + np.arange(_TEXTS + 1)], axis=1)

    @property
    def _kind_numbers(self) -> NDArray[np.uint32]:
        return np.frombuffer(self._kinds, np.uint32) if len(self) else np.empty(0, np.uint32)

    def _of_kind(self, values: Sequence[Any]) -> NDArray[Any]:
        return np.array(values or [0])[self._kind_numbers]


def _text_of(places: Sequence[Place]) -> str:
    match places:
        case [None, [int() as offset, int() as size]]:  # of most annotated samples
            return f"[null,[{offset},{size}]]"
    return _encode(places)


def _restored(columns: Sequence[Any], kinds: list[_Kind], skipped: list[Skipped]) -> SampleTable:
    listing = SampleTable()
    for (name, code), column in zip(_COLUMNS.items(), columns, strict=True):
        setattr(listing, name, memoryview(column).cast("B").cast(code))
    listing._kind_list = kinds
    listing._known_kinds = {kind: number for number, kind in enumerate(kinds)}
    listing.skipped = skipped
    return listing


def _int64(column: Any) -> NDArray[np.int64]:
    return np.frombuffer(column, dtype=np.int64) if len(column) else np.empty(0, np.int64)
