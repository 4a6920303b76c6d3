"""Packs shards in parallel processes.

Guarantees: a shard's bytes do not depend on the number of processes; beside that those of
`packer.processes`.

Assumptions: a job is a pure function of its fields and the source; no two jobs name one shard.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

from packer.errors import BadImage, Unreadable, cannot_write
from packer.images import tiling
from packer.images.encode import Policy, no_image
from packer.images.tiling import compiling
from packer.plan.work import ShardJob
from packer.processes import map_unordered
from packer.progress import Advance, Progress
from packer.samples.records import Sample
from packer.shards.builder import Rejections, ShardBuilder
from packer.shards.shard_writer import ShardWriter, Written
from reader.format import FORMATS

_NO_JPEG = {*FORMATS, "tif", "pgm", "pbm", "pnm"}.difference({"jpg"})  # extensions


class Unfinished(Rejections):
    """The rejected files for which a shard is left unfinished."""


Outcome = Written | Unfinished


def pack_shard(job: ShardJob, advance: Advance) -> Outcome:
    rejected: Rejections = []
    is_whole = True

    def reject(sample: Sample, error: BadImage) -> None:
        nonlocal is_whole
        if isinstance(error, Unreadable) or not sample.mtime_ns:
            is_whole = False
            if job.origin is not None:
                job.origin.check()
        rejected.append((sample.name, error.message))
        rejected.extend(
            (file, f"it belongs to {sample.name}, which is rejected")
            for file in job.files.member_files(sample)
        )
        if not job.has_images:  # whose rows are those of another dataset
            writer.add(sample, no_image())

    if job.guard is not None:
        job.guard.check_versions(job.policy)
        job.guard.check()
    threads = job.threads if job.threads > 1 else 0
    try:
        with (
            ShardWriter(job.path, job.has_images) as writer,
            ShardBuilder(job.policy, threads, lambda *_: writer, reject) as builder,
        ):
            for sample in job.samples:
                builder.add(sample, partial(job.files.read, sample))
                advance(1)
            builder.drain()
            if job.needs_all and not is_whole:
                return Unfinished(rejected)
            if job.guard is not None:
                job.guard.check()
            writer.finish(rejected)
    except OSError as error:
        raise cannot_write(job.path, error) from error
    return Written.of(job.path, job.samples[0].split if len(job.samples) else "")


def modules_for(policy: Policy, names: Iterable[str], progress: Progress) -> tuple[str, ...]:
    """Return modules that processes load once, if a file among `names` may be a JPEG to tile.

    If that is not compiled yet, a note explains why the first JPEGs take seconds.
    """
    if not policy.tiled or policy.raw is not None or not tiling.is_available():
        return ()
    extensions = (name.lower().rpartition(".")[2] for name in names)
    if not policy.makes_jpegs and all(ext in _NO_JPEG for ext in extensions):
        return ()
    if not compiling.is_complete():
        progress.note(
            "Compiling the code that tiles JPEGs, once on this machine: the first JPEG takes "
            "about ten seconds."
        )
    return ("packer.images.tiling.transcode",)


def run_jobs(
    jobs: Iterable[ShardJob], processes: int, advance: Advance, load: Sequence[str] = ()
) -> Iterator[Outcome]:
    waits = compiling.is_under_way  # which takes minutes beside other work
    return map_unordered(pack_shard, jobs, processes, advance, str, load=load, excused=waits)


def single(job: ShardJob) -> Iterator[ShardJob]:
    """Yield a job for each sample, where one may crash the process."""
    for number in range(len(job.samples)):
        path = job.path.with_name(f"single-{number}.tar")
        yield replace(job, path=path, samples=job.samples.take([number]), threads=1)
