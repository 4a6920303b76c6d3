"""A finished dataset as commands read it: by its indexes, by its splits."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from packer.errors import UnusableInput
from packer.progress import QUIET, Progress
from packer.storage.dataset import as_folder
from reader.format import FORMATS, Index, Manifest, ShardEntry


def image_of(index: Index, row: int) -> str:
    """Return the extension of a row's image, "" if the dataset has no images."""
    return FORMATS[int(index.columns["format"][row])] if index.has_images else ""


def label_of(index: Index, row: int) -> int:
    """Return a row's label, -1 for none."""
    return int(index.columns["label"][row]) if index.has_images else -1


def members_of(index: Index, row: int) -> dict[str, tuple[int, int]]:
    """Return offset and size of all that a row has, by extension, an image first."""
    spans = {ext: index.span(ext, row) for ext in (image_of(index, row), *index.members)}
    return {ext: span for ext, span in spans.items() if span is not None}


def members_in(index: Index) -> Counter[str]:
    """Return how many rows have each further member."""
    return Counter({ext: int((index.columns[f"{ext}.offset"] > 0).sum()) for ext in index.members})


def values_in(index: Index) -> Counter[str]:
    """Return how many rows have a value of each field of the JSON that is a column."""
    found: Counter[str] = Counter()
    for field in index.fields:
        values: Any = index.values(f"json.{field}")
        found[field] = int(((values == values) & (values != "")).sum())  # NaN and "" are none
    return found


def count_listed(index: Index, column: str) -> int:
    """Return how many rows have values of a list column, such as ``segment`` of tiled JPEGs."""
    bounds = index.columns.get(f"{column}_offset")
    return 0 if bounds is None else int((bounds[1:] > bounds[:-1]).sum())


def reason_of(error: Exception) -> str:
    """Return why a file of a dataset cannot be used, without a full stop."""
    if isinstance(error, OSError):
        return f"it cannot be read: {error.strerror}"
    return str(error).removesuffix(".")


@contextmanager
def finished(
    place: Path | str, progress: Progress = QUIET, *, is_whole: bool = False
) -> "Iterator[Finished]":
    """Yield the dataset at a path or URL; of one in a store a copy, with tars if `is_whole`."""
    with as_folder(place, progress, is_whole=is_whole) as folder:
        yield Finished(folder, place)


@dataclass
class SplitInfo:
    """One split's share."""

    shards: int = 0
    samples: int = 0
    bytes: int = 0


@dataclass(frozen=True)
class Finished:
    """A finished dataset as commands read it: dataset.json, indexes, shards."""

    folder: Path  # of it, or of a temporary copy
    place: Path | str  # its folder or URL

    @property
    def name(self) -> str:
        """Its folder or URL, for a person."""
        return str(self.place)

    @cached_property
    def content(self) -> Manifest:
        """What dataset.json holds; FormatError: it is missing or damaged."""
        return Manifest.load(self.folder)

    def shards(self, split: str | None = None) -> list[ShardEntry]:
        """Return the shards of a split, or with None of all."""
        if split is not None and split not in self.content.splits:
            known = self.content.known_splits
            raise UnusableInput(f"{self.name} has no split {split!r}; {known}.")
        return [shard for shard in self.content.shards if split in (None, shard.split)]

    def index(self, shard: ShardEntry) -> Index:
        """Read the index of a shard, and check it by its entry."""
        content = self.content
        given = self.folder, shard, len(content.classes)
        return Index.of_shard(*given, mapped=False, has_images=content.images)

    @property
    def splits(self) -> dict[str, SplitInfo]:
        """Each split's share; ``""`` without splits."""
        return splits_of(self.content)


def splits_of(content: Manifest) -> dict[str, SplitInfo]:
    """Return each split's share; ``""`` without splits."""
    found: dict[str, SplitInfo] = {}
    for shard in content.shards:
        split = found.setdefault(shard.split, SplitInfo())
        split.shards += 1
        split.samples += shard.samples
        split.bytes += shard.bytes
    return found
