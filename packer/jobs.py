"""Packs shards in parallel processes.

Purpose: turn `ShardJob`s into finished shards on several cores.

Guarantees: a shard's bytes do not depend on the number of processes; when the parent dies, however
it dies, its packing processes end at once; a process that dies becomes a `PackingFailed`.

Assumptions: a job is a pure function of its fields and the source; no two jobs name one shard.
"""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from ctypes import c_uint64
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from packer.errors import BadImage, PackingFailed
from packer.images import probe
from packer.shard_writer import ShardWriter
from packer.sources import Source, SourceSample

_POLL_SECONDS = 0.2  # how often progress is looked at


@dataclass(frozen=True)
class ShardJob:
    """One shard to be written: `path` is its tar."""

    path: Path
    source: Source
    samples: list[SourceSample]


def pack_shard(job: ShardJob, tick: Callable[[], None]) -> None:
    """Write the shard of `job`; `tick` is called after each sample.

    Raises:
        PackingFailed: the shard cannot be written.
    """
    rejected = []
    try:
        with ShardWriter(job.path) as writer:
            for sample in job.samples:
                try:
                    data = job.source.read(sample)
                    writer.add(sample, probe(data), data)
                except BadImage as error:
                    rejected.append((sample.name, str(error)))
                tick()
            writer.finish(rejected)
    except OSError as error:
        raise PackingFailed(
            f"{job.path} cannot be written: {error.strerror}. Finished shards are kept: "
            "once the cause is gone, run the same command again to go on."
        ) from error


def run_jobs(jobs: Iterable[ShardJob], processes: int, advance: Callable[[int], None]) -> None:
    """Pack all `jobs`; `advance` is told now and then how many samples more are done.

    Raises:
        PackingFailed: a shard cannot be written, or a packing process died.
    """
    if processes == 1:
        for job in jobs:
            pack_shard(job, lambda: advance(1))
        return
    context = multiprocessing.get_context("spawn")
    counters = context.RawArray(c_uint64, processes)
    slots = context.SimpleQueue()
    for slot in range(processes):
        slots.put(slot)
    lifeline, parent_end = context.Pipe(duplex=False)
    pool = ProcessPoolExecutor(
        processes, context, initializer=_start_process, initargs=(lifeline, counters, slots)
    )
    try:
        done = 0
        for _ in _in_window(pool, iter(jobs), 2 * processes):
            total = sum(counters)
            advance(total - done)
            done = total
    except BrokenProcessPool as error:
        raise PackingFailed(
            "A packing process died (killed, or out of memory). Finished shards are kept: "
            "run the same command again to go on, with a smaller --jobs if memory was short."
        ) from error
    finally:
        parent_end.close()  # ends the processes, whatever they are at
        pool.shutdown(wait=True, cancel_futures=True)


def _in_window(pool: ProcessPoolExecutor, jobs: Iterator[ShardJob], window: int) -> Iterator[None]:
    """Keep `window` jobs submitted, so that ten million samples are never pickled at once."""
    running: set[Future[None]] = {pool.submit(_run, job) for job in islice(jobs, window)}
    while running:
        finished, running = wait(running, _POLL_SECONDS, FIRST_COMPLETED)
        for future in finished:
            future.result()
        running.update(pool.submit(_run, job) for job in islice(jobs, len(finished)))
        yield


class _Process:
    """What a packing process knows of itself."""

    counters: Any
    slot: int


def _start_process(lifeline: Connection, counters: Any, slots: Any) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent decides
    _Process.counters = counters
    _Process.slot = slots.get()
    threading.Thread(target=_die_with_parent, args=(lifeline,), daemon=True).start()


def _die_with_parent(lifeline: Connection) -> None:
    lifeline.poll(None)
    os._exit(1)


def _run(job: ShardJob) -> None:
    def tick() -> None:
        _Process.counters[_Process.slot] += 1

    pack_shard(job, tick)
