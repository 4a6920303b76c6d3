"""Find and read samples by number, and the columns of all indexes."""

import contextlib
import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from operator import index, itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reader.dataset.locator import SampleLocator, Texts
from reader.dataset.open_shards import MAPPINGS, OpenShards
from reader.dataset.shard import Shard
from reader.dataset.sources import Fetchings, ShardSource
from reader.dataset.tar_bytes import ReadBuffer
from reader.decode.stored import StoredImage
from reader.errors import ArgumentError, ReaderError
from reader.format import Limits, ShardEntry, ShardfeedError
from reader.format.columns import ROW
from reader.format.errors import DecodeError
from reader.format.fields import joined
from reader.format.files import most_mappings, raise_most_open_files
from reader.format.members import kind_of
from reader.format.sizes import SizeBounds, upright_sizes

if TYPE_CHECKING:
    from reader.cache.client import Fetching

# Of numbers that are kept for each sample.
_TYPES = np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32, np.int64
_OF_SIZE = "height", "width", "orientation"


class NumberedSamples:
    """The base of `Dataset`: access to samples by number."""

    folder: Path
    fetching: "Fetching | None"
    shards: tuple[ShardEntry, ...]
    extensions: tuple[str, ...]
    places: SampleLocator
    upright: bool
    channels: int
    limits: Limits
    recorded_sizes: SizeBounds | None  # in dataset.json, of the samples' splits
    is_raw: bool  # whether dataset.json says that all images are raw RGB
    _source: ShardSource
    _own: OpenShards

    def __len__(self) -> int:
        return len(self.places)

    @property
    def source(self) -> str:
        """The dataset's folder or URL."""
        return str(self.folder) if self.fetching is None else self.fetching.url

    @cached_property
    def fingerprint(self) -> str:
        """A checksum of the shards' contents and order, the same for copies and subsets."""
        shards = "".join(f"{shard.samples} {shard.checksum}\n" for shard in self.shards)
        return hashlib.blake2b(shards.encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def columns(self, *names: str) -> dict[str, NDArray[Any]]:
        """Return columns of the index, arrays (N,), without opening a tar: see `Index.values`.

        Fields of the JSON are those of `packer pack --column`. If all texts of one are numbers, as
        in a CSV, the numbers are returned.

        Raises:
            ArgumentError: there is no such column.
        """
        numbers = {name: np.empty(len(self), ROW[name]) for name in names if name in ROW}
        end = 0
        for columns in self.shard_columns(*numbers) if numbers else ():
            start = end
            for name, part in columns.items():
                end = start + len(part)
                numbers[name][start:end] = part
        others = self._joined_columns([name for name in names if name not in ROW])
        return {n: self._by_number(numbers[n]) if n in numbers else others[n] for n in names}

    def _joined_columns(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Return columns of keys, names, members, or fields of the JSON."""
        found: dict[str, list[NDArray[Any] | None]] = {name: [] for name in names}
        for number in range(len(self.shards)) if names else ():
            index = self._source.index(number)
            for name in names:
                found[name].append(index.values(name))  # a copy, which lets go of the mapping
        rows = [shard.samples for shard in self.shards]
        whole = {name: self._joined(name, parts, rows) for name, parts in found.items()}
        if self.places.chosen is None:
            return whole
        return {name: column[self.places.chosen] for name, column in whole.items()}

    def _joined(
        self, name: str, parts: Sequence[NDArray[Any] | None], rows: Sequence[int]
    ) -> NDArray[Any]:
        """Join a column of the indexes; a shard without the member or the field has no values."""
        own = [part for part in parts if part is not None]
        if len(own) == len(parts) and name in ("key", "name"):
            return np.concatenate(own or [np.empty(0)])
        if own and own[0].dtype.kind == "u":  # of a member: an offset of 0 is none
            pairs = zip(parts, rows, strict=True)
            return np.concatenate([np.zeros(n, own[0].dtype) if p is None else p for p, n in pairs])
        if own or not parts:
            return joined(parts, rows)
        from difflib import get_close_matches  # rarely used

        fields = [field for at in range(len(rows)) for field in self._source.index(at).fields]
        usual = dict.fromkeys(["label", "height", "width", "key", "name", *ROW])
        known = [*usual, *dict.fromkeys(f"json.{x}" if x in usual else x for x in fields)]
        prefixes = [ext.removesuffix("json") for ext in self.extensions if kind_of(ext) == "json"]
        advice = ""
        if close := get_close_matches(name, known, 1, 0.8):
            advice = f" Did you mean {close[0]!r}?"
        elif of_json := [prefix for prefix in prefixes if name.startswith(prefix)]:
            field = name.removeprefix(max(of_json, key=len)).removeprefix("json.")
            advice = f" To add a field of the JSON, pack with `--column {field}`."
        raise ArgumentError(
            f"{self.source}: there is no column {name!r}; the columns are {', '.join(known)}."
            f"{advice}"
        )

    @cached_property
    def labels(self) -> NDArray[np.int64]:
        """The label of every sample, int64 (N,)."""
        return self.computed(itemgetter("label"), "label").astype(np.int64)

    def shard_columns(self, *names: str) -> Iterator[dict[str, NDArray[Any]]]:
        """Yield columns of the samples of one shard after the other, in its order.

        They are views of a mapped index, or copies of a subset's rows; no shard is without samples.
        """
        for number, rows in self.places.rows():
            if self.shards[number].samples:
                columns = self._source.index(number).columns
                yield {name: columns[name][rows] for name in names}

    def computed(
        self, value: Callable[[dict[str, NDArray[Any]]], NDArray[Any]], *names: str
    ) -> NDArray[Any]:
        """Return integers of each sample, computed from columns of one shard after the other.

        `value` returns an array (..., rows). The result, (..., N), has the least type that holds
        all of them, so that they take as few bytes as their values allow.
        """
        empty = value({name: np.empty(0, ROW[name]) for name in names})
        found = np.empty((*empty.shape[:-1], len(self)), _TYPES[0])
        least = most = end = 0
        for columns in self.shard_columns(*names):
            part = value(columns)
            least, most = min(least, int(part.min())), max(most, int(part.max()))
            found = found.astype(_least_type(least, most), copy=False)
            start, end = end, end + part.shape[-1]
            found[..., start:end] = part
        return self._by_number(found)

    def _by_number(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return values that are in the order of the shards in that of the samples."""
        numbers, _ = self.places.by_shard()
        if numbers is None:
            return values
        ordered = np.empty_like(values)
        ordered[..., numbers] = values
        return ordered

    @cached_property
    def size_bounds(self) -> SizeBounds:
        """Bounds of the sizes of the images within the limits, as in `ds[i]`.

        They are those of dataset.json if it has them, and are otherwise read from the indexes.
        """
        known, most = self.recorded_sizes, self.limits.pixels
        is_of_subset = self.places.chosen is not None and known is not None and not known.is_one
        if known is not None and known.pixels <= most and self.upright and not is_of_subset:
            return known
        found = None
        for columns in self.shard_columns(*_OF_SIZE):
            heights, widths = upright_sizes(columns, self.upright)
            is_within = heights * widths <= most
            part = SizeBounds.of(heights[is_within], widths[is_within])
            found = part | found if part else found
        if found is None:
            raise self._all_too_large()
        return found

    def sizes(self) -> set[tuple[int, int]]:
        """Return the distinct (height, width) of the images within the limits, as in `ds[i]`."""
        found: set[tuple[int, int]] = set()
        for columns in self.shard_columns(*_OF_SIZE):
            height, width = upright_sizes(columns, self.upright)
            sizes = _distinct((height << 32 | width)[height * width <= self.limits.pixels])
            found.update((size >> 32, size & 0xFFFFFFFF) for size in sizes.tolist())
        if not found and len(self):
            raise self._all_too_large()
        return found

    def _all_too_large(self) -> ReaderError:
        return ReaderError(
            f"Every image of {self.source} has more than {self.limits.pixels} pixels. To allow "
            "more, give reader.Dataset limits=reader.Limits(pixels=...)."
        )

    @property
    def keys(self) -> Sequence[str]:
        """The key of every sample, read from the indexes on access."""
        return Texts("key", len(self), self.locate)

    @property
    def names(self) -> Sequence[str]:
        """The path of each image in the source, such as ``"cat/0001.jpg"``, read on access."""
        return Texts("name", len(self), self.locate)

    def read(self, number: int, ext: str) -> bytes:
        """Return the bytes of a sample's member.

        Raises:
            SampleError: the sample has no such member, or cannot be read.
        """
        shard, row = self.locate(number)
        return shard.read(row, ext)

    def whole(self, number: int) -> NDArray[Any]:
        """Return the pixels of a sample, uint8 (height, width, channels), without `transform`."""
        shard, row = self.locate(number)
        try:
            return self._own.decoder.whole(self.image_of(shard, row))
        except DecodeError as error:
            raise shard.error(row, str(error)) from error

    @property
    def fetchings(self) -> Fetchings:
        """The fetching of stores, and the shards of each."""
        return self._source.fetchings

    def sources(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return which dataset of a `Mix` each sample is from; there is only one."""
        return np.zeros(len(numbers), np.int64)

    @property
    def buffer(self) -> ReadBuffer:
        """The buffer of this thread's reads, with their bytes and times."""
        return self._own.buffer

    def keep_open(self) -> None:
        """Keep as many shards open as the system allows, in a process of the reader's own."""
        raise_most_open_files()
        self._own = OpenShards(most_mappings() // MAPPINGS)

    def locate(self, number: int) -> tuple[Shard, int]:
        """Return the opened shard of a sample, and its row there."""
        try:
            number = index(number)
        except TypeError:
            raise TypeError(f"a sample's number is an integer, not {number!r}") from None
        count = len(self)
        if not -count <= number < count:
            raise IndexError(f"sample {number} is out of range for a dataset of {count} samples")
        position, row = self.places.find(number % count)
        return self._own.get(position, self._source), row

    def locate_all(
        self, numbers: NDArray[np.int64], turn_to: Callable[[int], None]
    ) -> Iterator[tuple[Shard, NDArray[np.int64] | slice, NDArray[np.int64]]]:
        """Yield each shard of some samples, which of `numbers` are in it, and their rows.

        `turn_to` is called with a shard's first sample before it is opened.
        """
        for position, which, rows in self.places.find_all(numbers):
            turn_to(int(numbers[which][0]))
            yield self._own.get(position, self._source), which, rows

    def describe(self, number: int, *, with_key: bool = True) -> str:
        """Return a sample's number, key and tar for an error; without the key, no file is read."""
        key = ""
        if with_key:
            with contextlib.suppress(ShardfeedError):
                key = f"{self.keys[number]!r} "
        return f"sample {number} {key}of {self._source.name_of(self.places.find(number)[0])}"

    def image_of(self, shard: Shard, row: int) -> StoredImage:
        """Return the stored image with the dataset's orientation and channels."""
        image = shard.image(row)
        if not self.upright and image.orientation != 1:
            image = replace(image, orientation=1)
        return image if self.channels == image.depth else replace(image, depth=self.channels)


def _least_type(least: int, most: int) -> type[np.integer[Any]]:
    fitting = (t for t in _TYPES if np.iinfo(t).min <= least and most <= np.iinfo(t).max)
    return next(fitting)


def _distinct(values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Do what np.unique does, which imports numpy.ma: a sixth of the time to the first batch."""
    ordered = np.sort(values)
    return ordered[np.flatnonzero(np.diff(ordered, prepend=ordered[:1] - 1))]
