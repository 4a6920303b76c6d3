"""All samples of a dataset by the columns of its indexes: a row each, in the dataset's order."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from packer.writing.rejected import RejectedFiles, rejected_files
from reader.format import Index, Manifest

if TYPE_CHECKING:
    from reader import Dataset

_COLUMNS = ("label", "height", "width", "format", "channels", "orientation", "size", "crc32")
_TURNED = 4  # EXIF orientations beyond it swap height and width


@dataclass(frozen=True)
class Table:
    """What the indexes tell of every sample; N samples.

    Attributes:
        manifest: dataset.json's content.
        label: int64 (N,), -1 where there is none.
        height, width: int64 (N,), pixels as people see the image.
        format: uint8 (N,), a place in `reader.format.FORMATS`.
        channels, size, crc32: (N,), as the indexes have them.
        split: int64 (N,), a place in `splits`.
        members: bool (N,) by extension: who has the member.
        rejected: the source's files that are not in the dataset.
        tiled, banded: how many images are stored so.
    """

    manifest: Manifest
    label: NDArray[np.int64]
    height: NDArray[np.int64]
    width: NDArray[np.int64]
    format: NDArray[np.uint8]
    channels: NDArray[np.uint8]
    size: NDArray[np.int64]
    crc32: NDArray[np.int64]
    split: NDArray[np.int64]
    members: dict[str, NDArray[np.bool_]] = field(default_factory=dict)
    rejected: RejectedFiles = field(default_factory=RejectedFiles)
    tiled: int = 0
    banded: int = 0

    def __len__(self) -> int:
        return len(self.label)

    @property
    def splits(self) -> tuple[str, ...]:
        """Names of the splits; ``""`` alone without splits."""
        return self.manifest.splits or ("",)

    @property
    def classes(self) -> tuple[str, ...]:
        """Names of the classes in label order."""
        return self.manifest.classes

    @property
    def has_labels(self) -> bool:
        """Whether any sample has a class of its own."""
        return bool((self.label >= 0).any())

    @property
    def counts(self) -> NDArray[np.int64]:
        """Samples of each class, (classes, splits)."""
        return self.tally(self.label, self.split)

    def tally(self, label: NDArray[np.int64], split: NDArray[np.int64]) -> NDArray[np.int64]:
        """How often each class occurs in each split, (classes, splits)."""
        known = (label >= 0) & (label < len(self.classes))
        places = label[known] * len(self.splits) + split[known]
        size = len(self.classes) * len(self.splits)
        return np.bincount(places, minlength=size).reshape(-1, len(self.splits))

    @property
    def short(self) -> NDArray[np.int64]:
        """The shorter side, in pixels."""
        return np.minimum(self.height, self.width)

    @property
    def long(self) -> NDArray[np.int64]:
        """The longer side, in pixels."""
        return np.maximum(self.height, self.width)

    def split_name(self, number: int) -> str:
        """The name of a sample's split."""
        return self.splits[int(self.split[number])]

    def class_name(self, label: int) -> str:
        """The name of a class, "" for none; its number where it has no name."""
        if label < 0:
            return ""
        return self.classes[label] if label < len(self.classes) else f"class {label}"


def gather(dataset: "Dataset") -> Table:
    """Read the indexes of a whole dataset, without opening a tar.

    Raises:
        FormatError, ReaderError: an index is damaged, or not that of its shard.
    """
    manifest = Manifest.load(dataset.folder)
    columns: dict[str, list[NDArray[Any]]] = {name: [] for name in (*_COLUMNS, "split")}
    members: dict[str, list[tuple[int, NDArray[np.bool_]]]] = {}
    rejected: list[tuple[str, str]] = []
    start = tiled = banded = 0
    split_numbers = {split: number for number, split in enumerate(manifest.splits)}
    for entry in manifest.shards:
        index = Index.of_shard(dataset.folder, entry, len(manifest.classes))
        for name in _COLUMNS:
            columns[name].append(index.columns[name].copy())  # lets go of the mapping
        columns["split"].append(np.full(len(index), split_numbers[entry.split]))
        for ext in index.members:
            members.setdefault(ext, []).append((start, index.columns[f"{ext}.offset"] > 0))
        rejected += index.rejected
        tiled += _with_parts(index.columns.get("segment_offset"))
        banded += _with_parts(index.columns.get("band_offset"))
        start += len(index)
    whole = {
        name: np.concatenate(parts) if parts else np.zeros(0, np.int64)
        for name, parts in columns.items()
    }
    turned = whole["orientation"] > _TURNED
    height, width = whole["height"].astype(np.int64), whole["width"].astype(np.int64)
    return Table(
        manifest,
        whole["label"].astype(np.int64),
        np.where(turned, width, height),
        np.where(turned, height, width),
        whole["format"].astype(np.uint8),
        whole["channels"].astype(np.uint8),
        whole["size"].astype(np.int64),
        whole["crc32"].astype(np.int64),
        whole["split"].astype(np.int64),
        {ext: _spread(parts, start) for ext, parts in members.items() if ext != "cls"},
        rejected_files(manifest, rejected),
        tiled,
        banded,
    )


def _with_parts(bounds: NDArray[Any] | None) -> int:
    """Of how many rows the range between two bounds is not empty."""
    return 0 if bounds is None else int((bounds[1:] > bounds[:-1]).sum())


def _spread(parts: list[tuple[int, NDArray[np.bool_]]], count: int) -> NDArray[np.bool_]:
    """The flags of some shards, each from its first sample on, over all `count` samples."""
    found = np.zeros(count, np.bool_)
    for start, flags in parts:
        found[start : start + len(flags)] = flags
    return found
