"""`packer pack`: scan, plan, write, commit."""

import os
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from packer import __version__, journal
from packer.encode import Policy
from packer.errors import Rejected, UnusableInput
from packer.jobs import ShardJob, run_jobs
from packer.listing import Listing
from packer.plan import Plan, plan_shards
from packer.progress import Progress
from packer.shard_writer import index_of, is_finished, shard_entry
from packer.sources import LeftOut
from packer.sources.folder import FolderSource
from reader.format import FORMATS, Index, Manifest, manifest


@dataclass(frozen=True)
class PackOptions:
    """The options that shape the shards' bytes; they are kept in dataset.json.

    Attributes:
        shard_size: bytes a shard should not exceed.
        shard_samples: samples a shard may hold, None for any number.
        seed: of the shuffle; None keeps the source's order.
        jpeg: "tiled" or "verbatim".
        max_side, quality, check: see `packer.encode.Policy`.
    """

    shard_size: int = 10**9
    shard_samples: int | None = None
    seed: int | None = 0
    jpeg: str = "tiled"
    max_side: int | None = None
    quality: int | None = None
    check: bool = False

    @property
    def policy(self) -> Policy:
        """What is done with each image."""
        return Policy(self.jpeg == "tiled", self.max_side, self.quality, self.check)


@dataclass(frozen=True)
class PackReport:
    """What became of a source: every file of it is a sample, rejected or ignored.

    Attributes:
        untiled: (name, reason) of the JPEGs that could not be tiled and are stored as they were.
    """

    dataset: str
    samples: int
    classes: int
    shards: int
    shards_written: int
    bytes: int
    seconds: float
    rejected: list[tuple[str, str]]
    untiled: list[tuple[str, str]]
    ignored: list[tuple[str, str]]


def pack(
    src: Path,
    dst: Path,
    options: PackOptions,
    jobs: int,
    skip_rejected: bool = False,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> PackReport:
    """Pack the folder `src` into the data set `dst`, or finish what an earlier run began.

    Raises:
        UnusableInput: there is nothing to pack, or `dst` holds something else.
        Rejected: files were rejected and `skip_rejected` is not set; nothing is committed.
        PackingFailed: writing failed; the same call continues.
    """
    began = time.monotonic()
    progress = progress or Progress(quiet=True)
    src, dst = Path(os.path.realpath(src)), Path(os.path.realpath(dst))
    if dst == src or src in dst.parents:
        raise UnusableInput(
            f"{dst} lies inside {src}, the folder to be packed. Choose another place."
        )
    source = FolderSource.open(src)
    listing = _scan(source, progress)
    if not len(listing):
        raise UnusableInput(f"{src} holds no file to pack.{_sentences(listing.left_out)}")
    plan = plan_shards(
        listing.sizes,
        options.shard_size,
        options.shard_samples,
        options.seed,
        listing.name_lengths,
    )
    paths = [dst / f"shard-{number:06d}.tar" for number in range(len(plan))]
    if not overwrite and _is_packed(dst, options, listing, source.classes):
        written, rejected = 0, _rejected(paths, listing)
    else:
        identity = {**asdict(options), "state": listing.state(), "packer": __version__}
        with journal.packing(dst, identity, overwrite):
            written = _write_shards(source, listing, plan, paths, options.policy, jobs, progress)
            rejected = _rejected(paths, listing)
            if rejected and not skip_rejected:
                raise Rejected(rejected)
            _refuse_empty_classes(paths, source.classes)
            journal.commit(dst, _manifest(paths, options, listing, source.classes, len(rejected)))
    content = Manifest.load(dst)
    return PackReport(
        dataset=str(dst),
        samples=sum(shard.samples for shard in content.shards),
        classes=len(content.classes),
        shards=len(content.shards),
        shards_written=written,
        bytes=sum(shard.bytes + shard.index_bytes for shard in content.shards),
        seconds=time.monotonic() - began,
        rejected=rejected,
        untiled=[item for path in paths for item in Index(index_of(path)).untiled],
        ignored=[(item.name, item.reason) for item in listing.left_out if item.ignored],
    )


def _scan(source: FolderSource, progress: Progress) -> Listing:
    listing = Listing()
    with progress.phase("scan", None, "files") as advance:
        for record in source.scan():
            listing.add(record)
            advance(1)
    return listing


def _is_packed(dst: Path, options: PackOptions, listing: Listing, classes: Sequence[str]) -> bool:
    """Whether an earlier run of the same command has committed `dst`.

    Raises:
        UnusableInput: `dst` is a data set of other options or another source.
    """
    committed = dst / manifest.FILENAME
    if not committed.exists():
        return False
    content = Manifest.load(dst)
    if (
        content.options != asdict(options)
        or content.source != listing.fingerprint()
        or list(content.classes) != list(classes)
        or listing.newest_ns > committed.stat().st_mtime_ns
    ):
        raise UnusableInput(
            f"{dst} already holds a data set, made with other options or from a source that has "
            "changed since. Choose another destination, or give --overwrite to replace it."
        )
    (dst / journal.FILENAME).unlink(missing_ok=True)  # left by a crash right after the commit
    return True


def _write_shards(
    source: FolderSource,
    listing: Listing,
    plan: Plan,
    paths: Sequence[Path],
    policy: Policy,
    jobs: int,
    progress: Progress,
) -> int:
    """Write the shards that are not there yet; how many."""
    missing = [number for number, path in enumerate(paths) if not is_finished(path)]
    todo = sum(len(plan.shard(number)) for number in missing)
    processes = min(jobs, max(len(missing), 1))
    threads = -(-jobs // processes)
    with progress.phase("pack", len(listing), "samples", len(listing) - todo) as advance:
        run_jobs(
            (
                ShardJob(
                    paths[number], source, listing.samples(plan.shard(number)), policy, threads
                )
                for number in missing
            ),
            processes,
            advance,
        )
    return len(missing)


def _rejected(paths: Sequence[Path], listing: Listing) -> list[tuple[str, str]]:
    found = [(item.name, item.reason) for item in listing.left_out if not item.ignored]
    for path in paths:
        found += Index(index_of(path)).rejected
    return sorted(found)


def _refuse_empty_classes(paths: Sequence[Path], classes: Sequence[str]) -> None:
    """A class whose every file was rejected would be a class that nothing can belong to."""
    counts = np.zeros(len(classes), dtype=np.int64)
    for path in paths:
        labels = Index(index_of(path)).columns["label"]
        counts += np.bincount(labels[labels >= 0], minlength=len(classes))
    empty = [name for name, count in zip(classes, counts, strict=True) if not count]
    if empty:
        raise UnusableInput(
            f"No file of these class folders is an image: {', '.join(empty)}. "
            "Mend or remove them; nothing was committed."
        )


def _manifest(
    paths: Sequence[Path],
    options: PackOptions,
    listing: Listing,
    classes: tuple[str, ...],
    rejected: int,
) -> Manifest:
    fields: list[str] = []
    for path in paths:
        shard = Index(index_of(path))
        formats = np.unique(shard.columns["format"])
        fields += [FORMATS[int(code)] for code in formats] + shard.members
    return Manifest(
        packer=__version__,
        options=asdict(options),
        source=listing.fingerprint(),
        classes=classes,
        fields=tuple(sorted(set(fields))),
        shards=tuple(map(shard_entry, paths)),
        rejected=rejected,
    )


def _sentences(left_out: Sequence[LeftOut]) -> str:
    return "".join(f"\n  {item.name}: {item.reason}" for item in left_out)
