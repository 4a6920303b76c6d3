"""All samples of a dataset by the columns of its indexes: a row each, in the dataset's order."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from packer.run.report import RejectedFiles, rejected_files
from reader.format import Index, Manifest

if TYPE_CHECKING:
    from reader import Dataset

_COLUMNS: dict[str, type[Any]] = {
    **dict.fromkeys(("label", "height", "width", "size", "crc32", "split"), np.int64),
    **dict.fromkeys(("format", "channels"), np.uint8),
}
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
    split_numbers = {split: number for number, split in enumerate(manifest.splits)}
    count = sum(entry.samples for entry in manifest.shards)
    columns = {name: np.empty(count, kind) for name, kind in _COLUMNS.items()}
    members: dict[str, NDArray[np.bool_]] = {}
    rejected: list[tuple[str, str]] = []
    start = tiled = banded = 0
    for entry in manifest.shards:
        index = Index.of_shard(dataset.folder, entry, len(manifest.classes))
        rows = slice(start, start + len(index))
        for name in columns.keys() & index.columns.keys():
            columns[name][rows] = index.columns[name]
        turned = index.columns["orientation"] > _TURNED
        for name, other in (("height", "width"), ("width", "height")):
            columns[name][rows][turned] = index.columns[other][turned]
        columns["split"][rows] = split_numbers[entry.split]
        for ext in index.members:
            if ext not in members:
                members[ext] = np.zeros(count, np.bool_)
            members[ext][rows] = index.columns[f"{ext}.offset"] > 0
        rejected += index.rejected
        tiled += _with_parts(index.columns.get("segment_offset"))
        banded += _with_parts(index.columns.get("band_offset"))
        start += len(index)
    members.pop("cls", None)
    return Table(
        manifest,
        **columns,
        members=members,
        rejected=rejected_files(manifest, rejected),
        tiled=tiled,
        banded=banded,
    )


def _with_parts(bounds: NDArray[Any] | None) -> int:
    """Of how many rows the range between two bounds is not empty."""
    return 0 if bounds is None else int((bounds[1:] > bounds[:-1]).sum())
