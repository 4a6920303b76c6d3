"""Writes those of a run's shards that are missing, here or on the engine that is there."""

import shutil
from collections.abc import Sequence
from concurrent.futures import Executor
from pathlib import Path

from packer.errors import Rejected, UnusableInput
from packer.plan.work import RunGuard, Work, bytes_needed, shard_job, tars
from packer.progress import Progress
from packer.run.destination import Destination
from packer.shards.builder import Rejections
from packer.shards.futures import run_in
from packer.shards.jobs import Unfinished, run_jobs, tell_of_compiling
from packer.shards.shard_writer import remove_shard
from packer.shards.written import Written

_LOOKED_AT = 1000  # names, for whether there are JPEGs among them


def write_missing(
    work: Work,
    to: Destination,
    numbers: Sequence[int],
    guard: RunGuard,
    jobs: int,
    executor: Executor | None,
    skip_rejected: bool,
    progress: Progress,
    *,
    is_refused: bool = False,
) -> tuple[Written, int]:
    """Write those of the shards with these numbers that are not there yet; say how many.

    Args:
        is_refused: the run cannot be committed as it is, so that no shard goes into a store: what
            is mended may make it another one.

    Raises:
        Rejected: files were rejected, by the scan or now, that are not to be skipped.
    """
    paths = tars(work, to.folder)
    finished = to.finished([paths[number] for number in numbers])
    missing = [number for number in numbers if paths[number] not in finished]
    processes = min(jobs, max(len(missing), 1))
    _refuse_full_disk(work, to.folder, to.at_a_time(missing, processes))
    for folder in {path.parent for path in paths}:
        folder.mkdir(exist_ok=True)
    written, unread = Written(), Unfinished()

    def take(shard: Written) -> None:
        written.add(shard)
        if not is_refused and (skip_rejected or not shard.rejected):  # else it is to be mended
            to.take(shard)

    for number in sorted({*numbers}.difference(missing)):
        take(Written.of(paths[number], work.plan.splits[number]))
    total, todo = (sum(len(work.plan.shard(n)) for n in some) for some in (numbers, missing))
    threads = -(-jobs // processes) if executor is None else 1
    every = max(todo // _LOOKED_AT, 1)
    looked_at = (n for number in missing for n in work.plan.shard(number)[::every])
    names = (work.scanned.listing[n].name for n in looked_at)
    tell_of_compiling(work.options.policy, names, progress)
    with progress.phase("pack", total, "samples", total - todo) as advance:
        tasks = (
            shard_job(work, paths[n], work.plan.shard(n), threads, not skip_rejected, guard)
            for n in missing
        )
        if executor is None:
            outcomes = run_jobs(tasks, processes, advance)
        else:
            outcomes = run_in(executor, tasks, jobs, advance)
        for outcome in outcomes:
            if isinstance(outcome, Unfinished):
                unread += outcome
            else:
                take(outcome)
                for file in outcome.entries if is_refused and not to.holds_all else ():
                    remove_shard(to.folder / file)
    to.wait(progress)
    rejected = sorted(all_rejected(work, written) + unread)
    if unread or (rejected and not skip_rejected):
        raise refusal(work, rejected, written=to.holds_all or not is_refused)
    return written, len(missing)


def _refuse_full_disk(work: Work, dst: Path, missing: Sequence[int]) -> None:
    """Raise before hours of work where the disk is too small for it."""
    needed, free = bytes_needed(work, missing), shutil.disk_usage(dst).free
    if needed is not None and needed > free:
        raise UnusableInput(
            f"{dst}: the shards to be written take {needed / 1e9:.3g} GB, and the disk has "
            f"{free / 1e9:.3g} GB left. Make room, and pack again."
        )


def all_rejected(work: Work, written: Written | None = None) -> Rejections:
    """Return what the scan rejected, and what was rejected of the shards that are written."""
    return sorted(work.scanned.listing.rejected + (written.rejected if written else []))


def may_be_misread(work: Work, files: Rejections) -> bool:
    """Whether the rejected files suggest another reading of the source: many, or strays."""
    listing = work.scanned.listing
    if work.scanned.facts.is_late:
        return False
    by_scan = [item for item in listing.skipped if not item.ignored]
    count = len(listing) + int(listing.member_counts.sum()) + len(by_scan)
    return 2 * len(files) > count or not all(item.damaged for item in by_scan)


def refusal(work: Work, files: Rejections, written: bool) -> Rejected:
    """Return the error for rejected files: a few are damaged, or the source may be misread."""
    noun = "item" if work.scanned.facts.is_late else "file"
    return Rejected(files, written, damaged=not may_be_misread(work, files), noun=noun)
