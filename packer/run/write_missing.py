"""The remaining work of a run: the missing shards, or none if the dataset is up to date."""

from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from packer.plan.work import RunGuard, Work, refuse_full_disk, shard_job, tars
from packer.progress import Progress
from packer.run.destination import Destination
from packer.run.refusals import all_rejected, refusal
from packer.shards.executors import run_in
from packer.shards.jobs import Unfinished, modules_for, run_jobs
from packer.shards.shard_writer import Written, remove_shard
from packer.storage.dataset import Finished

_LOOKED_AT = 1000  # names, for whether there are JPEGs among them


@dataclass(frozen=True)
class Held:
    work: Work
    numbers: Sequence[int] = ()  # of the shards to write
    guard: RunGuard | None = None
    engine: Executor | None = None  # None: processes of this machine
    is_refused: bool = False  # it cannot be committed: files were rejected
    committed: Finished | None = None  # the dataset that is there, if nothing is to be added


def write_missing(
    held: Held, to: Destination, jobs: int, skips: bool, progress: Progress
) -> tuple[Written, int]:
    """Write those of the held shards that are missing; return all of them, and how many they were.

    `skips`: without the files that are rejected. Of work that is refused no shard goes into a
    store, as the mended source may make it another one.
    """
    work, written, unread = held.work, Written(), Unfinished()
    if not held.numbers:
        return written, 0
    paths = tars(work, to.folder)
    finished = to.finished([paths[number] for number in held.numbers])
    missing = [number for number in held.numbers if paths[number] not in finished]
    processes = min(jobs, max(len(missing), 1))
    refuse_full_disk(work, to.folder, to.at_a_time(missing, processes))
    for folder in {path.parent for path in paths}:
        folder.mkdir(exist_ok=True)

    def take(shard: Written) -> None:
        written.add(shard)
        if not held.is_refused and (skips or not shard.rejected):  # else it is to be mended
            to.take(shard)

    for number in sorted({*held.numbers}.difference(missing)):
        take(Written.of(paths[number], work.plan.splits[number]))
    total, todo = (sum(len(work.plan.shard(n)) for n in some) for some in (held.numbers, missing))
    # The shards of the last round share the processes that have none.
    last = len(missing) % jobs if held.engine is None else 0
    threads = [1] * (len(missing) - last) + [-(-jobs // max(last, 1))] * last
    every = max(todo // _LOOKED_AT, 1)
    looked_at = (n for number in missing for n in work.plan.shard(number)[::every])
    load = modules_for(work.policy, (work.scanned.listing[n].name for n in looked_at), progress)
    with progress.phase("pack", total, "samples", total - todo) as advance:
        tasks = (
            shard_job(work, paths[n], work.plan.shard(n), several, not skips, held.guard)
            for n, several in zip(missing, threads, strict=True)
        )
        if held.engine is None:
            outcomes = run_jobs(tasks, processes, advance, load)
        else:
            outcomes = run_in(held.engine, tasks, jobs, advance)
        for outcome in outcomes:
            if isinstance(outcome, Unfinished):
                unread += outcome
            else:
                take(outcome)
                for file in outcome.entries if held.is_refused and not to.holds_all else ():
                    remove_shard(to.folder / file)
    to.wait(progress)
    rejected = sorted(all_rejected(work, written) + unread)
    if unread or (rejected and not skips):
        raise refusal(work, rejected, written=to.holds_all or not held.is_refused)
    return written, len(missing)
