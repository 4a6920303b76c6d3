"""What a packing run is to do, as plain data, and what it asks of that."""

import shutil
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from packer.images.encode import Policy
from packer.options.declared import PackOptions
from packer.plan.guard import Origin, RunGuard
from packer.plan.plan import Plan
from packer.planning.listing import Listing
from packer.planning.scan import Scanned
from packer.sources.records import Reader
from reader.format import Manifest

_INDEX_BYTES = 4096  # an index without samples
_ROW_BYTES = 200  # a sample in it, at usual name lengths


@dataclass(frozen=True)
class Work:
    """A source, and how its samples are to be laid out in a dataset.

    Attributes:
        origin: where the source lies; None: nowhere.
        base: what the destination holds already and keeps.
        rejected_before: the files, with reasons, that `base` names as rejected.
        reading: what the source was understood as, in a sentence.
        remarks: further sentences on it.
    """

    origin: Origin | None
    scanned: Scanned
    plan: Plan
    options: PackOptions
    base: Manifest | None = None
    remarks: tuple[str, ...] = ()
    reading: str = ""
    rejected_before: Set[tuple[str, str]] = frozenset()


@dataclass(frozen=True)
class ShardJob:
    """One shard to be written.

    Attributes:
        path: of its tar.
        threads: that encode at a time, where there are fewer shards than cores.
        origin: where the source lies.
        needs_all: leave the shard unfinished if a file cannot be read now: another time it may be.
        guard: what to make sure of before anything is written.
    """

    path: Path
    files: Reader
    samples: Listing
    policy: Policy
    threads: int = 1
    origin: Origin | None = None
    needs_all: bool = False
    guard: RunGuard | None = None


def tars(work: Work, dst: Path) -> list[Path]:
    """The tars to be written."""
    return [dst / file for file in work.plan.files]


def shard_job(
    work: Work,
    path: Path,
    samples: Sequence[int] | NDArray[np.int64],
    threads: int = 1,
    needs_all: bool = False,
    guard: RunGuard | None = None,
) -> ShardJob:
    """What writes these samples into the tar at `path`; for the rest see `ShardJob`."""
    files, listing = work.scanned.files, work.scanned.listing.take(samples)
    place = work.options.policy, threads, work.origin
    return ShardJob(path, files, listing, *place, needs_all, guard)


def digests(work: Work) -> dict[str, str]:
    """For each shard a checksum of the samples that it is made from."""
    told = (*work.scanned.classes, work.scanned.facts.identity)
    names = "\0".join(filter(None, told)).encode("utf-8", "surrogatepass")
    classes, listing, plan = xxhash.xxh3_128_hexdigest(names), work.scanned.listing, work.plan
    return {
        file: f"{classes} {listing.digest(plan.shard(number))}"
        for number, file in enumerate(plan.files)
    }


def bytes_needed(work: Work, shards: Iterable[int]) -> int | None:
    """What these shards take on disk, at most; None if only encoding the images tells."""
    plan, policy = work.plan, work.options.policy
    if policy.raw is None and (policy.max_side or policy.quality or work.scanned.facts.identity):
        return None
    total = sum(
        plan.tar_bytes(number) + _INDEX_BYTES + _ROW_BYTES * len(plan.shard(number))
        for number in shards
    )
    return total + total // 100 if policy.tiled else total


def outline(work: Work, dst: Path) -> dict[str, Any]:
    """What would be written, as a person would want to know it beforehand."""
    listing, plan, classes = work.scanned.listing, work.plan, work.scanned.classes
    labels = np.bincount(listing.labels[listing.labels >= 0], minlength=len(classes))
    there = next(path for path in (dst, *dst.absolute().parents) if path.exists())
    return {
        "reading": work.reading,
        "remarks": list(work.remarks),
        "samples": len(listing),
        "classes": dict(zip(classes, labels.tolist(), strict=True)),
        "splits": {name: len(numbers) for name, numbers in listing.by_split().items() if name},
        "shards": [
            {"file": file, "samples": len(plan.shard(number)), "bytes": plan.tar_bytes(number)}
            for number, file in enumerate(plan.files)
        ],
        "bytes_needed": bytes_needed(work, range(len(plan))),
        "bytes_free": shutil.disk_usage(there).free,
        "rejected": [(item.name, item.reason) for item in listing.skipped if not item.ignored],
        "ignored": [(item.name, item.reason) for item in listing.skipped if item.ignored],
    }
