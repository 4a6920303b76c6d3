"""All samples of a dataset by the columns of its indexes, and which of them are shown."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from packer.inspect.dataset import count_listed, members_in
from packer.run.report import RejectedFiles, rejected_files
from packer.shards.frames import Frames, add_frames, doubtful_frames
from packer.storage.dataset import Finished
from reader.format import Manifest

_COLUMNS: dict[str, type[Any]] = {
    **dict.fromkeys(("label", "height", "width", "size", "crc32", "split"), np.int64),
    **dict.fromkeys(("format", "channels"), np.uint8),
}
_TURNED = 4  # EXIF orientations beyond it swap height and width


@dataclass(frozen=True)
class Table:
    """Columns of the indexes for every sample; N samples."""

    manifest: Manifest
    label: NDArray[np.int64]  # (N,), -1 where there is none
    height: NDArray[np.int64]  # height, width: (N,), pixels as people see the image
    width: NDArray[np.int64]
    format: NDArray[np.uint8]  # (N,), a place in `reader.format.FORMATS`
    channels: NDArray[np.uint8]  # channels, size, crc32: (N,), as the indexes have them
    size: NDArray[np.int64]
    crc32: NDArray[np.int64]
    split: NDArray[np.int64]  # (N,), a place in `splits`
    members: Mapping[str, int] = field(default_factory=dict)  # how many samples have one
    rejected: RejectedFiles = field(default_factory=RejectedFiles)
    tiled: int = 0  # tiled, banded: how many images are stored so
    banded: int = 0
    frames: Frames = field(default_factory=dict)  # of coordinates, that are doubtful

    def __len__(self) -> int:
        return len(self.label)

    @property
    def splits(self) -> tuple[str, ...]:
        return self.manifest.splits or ("",)

    @property
    def classes(self) -> tuple[str, ...]:
        return self.manifest.classes

    @property
    def has_labels(self) -> bool:
        return bool((self.label >= 0).any())

    def tally(self, label: NDArray[np.int64], split: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how often each class occurs in each split, (classes, splits)."""
        known = (label >= 0) & (label < len(self.classes))
        places = label[known] * len(self.splits) + split[known]
        size = len(self.classes) * len(self.splits)
        return np.bincount(places, minlength=size).reshape(-1, len(self.splits))

    @property
    def short(self) -> NDArray[np.int64]:
        return np.minimum(self.height, self.width)

    @property
    def long(self) -> NDArray[np.int64]:
        return np.maximum(self.height, self.width)

    def class_name(self, label: int) -> str:
        if label < 0:
            return ""
        return self.classes[label] if label < len(self.classes) else f"class {label}"


@dataclass(frozen=True)
class Groups:
    """Disjoint groups of samples, each of two at least."""

    members: NDArray[np.int64]  # int64, the groups' samples back to back
    starts: NDArray[np.int64]  # int64, where each group begins

    def __len__(self) -> int:
        return len(self.starts)

    def __iter__(self) -> Iterator[NDArray[np.int64]]:
        return iter(np.split(self.members, self.starts[1:]) if len(self) else [])

    def differ(self, values: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether samples of each group have different `values`, given for all samples."""
        if not len(self):
            return np.zeros(0, np.bool_)
        of = values[self.members]
        return np.maximum.reduceat(of, self.starts) > np.minimum.reduceat(of, self.starts)

    def where(self, wanted: NDArray[np.bool_]) -> "Groups":
        sizes = np.diff([*self.starts, len(self.members)])
        members = self.members[np.repeat(wanted, sizes)]
        return Groups(members, np.cumsum([0, *sizes[wanted]])[:-1])


def gather(dataset: Finished) -> Table:
    """Read the indexes of a whole dataset, without opening a tar."""
    manifest = dataset.content
    split_numbers = {split: number for number, split in enumerate(manifest.splits)}
    count = sum(entry.samples for entry in manifest.shards)
    columns = {name: np.empty(count, kind) for name, kind in _COLUMNS.items()}
    members: Counter[str] = Counter()
    rejected: list[tuple[str, str]] = []
    frames: Frames = {}
    start = tiled = banded = 0
    for entry, index in dataset.indexes():
        rows = slice(start, start + len(index))
        for name in columns.keys() & index.columns.keys():
            columns[name][rows] = index.columns[name]
        turned = index.columns["orientation"] > _TURNED
        for name, other in (("height", "width"), ("width", "height")):
            columns[name][rows][turned] = index.columns[other][turned]
        columns["split"][rows] = split_numbers[entry.split]
        add_frames(frames, doubtful_frames(index))
        members.update(members_in(index))
        rejected += index.rejected
        tiled += count_listed(index, "segment")
        banded += count_listed(index, "band")
        start += len(index)
    del members["cls"]
    lost = rejected_files(manifest, rejected)
    return Table(
        manifest,
        **columns,
        members=members,
        rejected=lost,
        tiled=tiled,
        banded=banded,
        frames=frames,
    )


def chosen(total: int, most: int, seed: int) -> NDArray[np.int64]:
    """At most `most` of `total` samples, each as likely as any other, ascending."""
    if total <= most:
        return np.arange(total)
    return np.sort(np.random.default_rng(seed).choice(total, most, replace=False))


def gallery(table: Table, most: int, seed: int) -> list[int]:
    """At most `most` samples to show: every class and split has its turn before one has another."""
    order = np.random.default_rng(seed).permutation(len(table))
    stratum = ((table.label + 1) * len(table.splits) + table.split)[order]
    by_stratum = np.argsort(stratum, kind="stable")
    ordered = stratum[by_stratum]
    turn = np.arange(len(ordered)) - np.searchsorted(ordered, ordered)
    first = by_stratum[np.lexsort((by_stratum, turn))[:most]]
    return order[first].tolist()
