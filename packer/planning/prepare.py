"""What is to be done: the source scanned and its shards planned, with nothing written yet."""

import re
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from packer.errors import (
    NothingToPack,
    UnusableInput,
)
from packer.planning.options import PackOptions
from packer.planning.plan import (
    Plan,
    plan_shards,
)
from packer.planning.scan import (
    Scanned,
    scan,
)
from packer.planning.shard_job import Origin, ShardJob
from packer.progress import Progress
from packer.sources.coco.coco import CocoSource
from packer.sources.detect import open_source
from packer.sources.folder.files import NO_FILE
from packer.sources.records import (
    LeftOut,
    Source,
)
from packer.sources.table.source import ManifestSource
from packer.sources.unlabelled import remarks
from reader.format import Manifest

_INDEX_BYTES = 4096  # an index without samples
_ROW_BYTES = 200  # a sample in it, at usual name lengths


@dataclass(frozen=True)
class Work:
    """A source, and how its samples are to be laid out in a data set.

    Attributes:
        origin: where the source lies.
        base: what the destination holds already and keeps.
        remarks: sentences on how the source was understood.
    """

    origin: Origin
    scanned: Scanned
    plan: Plan
    options: PackOptions
    base: Manifest | None = None
    remarks: tuple[str, ...] = ()

    def paths(self, dst: Path) -> list[Path]:
        """The tars to be written."""
        return [dst / file for file in self.plan.files]

    def outline(self, dst: Path) -> dict[str, Any]:
        """What would be written, as a person would want to know it beforehand."""
        listing = self.scanned.listing
        labels = np.bincount(
            listing.labels[listing.labels >= 0], minlength=len(self.scanned.classes)
        )
        splits, counts = np.unique(listing.splits, return_counts=True)
        there = next(path for path in (dst, *dst.absolute().parents) if path.exists())
        return {
            "remarks": list(self.remarks),
            "samples": len(listing),
            "classes": dict(zip(self.scanned.classes, labels.tolist(), strict=True)),
            "splits": {
                name: n for name, n in zip(splits.tolist(), counts.tolist(), strict=True) if name
            },
            "shards": [
                {
                    "file": file,
                    "samples": len(self.plan.shard(number)),
                    "bytes": self.plan.tar_bytes(number),
                }
                for number, file in enumerate(self.plan.files)
            ],
            "bytes_needed": self.bytes_needed(range(len(self.plan))),
            "bytes_free": shutil.disk_usage(there).free,
            "rejected": _named(item for item in listing.left_out if not item.ignored),
            "ignored": _named(item for item in listing.left_out if item.ignored),
        }

    def bytes_needed(self, shards: Iterable[int]) -> int | None:
        """What these shards take on disk, at most; None if only encoding the images tells."""
        policy = self.options.policy
        if policy.raw is None and (policy.max_side or policy.quality):
            return None
        tars = sum(
            self.plan.tar_bytes(number) + _INDEX_BYTES + _ROW_BYTES * len(self.plan.shard(number))
            for number in shards
        )
        return tars + tars // 100 if policy.tiled else tars

    def digests(self) -> dict[str, str]:
        """For each shard a checksum of the samples that it is made from."""
        classes = xxhash.xxh3_128_hexdigest(
            "\0".join(self.scanned.classes).encode("utf-8", "surrogatepass")
        )
        listing, plan = self.scanned.listing, self.plan
        return {
            file: f"{classes} {listing.digest(plan.shard(number))}"
            for number, file in enumerate(plan.files)
        }

    def job(self, path: Path, samples: Sequence[int] | NDArray[np.int64]) -> ShardJob:
        """What writes these samples into the tar at `path`."""
        listing = self.scanned.listing.take(samples)
        source, policy = self.scanned.source, self.options.policy
        return ShardJob(path, source, listing, policy, origin=self.origin)


def _named(items: Iterable[LeftOut]) -> list[dict[str, str]]:
    return [{"file": item.name, "reason": item.reason} for item in items]


def prepare(
    src: Path,
    options: PackOptions,
    progress: Progress,
    classes: Sequence[str] | None = None,
    onto: Path | None = None,
) -> Work:
    """Scan `src` and plan its shards; nothing is written.

    Args:
        src: the folder, archive or manifest to be packed.
        options: what shapes the shards.
        progress: where to show how far it is.
        classes: class names in label order, None for the source's own order.
        onto: a data set whose samples are there already.

    Raises:
        NothingToPack: there is nothing to pack.
        UnusableInput: it does not go with what is in `onto`.
        PackingFailed: the source has gone meanwhile.
        OSError: the disk fails.
    """
    base = None if onto is None else Manifest.load(onto)
    source = open_source(src, options.source, classes)
    if base is not None and source.classes:
        known = set(base.classes)
        added = [name for name in source.classes if name not in known]
        source = open_source(src, options.source, [*base.classes, *added])
    root = getattr(source, "root", src)
    origin = Origin.of(root if root.exists() else src)
    packed = [] if onto is None or base is None else [onto / shard.index for shard in base.shards]
    fixed = len(base.classes if base else classes or ())
    scanned = scan(source, options, progress, packed, fixed)
    origin.check()  # else it has gone while it was listed
    listing = scanned.listing
    if not len(listing) and base is None:
        files = [(item.name, item.reason) for item in listing.left_out]
        raise NothingToPack(f"{src} holds no file to pack.{_hint(source, files)}", files)
    plan = plan_shards(
        listing,
        options.shard_size,
        options.shard_samples,
        options.seed,
        options.raw_bytes,
        _next_numbers(base),
        sum(shard.bytes for shard in base.shards) if base else 0,
    )
    if onto is not None and base is not None:
        _refuse_other_splits(onto, set(base.splits), set(plan.splits))
    told = () if not len(listing) or (listing.labels >= 0).any() else tuple(remarks(source))
    return Work(origin, scanned, plan, options, base, told)


def _hint(source: Source, files: Sequence[tuple[str, str]]) -> str:
    """What the reasons why there is nothing to pack may have in common."""
    missing = sum(reason.endswith(NO_FILE) for _, reason in files)
    if isinstance(source, ManifestSource | CocoSource) and missing and missing == len(files):
        return (
            f" None of the {missing} images that it names was found below {source.root}; does "
            "--root name their folder?"
        )
    return ""


def _refuse_other_splits(dst: Path, there: set[str], new: set[str]) -> None:
    """Samples without a split beside named ones would be read by nobody who names a split."""
    if there and not {bool(split) for split in new} <= {bool(split) for split in there}:
        raise UnusableInput(
            f"{dst} {_told(there)}, and what is to be added {_told(new)}. Append what is divided "
            "in the same way, or choose another destination."
        )


def _told(splits: set[str]) -> str:
    names = ", ".join(sorted(splits - {""}))
    without = " and samples without a split" if "" in splits else ""
    return f"has the splits {names}{without}" if names else "is not divided into splits"


def _next_numbers(base: Manifest | None) -> dict[str, int]:
    """For each split, the number that its next shard gets."""
    numbers: dict[str, int] = {}
    for shard in base.shards if base else ():
        number = int(re.findall(r"\d+", Path(shard.file).stem)[-1])
        numbers[shard.split] = max(numbers.get(shard.split, 0), number + 1)
    return numbers
