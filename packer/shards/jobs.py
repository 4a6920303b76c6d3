"""Packs shards in parallel processes.

Purpose: turn `ShardJob`s into finished shards on several cores.

Guarantees: a shard's bytes do not depend on the number of processes; beside that those of
`packer.processes`.

Assumptions: a job is a pure function of its fields and the source; no two jobs name one shard.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

from packer.errors import AGAIN, BadImage, PackingFailed, Unreadable, cannot_write
from packer.images import tiling
from packer.images.encode import Encoded, Policy, encode
from packer.images.jpegtran import JpegtranFailed
from packer.images.members import EncodedMember, encode_member
from packer.plan.work import ShardJob
from packer.processes import map_unordered
from packer.progress import Advance, Progress
from packer.shards.shard_writer import ShardWriter
from packer.shards.written import Written
from packer.sources.records import Content, Source, SourceSample
from reader.format import FORMATS, ShardfeedError

_NO_JPEG = {*FORMATS, "tif", "pgm", "pbm", "pnm"}.difference({"jpg"})  # extensions

Rejections = list[tuple[str, str]]


class Unfinished(Rejections):
    """What was rejected, where a shard is left unfinished for it."""


Outcome = Written | Unfinished


def pack_shard(job: ShardJob, tick: Callable[[], None]) -> Outcome:
    """Write the shard of `job`; `tick` is called after each sample.

    Returns:
        What lies in the shard, or was rejected so that there is none.

    Raises:
        PackingFailed: the shard cannot be written, or the source is gone.
    """
    rejected: Rejections = []
    is_whole = True
    if job.mandate is not None:
        job.mandate.check_versions(job.policy)
        job.mandate.check()
    try:
        with ShardWriter(job.path) as writer:
            for sample, result in _encoded(job):
                if isinstance(result, BadImage):
                    if isinstance(result, Unreadable) or not sample.mtime_ns:
                        is_whole = False
                        if job.origin is not None:
                            job.origin.check()
                    rejected.append((sample.name, str(result)))
                    rejected += [
                        (file, f"it belongs to {sample.name}, which is rejected")
                        for file in job.source.member_files(sample)
                    ]
                else:
                    writer.add(*result)
                tick()
            if job.needs_all and not is_whole:
                return Unfinished(rejected)
            if job.mandate is not None:
                job.mandate.check()
            writer.finish(rejected)
    except OSError as error:
        raise cannot_write(job.path, error) from error
    return Written.of(job.path, job.samples[0].split if len(job.samples) else "")


_Result = tuple[SourceSample, Encoded, Mapping[str, EncodedMember]] | BadImage


def _encoded(job: ShardJob) -> Iterator[tuple[SourceSample, _Result]]:
    """Each sample with what is to be stored for it, in order, some encoded ahead by threads."""

    def encode_one(sample: SourceSample) -> _Result:
        try:
            content = job.source.read(sample)
            return content.sample or sample, *encode_content(content, job.policy)
        except BadImage as error:
            return error
        except JpegtranFailed as error:
            raise PackingFailed(f"{job.path}: {sample.name}: {error}. {AGAIN}") from error

    if job.threads == 1:
        yield from ((sample, encode_one(sample)) for sample in job.samples)
        return
    with ThreadPoolExecutor(job.threads) as pool:
        ahead: deque[tuple[SourceSample, Future[_Result]]] = deque()
        try:
            for sample in job.samples:
                ahead.append((sample, pool.submit(encode_one, sample)))
                if len(ahead) > 2 * job.threads:
                    first, result = ahead.popleft()
                    yield first, result.result()
            for first, result in ahead:
                yield first, result.result()
        finally:
            pool.shutdown(cancel_futures=True)


def encode_content(content: Content, policy: Policy) -> tuple[Encoded, Mapping[str, EncodedMember]]:
    """What is stored for a sample's image, and for its members.

    Raises:
        BadImage: it is not a sound image, or a member is not what it should be.
    """
    encoded = encode(content.image, policy)
    if (size := sum(map(len, content.members.values()))) > (most := policy.limits.bytes):
        raise BadImage(f"its members have {size} bytes; {most} are the most (--max-bytes)")
    if encoded.info.format in content.members:
        raise BadImage(f"another member of its sample is a .{encoded.info.format}, too")
    members = {
        ext: encode_member(ext, data, encoded.info, policy) for ext, data in content.members.items()
    }
    return encoded, members


def tell_of_compiling(policy: Policy, names: Iterable[str], progress: Progress) -> None:
    """Say why the first JPEGs take seconds, where a file among `names` may be one."""
    if not policy.tiled or policy.raw is not None:
        return
    if not tiling.is_available() or tiling.is_compiled():
        return
    if policy.quality or any(name.lower().rpartition(".")[2] not in _NO_JPEG for name in names):
        progress.note(
            "Compiling what tiles JPEGs: once on this machine, with the first of them, for about "
            "ten seconds."
        )


def run_jobs(
    jobs: Iterable[ShardJob],
    processes: int,
    advance: Advance,
    died: Callable[[ShardJob, str], Outcome] | None = None,
) -> Iterator[Outcome]:
    """Pack all `jobs` in processes of this machine; yields what became of each as it is finished.

    Args:
        jobs: see above.
        processes: how many.
        advance: is told now and then how many samples more are done.
        died: as that of `map_unordered`.

    Raises:
        PackingFailed: a shard cannot be written, or the source is gone.
        ProcessDied: a process was killed, or there was no memory for it.
    """
    return map_unordered(_pack, jobs, processes, advance, lambda job: str(job.path), died)


def _pack(job: ShardJob, advance: Advance) -> Outcome:
    return pack_shard(job, lambda: advance(1))


_Task = tuple[Source, SourceSample, Policy]
_Fatal = tuple[SourceSample, str]


def fatal_samples(job: ShardJob) -> list[_Fatal]:
    """The samples at which a fault ends the process that encodes them, and which fault."""
    tasks = ((job.source, sample, job.policy) for sample in job.samples)
    found = map_unordered(
        _encode_alone, tasks, 1, lambda count: None, lambda task: task[1].name, _fatal
    )
    return [fatal for fatal in found if fatal is not None]


def _encode_alone(task: _Task, advance: Advance) -> _Fatal | None:
    source, sample, policy = task
    with suppress(ShardfeedError):
        encode(source.read(sample).image, policy)
    return None


def _fatal(task: _Task, cause: str) -> _Fatal | None:
    return task[1], cause
