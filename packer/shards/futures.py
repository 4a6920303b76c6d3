"""Packs shards by an executor of `concurrent.futures`: processes, dask, MPI, Ray.

Guarantees: a few jobs a worker are under way at a time, whatever their number; what the engine
loses, or refuses, becomes a `ProcessDied` that names the shard; when the work is given up, what has
not begun is cancelled, and what has can finish its shard only while its run is not over.

Assumptions: all machines see source and destination under the same paths; the executor does a job
again by itself, or gives it back as failed.
"""

import logging
import pickle
import platform
import traceback
from collections.abc import Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from itertools import islice

from packer import __version__
from packer.errors import AGAIN, PackingFailed, ProcessDied, said
from packer.plan.work import ShardJob
from packer.processes import raise_again
from packer.progress import Advance
from packer.shards.jobs import Outcome, pack_shard
from reader.format import ShardfeedError

STALL_SECONDS = 300.0  # without a finished shard, after which a person is told

_A_WORKER = 2  # jobs: one that it does, and one that it finds when that is done
_log = logging.getLogger("packer")  # its warnings go to stderr as they are

_Answer = tuple[Outcome | None, Exception | None, str]  # the error comes with its machine or trace


def run_in(
    executor: Executor, jobs: Iterable[ShardJob], least: int, advance: Advance
) -> Generator[Outcome, None, None]:
    """Pack all `jobs` by `executor`; yield what became of each as it is finished.

    Args:
        executor: where; it is not shut down.
        jobs: are taken as they are needed.
        least: workers, where the executor does not say how many it has.
        advance: is called with the samples of each shard as it is finished.
    """
    under_way: dict[Future[_Answer], ShardJob] = {}
    left = iter(jobs)
    try:
        while True:
            room = _A_WORKER * max(_workers(executor), least) - len(under_way)
            for job in islice(left, max(room, 0)):
                under_way[_submitted(executor, job)] = job
            if not under_way:
                return
            done, _ = wait(under_way, STALL_SECONDS, FIRST_COMPLETED)
            if not done:
                _log.warning(
                    "packer: of %d shards given to the executor none was finished in the last "
                    "%.0f s. Are its workers at work? To give up, press Ctrl-C; packing again "
                    "goes on.",
                    *(len(under_way), STALL_SECONDS),
                )
            for future in done:
                job = under_way.pop(future)
                outcome = _outcome(future, job)
                advance(len(job.samples))
                yield outcome
    finally:
        for future in under_way:
            future.cancel()


def _workers(executor: Executor) -> int:
    """How many jobs the executor does at a time, by whichever name it tells; 0 if by none."""
    try:
        client = getattr(executor, "_client", None)  # of dask, whose workers come and go
        if client is not None:
            return sum(client.nthreads().values())
        told = (getattr(executor, name, 0) for name in ("workers", "num_workers", "_max_workers"))
        return next((number for number in told if isinstance(number, int) and number), 0)
    except Exception as error:
        raise ProcessDied(f"The executor does not answer: {_told(error)}. {AGAIN}") from error


def _submitted(executor: Executor, job: ShardJob) -> "Future[_Answer]":
    try:
        return executor.submit(work_elsewhere, __version__, pickle.dumps(job))
    except Exception as error:
        raise ProcessDied(f"The executor takes no more work: {_told(error)}. {AGAIN}") from error


def _outcome(future: "Future[_Answer]", job: ShardJob) -> Outcome:
    try:
        outcome, failure, told = future.result()
    except Exception as error:
        raise ProcessDied(
            f"{job.path}: the executor has not finished it: {_told(error)}. {AGAIN}"
        ) from error
    if isinstance(failure, ShardfeedError):
        raise PackingFailed(f"On {told}: {failure}") from failure
    if failure is not None:
        raise_again(failure, str(job.path), told)
    assert outcome is not None
    return outcome


def _told(error: Exception) -> str:
    name, text = type(error).__name__, said(error).rstrip(".")
    return name if text == name else f"{name}, {text}"


def work_elsewhere(version: str, message: bytes) -> _Answer:
    """Do a job in a process of an executor, if that has the packer of this version."""
    host = platform.node()
    try:
        if version != __version__:
            raise PackingFailed(
                f"its packer is of version {__version__}, and the run was begun with {version}. "
                "Install the same one there."
            )
        job: ShardJob = pickle.loads(message)
        if job.origin is not None and not job.origin.path.exists():
            raise PackingFailed(
                f"{job.origin.path} is not there. Source and destination must lie under the same "
                "paths on a file system that all machines share."
            )
        return pack_shard(job, lambda: None), None, ""
    except ShardfeedError as error:
        return None, error, host
    except Exception as error:
        return None, error, traceback.format_exc()
