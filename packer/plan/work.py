"""The work of a packing run, as plain data, and queries on it."""

import os
import platform
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import xxhash
from numpy.typing import NDArray

from packer import __version__
from packer.errors import PackingFailed, UnusableInput
from packer.files.snapshot import Watched
from packer.images.encode import Policy, transcoders
from packer.options.declared import SourceOptions
from packer.plan.plan import Plan
from packer.plan.scan import Scanned
from packer.samples.records import Reader
from packer.samples.table import SampleTable
from packer.words import Message, command, in_bytes
from reader.format import Manifest

_INDEX_BYTES = 4096  # an index without samples
_ROW_BYTES = 200  # a sample in it, at usual name lengths


def versions(policy: Policy) -> dict[str, str]:
    return {"packer": __version__, **transcoders(policy)}


def others_than(wanted: Mapping[str, str], here: Mapping[str, str]) -> str:
    """Return which versions differ from the wanted ones, to end a sentence; empty for none."""
    names = sorted(name for name in {*wanted, *here} if wanted.get(name) != here.get(name))
    none = "(none)"
    each = (f"{name} {here.get(name, none)} instead of {wanted.get(name, none)}" for name in names)
    return ", ".join(each)


def all_versions(used: Mapping[str, str], base: Manifest | None) -> dict[str, str]:
    """Join those that made what is kept: of one that has changed since, both versions."""
    versions = dict(base.transcoders) if base else {}
    for name, version in used.items():
        before = versions.get(name, "").split(", ")
        if version not in before:
            versions[name] = ", ".join(filter(None, [*before, version]))
    return dict(sorted(versions.items()))


@dataclass(frozen=True)
class RunGuard:
    """The run of a job, which may come late, or to a machine that is unlike the others."""

    journal: Watched  # of the run, as it was when the job was given out
    versions: Mapping[str, str]  # of what the run packs with

    def check_versions(self, policy: Policy) -> None:
        """Raise where another version is here, which may write other bytes."""
        if others := others_than(self.versions, versions(policy)):
            raise PackingFailed(
                f"{platform.node()} has {others}, which may write other bytes than the "
                "versions that began the run. Install the same versions there, and run the "
                "same command again."
            )

    def check(self) -> None:
        """Raise where the run is over, or its destination is not there."""
        path = self.journal.path
        try:
            if Watched.of(path) == self.journal:
                return
        except UnusableInput as error:
            raise PackingFailed(
                f"{error} The run is over, or {platform.node()} does not share {path.parent} "
                "with the machine that began it. Source and destination must have the same "
                "paths on both machines."
            ) from error
        raise PackingFailed(
            f"{path} belongs to another run: the run of this shard is over. "
            "Start the job again from the new run."
        )


@dataclass(frozen=True)
class Origin:
    """The location of a source, to distinguish a missing file from a missing disk."""

    path: Path
    inode: int  # the same on all machines that share a file system, while its device is not

    @classmethod
    def of(cls, path: Path) -> "Origin":
        return cls(path, os.stat(path).st_ino)

    def check(self) -> None:
        """Raise if the source itself is missing: its files are not missing one by one then."""
        try:
            if os.stat(self.path).st_ino == self.inode:
                return
            reason = "another file or folder is in its place"
        except OSError as error:
            reason = str(error.strerror)
        raise PackingFailed(
            f"{self.path} no longer exists: {reason}. Finished shards are kept. Restore it, "
            "and run the same command again to continue."
        )


@dataclass(frozen=True)
class Work:
    """A source, and how its samples are to be laid out in a dataset."""

    origin: Origin | None  # where the source lies; None: nowhere
    scanned: Scanned
    plan: Plan
    options: SourceOptions
    policy: Policy
    base: Manifest | None = None  # what the destination holds already and keeps
    remarks: tuple[str, ...] = ()  # further sentences on it
    reading: str = ""  # the interpretation of the source, in a sentence
    rejected_before: frozenset[tuple[str, str]] = frozenset()  # the (file, reason) pairs of `base`
    name: str = ""  # of the source on a command line; "" for a Python dataset
    archive: str = ""  # a checksum of the compressed tar that the source is

    @property
    def command(self) -> str:
        """The command with an explicit layout, equal to the detected one; "" if none exists."""
        words = self.scanned.facts.outright
        return Message(command(self.name, *words)) if words and self.name else ""

    @property
    def announcement(self) -> list[str]:
        """The lines that packing begins with: the reading, the explicit command, the remarks."""
        command = ["Equivalent command: " + self.command] if self.command else []
        return [self.reading, *command, *self.remarks]


@dataclass(frozen=True)
class ShardJob:
    path: Path  # of its tar
    files: Reader
    samples: SampleTable
    policy: Policy
    threads: int = 1  # that encode at a time, where there are fewer shards left than cores
    origin: Origin | None = None  # where the source lies
    needs_all: bool = False  # leave it unfinished if a file cannot be read now: it may be later
    guard: RunGuard | None = None  # what to make sure of before anything is written
    has_images: bool = True  # False: a rejected sample stays, without members

    def __str__(self) -> str:
        return str(self.path)


def tars(work: Work, dst: Path) -> list[Path]:
    return [dst / file for file in work.plan.files]


def shard_job(
    work: Work,
    path: Path,
    samples: Sequence[int] | NDArray[np.int64],
    threads: int = 1,
    needs_all: bool = False,
    guard: RunGuard | None = None,
) -> ShardJob:
    """Return what writes these samples into the tar at `path`; for the rest see `ShardJob`."""
    files, listing = work.scanned.files, work.scanned.listing.take(samples)
    place = work.policy, threads, work.origin
    return ShardJob(path, files, listing, *place, needs_all, guard, work.scanned.has_images)


def digests(work: Work) -> dict[str, str]:
    """Return for each shard a checksum of the samples that it is made from."""
    each = (*work.scanned.classes, work.scanned.files.identity, work.archive)
    names = "\0".join(filter(None, each)).encode("utf-8", "surrogatepass")
    classes, listing, plan = xxhash.xxh3_128_hexdigest(names), work.scanned.listing, work.plan
    shards = ((file, plan.shard(number)) for number, file in enumerate(plan.files))
    return {file: f"{classes} {listing.digest(samples)}" for file, samples in shards}


def bytes_needed(work: Work, shards: Iterable[int]) -> int | None:
    """Return the maximum size of these shards on disk; None if it depends on the encoding."""
    plan, policy, scanned = work.plan, work.policy, work.scanned
    is_encoded = scanned.has_images and policy.raw is None
    if is_encoded and (policy.max_side or policy.quality or scanned.files.identity):
        return None
    total = sum(
        plan.tar_bytes(number) + _INDEX_BYTES + _ROW_BYTES * len(plan.shard(number))
        for number in shards
    )
    return total + total // 100 if policy.tiled else total


def bytes_free(folder: Path) -> int:
    there = next(path for path in (folder, *folder.absolute().parents) if path.exists())
    return shutil.disk_usage(there).free


def refuse_full_disk(work: Work, dst: Path, shards: Iterable[int]) -> None:
    """Raise if it is known that these shards do not fit on the disk."""
    needed, free = bytes_needed(work, shards), bytes_free(dst)
    if needed is not None and needed > free:
        raise UnusableInput(
            f"{dst}: the shards to be written take up to {in_bytes(needed)}, and the disk has "
            f"{in_bytes(free)} free. Free space or choose another destination, and run the same "
            "command again."
        )


def outline(work: Work, dst: Path) -> dict[str, Any]:
    listing, plan, classes = work.scanned.listing, work.plan, work.scanned.classes
    labels = np.bincount(listing.labels[listing.labels >= 0], minlength=len(classes))
    return {
        "samples": len(listing),
        "classes": dict(zip(classes, labels.tolist(), strict=True)),
        "splits": {name: len(numbers) for name, numbers in listing.by_split().items() if name},
        "shards": [
            {"file": file, "samples": len(plan.shard(number)), "bytes": plan.tar_bytes(number)}
            for number, file in enumerate(plan.files)
        ],
        "bytes_needed": bytes_needed(work, range(len(plan))),
        "bytes_free": bytes_free(dst),
        "rejected": listing.rejected,
        "ignored": listing.ignored,
    }
