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
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import (
    FIRST_COMPLETED,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from ctypes import c_uint64
from dataclasses import dataclass
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from packer.encode import Encoded, Policy, encode
from packer.errors import BadImage, PackingFailed, cannot_write
from packer.listing import Listing
from packer.shard_writer import ShardWriter
from packer.sources import Source, SourceSample

_POLL_SECONDS = 0.2  # how often progress is looked at


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
                    stem = os.path.splitext(sample.name)[0]
                    rejected.append((sample.name, str(result)))
                    rejected += [
                        (f"{stem}.{ext}", f"it belongs to {sample.name}, which is rejected")
                        for ext in sample.members
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
            return encode(content.image, job.policy), content.members
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

    def submit(job: ShardJob) -> Future[None]:
        with _signals_held():  # this may start a process
            return pool.submit(_run, job)

    running = {submit(job) for job in islice(jobs, window)}
    while running:
        finished, running = wait(running, _POLL_SECONDS, FIRST_COMPLETED)
        for future in finished:
            future.result()
        running.update(submit(job) for job in islice(jobs, len(finished)))
        yield


@contextmanager
def _signals_held() -> Iterator[None]:
    """Keep SIGINT and SIGTERM until the end, and from processes that are started meanwhile.

    One that is half started would die with a traceback, and later on the parent decides.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    caught: list[int] = []
    numbers = (signal.SIGINT, signal.SIGTERM)
    handlers = [
        signal.signal(number, lambda number, _: caught.append(number)) for number in numbers
    ]
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})  # what a child inherits
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in zip(numbers, handlers, strict=True):
            signal.signal(number, handler)
        if caught:
            signal.raise_signal(caught[0])


class _Process:
    """What a packing process knows of itself."""

    counters: Any
    slot: int


def _start_process(lifeline: Connection, counters: Any, slots: Any) -> None:
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
