"""A finished dataset as commands read it: by its indexes, by its splits."""

from collections import Counter
from dataclasses import dataclass
from typing import Any

from reader.format import FORMATS, Index, Manifest


def image_of(index: Index, row: int) -> str:
    return FORMATS[int(index.columns["format"][row])] if index.has_images else ""


def label_of(index: Index, row: int) -> int:
    return int(index.columns["label"][row]) if index.has_images else -1


def members_of(index: Index, row: int) -> dict[str, tuple[int, int]]:
    """Return offset and size of all that a row has, by extension, an image first."""
    spans = {ext: index.span(ext, row) for ext in (image_of(index, row), *index.members)}
    return {ext: span for ext, span in spans.items() if span is not None}


def members_in(index: Index) -> Counter[str]:
    return Counter({ext: int((index.columns[f"{ext}.offset"] > 0).sum()) for ext in index.members})


def values_in(index: Index) -> Counter[str]:
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
    if isinstance(error, OSError):
        return f"it cannot be read: {error.strerror}"
    return str(error).removesuffix(".")


@dataclass
class SplitInfo:
    shards: int = 0
    samples: int = 0
    bytes: int = 0


def splits_of(content: Manifest) -> dict[str, SplitInfo]:
    found: dict[str, SplitInfo] = {}
    for shard in content.shards:
        split = found.setdefault(shard.split, SplitInfo())
        split.shards += 1
        split.samples += shard.samples
        split.bytes += shard.bytes
    return found
