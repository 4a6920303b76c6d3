"""Packs shards in parallel processes.

Purpose: turn `ShardJob`s into finished shards on several cores.

Guarantees: a shard's bytes do not depend on the number of processes; beside that those of
`packer.processes`.

Assumptions: a job is a pure function of its fields and the source; no two jobs name one shard.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from packer.encode import Encoded, Policy, encode
from packer.errors import BadImage, PackingFailed, ProcessDied, cannot_write
from packer.listing import Listing
from packer.processes import map_unordered
from packer.shard_writer import ShardWriter
from packer.sources import Source, SourceSample


@dataclass(frozen=True)
class ShardJob:
    """One shard to be written.

    Attributes:
        path: of its tar.
        threads: that encode at a time; a process that packs alone needs several, because jpegtran
            is a process of its own.
    """

    path: Path
    source: Source
    samples: Listing
    policy: Policy
    threads: int = 1


def pack_shard(job: ShardJob, tick: Callable[[], None]) -> None:
    """Write the shard of `job`; `tick` is called after each sample.

    Raises:
        PackingFailed: the shard cannot be written.
    """
    rejected = []
    try:
        with ShardWriter(job.path) as writer:
            for sample, result in _encoded(job):
                if isinstance(result, BadImage):
                    rejected.append((sample.name, str(result)))
                    rejected += [
                        (file, f"it belongs to {sample.name}, which is rejected")
                        for file in job.source.member_files(sample)
                    ]
                else:
                    writer.add(sample, *result)
                tick()
            writer.finish(rejected)
    except OSError as error:
        raise cannot_write(job.path, error) from error


_Result = tuple[Encoded, Mapping[str, bytes]] | BadImage


def _encoded(job: ShardJob) -> Iterator[tuple[SourceSample, _Result]]:
    """Each sample with what is to be stored for it, in order, some encoded ahead by threads."""

    def encode_one(sample: SourceSample) -> _Result:
        try:
            content = job.source.read(sample)
            encoded = encode(content.image, job.policy)
            if encoded.info.format in content.members:
                raise BadImage(f"another member of its sample is a .{encoded.info.format}, too")
            return encoded, content.members
        except BadImage as error:
            return error

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


def run_jobs(jobs: Iterable[ShardJob], processes: int, advance: Callable[[int], None]) -> None:
    """Pack all `jobs`; `advance` is told now and then how many samples more are done.

    Raises:
        PackingFailed: a shard cannot be written, or a packing process died.
    """
    try:
        for _ in map_unordered(_pack, jobs, processes, advance):
            pass
    except ProcessDied as error:
        raise PackingFailed(
            "A packing process died (killed, or out of memory). Finished shards are kept: "
            "run the same command again to go on, with a smaller --jobs if memory was short."
        ) from error


def _pack(job: ShardJob, advance: Callable[[int], None]) -> None:
    pack_shard(job, lambda: advance(1))
